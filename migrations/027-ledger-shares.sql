-- How many concurrent ledger calls each process may make under LEDGER_CONCURRENCY_TOTAL.
create table loanops.ledger_share (
  process uuid primary key,
  live integer not null,
  bulk integer not null,
  live_wanted integer not null,
  bulk_wanted integer not null,
  live_most integer not null,
  bulk_most integer not null,
  leased_until timestamptz not null
);
