-- The caller whose token an operation came with, and the id of its request in our log and the caller's.
alter table loanops.operation add column caller text;
alter table loanops.operation add column request_id text;
alter table loanops.audit add column caller text;

-- Times in which no process begins a write at the ledger. Past ones stay: they do not count towards any deadline.
create table loanops.ledger_pause (
  id uuid primary key,
  reason text not null,
  since timestamptz not null default clock_timestamp(),
  -- Null until an end is set.
  until timestamptz
);
create index ledger_pause_until on loanops.ledger_pause (until);
