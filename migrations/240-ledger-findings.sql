-- What the last check of the ledger's set-up found: one row per check, and per lender where it is about one. No lender is ''.
create table loanops.ledger_finding (
  "check" text not null,
  lender text not null default '',
  place integer not null,
  state text not null check (state in ('ok', 'differs', 'breaks', 'unknown')),
  found text not null,
  expected text not null,
  remedy text,
  since timestamptz not null default clock_timestamp(),
  checked_at timestamptz not null,
  primary key ("check", lender)
);
