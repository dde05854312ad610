-- The gateways' own statements of their payments, fetched from their APIs or uploaded.
create table core.statement (
  gateway text not null,
  gateway_payment_id text not null,
  lender text not null,
  amount numeric not null,
  currency text not null,
  status text not null check (status in ('captured', 'refunded', 'failed')),
  captured_at timestamptz not null,
  -- The fee does not include its tax.
  fee numeric,
  tax numeric,
  settlement_id text,
  settled_at timestamptz,
  utr text,
  fetched_at timestamptz not null default now(),
  source text not null check (source in ('api', 'file')),
  -- The file that says it, where that was kept; null for what was fetched.
  statement_id uuid,
  -- Whether the file's row took the place of another.
  has_replaced boolean not null default false,
  -- The files that state a part of a settlement too, and whose row a later file took over.
  earlier_files uuid[] not null default '{}',
  -- The files that stated the fee, the tax or the settlement of a row that a fetch or another file has since taken over.
  settled_by uuid[] not null default '{}',
  primary key (gateway_payment_id, gateway)
);
create index statement_captured on core.statement (captured_at, gateway);
create index statement_settlement on core.statement (settlement_id, gateway) where settlement_id is not null;
create index statement_of_file on core.statement (statement_id) where statement_id is not null;
-- Settlements are looked up by their day, and by the bank's reference of the payout.
create index statement_settled on core.statement (settled_at) where settlement_id is not null;
create index statement_utr on core.statement (utr) where utr is not null and settlement_id is not null;
create index statement_settled_by on core.statement using gin (settled_by) where settled_by <> '{}';

-- The gateways' statement of each settlement: the payments that it pays out, and its deductions.
create table core.settlement_row (
  gateway text not null,
  settlement_id text not null,
  -- A 'payout' is what the gateway states as the sum that the settlement paid out, and none of its parts.
  kind text not null,
  id text not null,
  payment_id text,
  -- Whose credentials the row was fetched with, where the payment itself does not say.
  lender text,
  settled_at timestamptz,
  utr text,
  amount numeric not null,
  -- The fee does not include its tax.
  fee numeric not null,
  tax numeric not null,
  -- What the row adds to the payout, according to the gateway.
  paid_out numeric,
  -- The file that says it; null for what was fetched.
  statement_id uuid,
  -- As in core.statement.
  earlier_files uuid[] not null default '{}',
  primary key (settlement_id, gateway, kind, id)
);
-- "not valid", as in core.event.
alter table core.settlement_row
  add constraint settlement_row_kind_check check (kind in ('payment', 'refund', 'other', 'payout')) not valid;
create index settlement_row_settled on core.settlement_row (settled_at);
create index settlement_row_utr on core.settlement_row (utr) where utr is not null;
create index settlement_row_of_file on core.settlement_row (statement_id) where statement_id is not null;
-- Which settlement has a payment: each fetch looks this up for the payments that it lists.
create index settlement_row_of_payment on core.settlement_row (id, gateway) where kind = 'payment';

-- Parts of settlements whose rows went with a withdrawn file although those other files state them too.
create table core.lost_part (
  gateway text not null,
  settlement_id text not null,
  kind text not null,
  id text not null,
  lender text,
  settled_at timestamptz,
  utr text,
  files uuid[] not null,
  -- A later file stated the payment in another settlement: it is lost here only if no row of that file, or of a later one,
  -- counts any more.
  is_moved boolean not null default false,
  primary key (settlement_id, gateway, kind, id)
);
create index lost_part_settled on core.lost_part (settled_at);
create index lost_part_utr on core.lost_part (utr) where utr is not null;
create index lost_part_files on core.lost_part using gin (files);

-- The files in which gateways' own reports were uploaded, each with what it says in core.statement.
create table core.statement_file (
  id uuid primary key,
  gateway text not null,
  lender text not null,
  file_name text,
  rows bigint not null,
  valid_rows bigint not null,
  uploaded_by text not null,
  uploaded_at timestamptz not null default clock_timestamp(),
  withdrawn_by text,
  withdrawn_at timestamptz,
  -- Null for one whose upload was interrupted, or whose bytes were not kept track of yet.
  file_sha256 bytea,
  -- What the upload found, so that the file's page can show it: the first invalid rows, and the columns that were ignored.
  errors json,
  ignored_columns text[]
);
create index statement_file_gateway on core.statement_file (gateway, id);
create index statement_file_bytes on core.statement_file (file_sha256, id) where file_sha256 is not null;

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
  -- The lender that was asked for, whose rows the fetch produces.
  lender text,
  window_from timestamptz not null,
  window_to timestamptz not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed')),
  -- Where the fetch begins, earlier than its window if it also looks for late captures, and up to where it is complete.
  fetch_from timestamptz not null,
  done_until timestamptz not null,
  fetched bigint not null default 0,
  -- `fetched` without the part under way: a worker that takes it over counts that part again.
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

-- The events that no batch has taken yet, as a fetch has read them: each once, and not again for every page. A row without a
-- payment is of an event that reports none as captured.
create table core.backfill_pending (
  backfill_id uuid not null,
  source text not null,
  raw_id uuid not null,
  payment_id text,
  is_verified boolean not null
);
create index backfill_pending_event on core.backfill_pending (backfill_id, source, raw_id);
create index backfill_pending_payment on core.backfill_pending (backfill_id, payment_id) where payment_id is not null;

-- The times for which the statement is complete. A lender of null stands for all that have no credentials of their own.
create table core.gateway_window (
  gateway text not null,
  lender text,
  source text not null check (source in ('api', 'file')),
  covers tstzrange not null,
  completed_at timestamptz not null default now(),
  -- The file that says it; null for what was fetched.
  statement_id uuid,
  -- A part of the file's rows of these times was refused, or what it had replaced is gone.
  is_partial boolean not null default false
);
create index gateway_window_covers on core.gateway_window using gist (covers);
create index gateway_window_of_file on core.gateway_window (statement_id) where statement_id is not null;

-- How many captured payments of a lender were at its gateway but not here.
create table core.gateway_missed (
  gateway text not null,
  lender text not null,
  missed bigint not null,
  primary key (gateway, lender)
);

-- What the gateways list and cannot be read: set aside by the fetches that met it.
create table core.unreadable_item (
  gateway text not null,
  -- As in core.gateway_window.
  lender text,
  key text not null,
  -- The gateway's id of it, for people.
  id text,
  reason text not null,
  -- Captured money, as far as can be read: it is not in the statement of its days.
  is_payment boolean not null,
  times tstzrange not null,
  -- The last fetch that met it.
  backfill_id uuid not null,
  unique nulls not distinct (gateway, lender, key)
);
create index unreadable_item_backfill on core.unreadable_item (backfill_id);
create index unreadable_item_times on core.unreadable_item using gist (times) where is_payment;

-- One pass over the posted payments, each compared with its repayment at the ledger.
create table core.readback_run (
  id uuid primary key,
  trigger text not null check (trigger in ('schedule')),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'completed')),
  requested_at timestamptz not null default now(),
  -- The run concerns what was posted before it started.
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
