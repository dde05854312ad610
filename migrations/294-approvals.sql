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
create unique index approval_open on loanops.approval (act, subject) where state = 'proposed';

-- Who approved a decision about many, for the audit of each.
alter table loanops.bulk add column approval jsonb;
