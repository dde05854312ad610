-- The gateways' own statements of their payments, fetched from their APIs or uploaded.
create table core.statement (
  gateway text not null,
  gateway_payment_id text not null,
  lender text not null,
  amount numeric not null,
  currency text not null,
  status text not null check (status in ('captured', 'refunded', 'failed')),
  captured_at timestamptz not null,
  -- Without tax.
  fee numeric,
  tax numeric,
  settlement_id text,
  settled_at timestamptz,
  utr text,
  fetched_at timestamptz not null default now(),
  source text not null check (source in ('api', 'file')),
  primary key (gateway_payment_id, gateway)
);
create index statement_captured on core.statement (captured_at, gateway);
create index statement_settlement on core.statement (settlement_id, gateway) where settlement_id is not null;

-- Whose credentials the gateways are asked with: one lender's own, or, where account is '', the gateway's, which serve all
-- other lenders. Written by each worker that starts.
create table core.gateway_account (
  gateway text not null,
  account text not null,
  primary key (gateway, account)
);

-- One fetch of a window from one account, on schedule or on demand. A second one of the same account waits for the first.
create table core.backfill (
  id uuid primary key,
  trigger text not null check (trigger in ('schedule', 'request')),
  gateway text not null,
  account text not null,
  -- As requested: the lender whose rows it produces.
  lender text,
  window_from timestamptz not null,
  window_to timestamptz not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed')),
  -- Fetched from here, earlier than its window if it also looks for late captures, and complete up to there.
  fetch_from timestamptz not null,
  done_until timestamptz not null,
  fetched bigint not null default 0,
  -- The same without the part under way: a worker that takes it over counts that part again.
  fetched_before bigint not null default 0,
  missed bigint not null default 0,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  last_error text,
  -- Counts the workers that have claimed it, and so fences their writes.
  attempt integer not null default 0,
  claimed_until timestamptz,
  check (window_from <= window_to)
);
create unique index backfill_one_scheduled on core.backfill (gateway, account) where trigger = 'schedule' and status = 'running';
create index backfill_running on core.backfill (gateway, account, id) where status = 'running';
create index backfill_scheduled on core.backfill (gateway, account, window_to) where trigger = 'schedule' and status = 'completed';
create index backfill_account on core.backfill (gateway, account, id);

-- The times for which the statement is complete. A lender of null stands for all that have no credentials of their own.
create table core.gateway_window (
  gateway text not null,
  lender text,
  source text not null check (source in ('api', 'file')),
  covers tstzrange not null,
  completed_at timestamptz not null default now()
);
create index gateway_window_covers on core.gateway_window using gist (covers);

-- How many captured payments of a lender were at its gateway but not here.
create table core.gateway_missed (
  gateway text not null,
  lender text not null,
  missed bigint not null,
  primary key (gateway, lender)
);
