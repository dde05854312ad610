-- One decision about all operations or payments that matched a filter, made one by one.
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
  -- Until when its worker holds it; another takes over afterwards.
  claimed_until timestamptz not null default now()
);
create index bulk_running on loanops.bulk (claimed_until) where status = 'running';

-- Which rows matched when it was confirmed, and what became of each.
create table loanops.bulk_item (
  bulk_id uuid not null references loanops.bulk,
  number integer not null,
  item jsonb not null,
  outcome text check (outcome in ('done', 'refused')),
  reason text,
  primary key (bulk_id, number)
);
create index bulk_item_left on loanops.bulk_item (bulk_id, number) where outcome is null;
