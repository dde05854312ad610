-- One pass over the posted payments, each compared with its repayment at the ledger.
create table core.readback_run (
  id uuid primary key,
  trigger text not null check (trigger in ('schedule')),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'completed')),
  requested_at timestamptz not null default now(),
  -- It concerns what was posted before it started.
  started_at timestamptz,
  ended_at timestamptz,
  -- Counts the workers that have claimed it, and so fences their writes.
  attempt integer not null default 0,
  claimed_until timestamptz,
  -- The last payment, in the order of posting, before which there is nothing left to read.
  read_to_posted_at timestamptz,
  read_to_id uuid,
  loans bigint not null default 0,
  payments bigint not null default 0,
  reversed bigint not null default 0,
  missing bigint not null default 0,
  differing bigint not null default 0,
  failed bigint not null default 0,
  last_error text
);
create unique index readback_run_one_running on core.readback_run (status) where status = 'running';
create unique index readback_run_one_waiting on core.readback_run (status) where status = 'waiting';

-- A run begins with the payments of some weeks ago, however many were posted before.
create index transaction_posted on core.transaction (posted_at, id) where state = 'posted';
