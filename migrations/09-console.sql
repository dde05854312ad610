-- What became of a form of the console that was sent, so that its second arrival shows the same.
create table loanops.sent_form (
  -- The hash of the account, the form's token, its action and its values.
  sha256 bytea primary key,
  sent_at timestamptz not null default now(),
  -- Where the first arrival led. Null while it is under way, and for ever if its process died there.
  location text
);
comment on table loanops.sent_form is 'Forms of the console that were sent within a day, and where each led.';

-- One decision about all operations or payments that matched a filter, made one by one. Each row of it is held by a lock while it
-- is decided, so nobody needs a claim on the whole.
create table loanops.bulk (
  id uuid primary key,
  -- What is decided, about what kind of rows, with what input.
  decision text not null,
  filter jsonb not null,
  note text,
  actor text not null,
  address inet,
  request_id text,
  status text not null default 'running' check (status in ('running', 'stopped', 'completed')),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  -- Who approved it, for the audit of each row.
  approval jsonb
);
create index bulk_running on loanops.bulk (id) where status = 'running';

-- Which rows matched when it was confirmed, and what became of each.
create table loanops.bulk_item (
  bulk_id uuid not null references loanops.bulk,
  number integer not null,
  item jsonb not null,
  outcome text check (outcome in ('done', 'refused')),
  reason text,
  primary key (bulk_id, number)
);
-- As for the rows of a portfolio.
alter table loanops.bulk_item alter column outcome set statistics 0;
create index bulk_item_left on loanops.bulk_item (bulk_id, number) where outcome is null;

-- What somebody asked for and a second person must approve. No row holds a password.
create table loanops.approval (
  id uuid primary key,
  -- The call that does it, by its name in the code.
  call text not null,
  act text not null,
  subject text not null,
  amount numeric,
  currency text,
  request jsonb not null,
  -- What the request was about, and the hash of all that must still be so when it is approved.
  facts jsonb not null,
  fingerprint bytea not null,
  -- An open one whose time is over, or whose proposer may no longer propose it, is shown as ended by ops.approval.
  state text not null default 'proposed'
    check (state in ('proposed', 'approved', 'rejected', 'withdrawn', 'expired', 'stale')),
  proposed_by text not null,
  caller text,
  address inet,
  request_id text,
  proposed_at timestamptz not null default now(),
  note text,
  decided_by text,
  decided_at timestamptz,
  decision_note text,
  expires_at timestamptz not null
);
-- A payment and a refund of one gateway may have the same id: a proposal about one must not keep the other's out.
create unique index approval_open on loanops.approval (act, subject, coalesce(facts ->> 'kind', '')) where state = 'proposed';
