create schema raw;
comment on schema raw is 'Payment events exactly as they came: one append-only table per lender and gateway';
create schema base;
comment on schema base is 'Views that name and type the fields of one raw table each';
create schema core;
comment on schema core is 'One row per real-world payment, whatever its source';

-- A UUIDv7; PostgreSQL has its own function only from version 18.
create function raw.new_id() returns uuid language sql volatile parallel safe
  set search_path = pg_catalog, pg_temp as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
         52, 1), 53, 1), 'hex')::uuid
$$;

-- The template of every raw table. It stays empty.
create table raw.template (
  id uuid primary key default raw.new_id(),
  received_at timestamptz not null default now(),
  event_id text,
  event_type text,
  body bytea not null,
  body_sha256 bytea not null generated always as (sha256(body)) stored,
  headers jsonb not null default '{}',
  address inet,
  -- The lender whose secret matches the signature; null if none does.
  verified_by text
);
-- An event id alone could be taken by a forger before the true event comes. Hashed, because an index entry has room for
-- 2,700 bytes only and a header for more.
create unique index template_repeat on raw.template (body_sha256, md5(coalesce(event_id, '')));
comment on table raw.template is 'The pattern of every raw table: create table raw.<lender>_<gateway> (like raw.template including all)';

-- What an event says about one payment, refund or chargeback: the row type of every base view.
create type base.fact as (
  kind text,
  payment_id text,
  of_payment_id text,
  status text,
  amount numeric,
  currency text,
  paid_at timestamptz,
  external_loan_id text,
  problem text,
  hints jsonb
);

-- A raw table that discovery has registered.
create table core.source (
  name text primary key,
  lender text not null,
  gateway text not null,
  registered_at timestamptz not null default now(),
  -- Events taken out of it so far: counting ten million rows for each look would be slow.
  events bigint not null default 0,
  last_event_at timestamptz
);

-- Raw rows that no batch has taken yet, written in the transaction that wrote them: however late one commits, it is here.
create table core.pending_event (
  source text not null,
  raw_id uuid not null,
  received_at timestamptz not null,
  primary key (source, raw_id)
);
-- Every batch empties it: a table that keeps growing and shrinking needs early vacuuming.
alter table core.pending_event set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

-- What one raw row says about one payment, refund or chargeback.
create table core.event (
  source text not null,
  raw_id uuid not null,
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  of_payment_id text,
  status text not null check (status in ('captured', 'failed', 'open', 'done', 'undone', 'never_captured')),
  amount numeric,
  currency text,
  paid_at timestamptz,
  external_loan_id text,
  problem text check (problem in ('unreadable', 'amount_invalid')),
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamptz not null,
  hints jsonb,
  primary key (source, raw_id, kind, gateway_payment_id)
);
create index event_payment on core.event (gateway_payment_id, gateway);

create table core.transaction (
  id uuid primary key default raw.new_id(),
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  of_payment_id text,
  lender text not null,
  -- As the events say, and as an operator says, who takes precedence.
  named_loan_id text,
  assigned_loan_id text,
  external_loan_id text generated always as (coalesce(assigned_loan_id, named_loan_id)) stored,
  amount numeric,
  currency text,
  paid_at timestamptz,
  is_captured boolean not null,
  is_verified boolean not null,
  state text not null check (state in ('waiting', 'posting', 'posted', 'suspense', 'failed', 'returned')),
  reason text check (reason in ('no_loan_named', 'loan_unknown', 'loan_not_active', 'currency_mismatch',
    'lender_mismatch', 'signature_not_verified', 'sender_not_allowed', 'events_disagree', 'refund', 'chargeback',
    'amount_invalid', 'unreadable', 'ledger_refused', 'reversed_at_ledger', 'overpaid')),
  -- The event that supplied its facts.
  source text not null,
  raw_id uuid not null,
  received_at timestamptz not null,
  hints jsonb,
  -- Why the last attempt did not post it; since when, how often it was tried, and when the next attempt is due.
  refused_reason text,
  refused_detail text,
  refused_at timestamptz,
  tries integer not null default 0,
  next_try_at timestamptz,
  -- Reasons of suspense that an operator has set aside.
  overruled text[] not null default '{}',
  -- A repayment that was undone keeps its external id at the ledger, so the next one needs another.
  posting_number integer not null default 1,
  operation_id uuid,
  batch_id uuid,
  ledger_transaction_id bigint,
  posted_at timestamptz,
  check ((state = 'suspense') <= (reason is not null)),
  check ((state = 'posted') = (posted_at is not null))
) with (fillfactor = 85);
create unique index transaction_payment on core.transaction (gateway_payment_id, gateway, kind);
create index transaction_of_payment on core.transaction (of_payment_id, gateway) where kind <> 'payment';
create index transaction_loan on core.transaction (external_loan_id, id) where external_loan_id is not null;
create index transaction_waiting on core.transaction (paid_at, id) where state = 'waiting';
create index transaction_retry on core.transaction (next_try_at) where state = 'suspense' and next_try_at is not null;
create index transaction_state on core.transaction (state, id);
create index transaction_batch on core.transaction (batch_id, state) where batch_id is not null;

-- The operations by which a payment was sent to the ledger, the latest included.
create table core.posting (
  transaction_id uuid not null references core.transaction,
  operation_id uuid not null,
  primary key (transaction_id, operation_id)
);

-- One pass of raw → base → core → ledger.
create table core.batch_run (
  id uuid primary key,
  trigger text not null check (trigger in ('schedule', 'request')),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'completed')),
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Counts the workers that have claimed it, and so fences their writes.
  attempt integer not null default 0,
  claimed_until timestamptz,
  discovered integer not null default 0,
  transformed bigint not null default 0,
  posted bigint not null default 0,
  suspended bigint not null default 0,
  failed bigint not null default 0,
  discover_seconds numeric,
  transform_seconds numeric,
  post_seconds numeric,
  last_error text
);
create unique index batch_run_one_running on core.batch_run (status) where status = 'running';
create unique index batch_run_one_waiting on core.batch_run (status) where status = 'waiting';
