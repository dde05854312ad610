create schema raw;
comment on schema raw is 'Payment events exactly as they came: one append-only table per lender and gateway';
create schema base;
comment on schema base is 'Views that name and type the fields of one raw table each';
create schema core;
comment on schema core is 'One row per real-world payment, whatever its source';

-- A UUIDv7; PostgreSQL has its own function only from version 18. This one has no search path of its own, which
-- PostgreSQL would set and reset for every row: a body that is parsed here needs none, and becomes part of the statement that
-- inserts.
create function raw.new_id() returns uuid language sql volatile parallel safe
  return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
         52, 1), 53, 1), 'hex')::uuid;

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
-- An event id alone could be taken by a forger before the true event comes. It is hashed, because an index entry has room for
-- 2,700 bytes only and a header for more.
create unique index template_repeat on raw.template (body_sha256, md5(coalesce(event_id, '')));
comment on table raw.template is 'The pattern of every raw table: create table raw.<lender>_<gateway> (like raw.template including all)';

-- The last calls of each gateway's webhook, stored or refused, for whoever sets one up. Their bodies are left out.
create table loanops.webhook_call (
  id uuid not null default gen_random_uuid() primary key,
  gateway text not null,
  at timestamptz not null,
  address inet,
  status integer not null,
  event_type text,
  lender text not null,
  reason text
);

-- The gateways whose raw tables become sources. The file with a gateway's function base.<name> adds its row.
create table core.gateway (
  -- The name is part of those of its raw tables, beside a lender's code of up to forty characters.
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,21}$'),
  -- The event types that the gateway's function knows, those that it ignores included: *, at the end, stands for any text.
  known_types text[] not null default '{}'
);

-- The lenders that a raw table may be made for: these, and those of each start's configuration.
create table core.lender (code text primary key check (code ~ '^[A-Z][A-Z0-9_]{0,39}$'));
insert into core.lender (code) select 'LENDER_0' || n from generate_series(1, 9) n union select 'UNKNOWN';

-- Networks from which the lenders take a gateway's events, by the settings of the worker that was started last: one row per
-- setting, because a lender may have several products.
create table core.allowed_network (
  lender text not null,
  product text not null,
  gateway text not null,
  network inet not null,
  primary key (lender, product, gateway, network)
);

-- The lender, according to the ledger, of loans whose payments' events depend on it.
create table core.loan_product (
  external_loan_id text primary key,
  product text not null,
  learned_at timestamptz not null default now()
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

-- How often each source sent which type of event, and how it is taken. Only so many names per source: anybody may send
-- any text as a type where signatures are not validated.
create table core.event_type (
  source text not null,
  event_type text not null,
  taken text not null check (taken in ('payment', 'refund', 'chargeback', 'ignored', 'unknown')),
  events bigint not null,
  last_at timestamptz,
  primary key (source, event_type)
);

-- Raw rows that no batch has taken yet, written in the transaction that wrote them: however late one commits, it is here.
create table core.pending_event (
  source text not null,
  raw_id uuid not null,
  received_at timestamptz not null,
  -- Set by ops.reread: what the event said before is forgotten when a batch takes it, unless an operator has decided meanwhile.
  again boolean not null default false,
  primary key (source, raw_id)
  -- Every batch empties it: a table that keeps growing and shrinking needs early vacuuming.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

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

-- What one raw row says about one payment, refund or chargeback.
create table core.event (
  source text not null,
  raw_id uuid not null,
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  of_payment_id text,
  -- 'unknown': of an event of an unknown type, so that it never counts as money. 'named': of an event of the payment's link,
  -- which says nothing about the money.
  status text not null,
  amount numeric,
  currency text,
  paid_at timestamptz,
  external_loan_id text,
  problem text,
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamptz not null,
  hints jsonb,
  -- The event comes from outside the networks of the loan's lender, and so is ignored.
  is_outside boolean not null default false,
  -- Settling reads the events of a payment that state different facts; of the others it knows enough. 'repeat': an earlier
  -- event states the same facts. 'too_many': beyond core.most_facts().
  set_aside text check (set_aside in ('repeat', 'too_many')),
  -- Neither a signature nor the gateway proves the event, and the lender of its loan wants it proved.
  is_unproved boolean not null default false,
  -- The event is verified with the secret of another lender than the loan's, whose own event of the payment there is.
  is_foreign boolean not null default false,
  primary key (source, raw_id, kind, gateway_payment_id)
);
-- "not valid", which `create table` does not know, because the databases that were migrated before this file have it.
alter table core.event
  add constraint event_status_check check (status in ('captured', 'failed', 'named', 'open', 'done', 'undone',
    'never_captured', 'unknown')) not valid,
  add constraint event_problem_check check (problem in ('unreadable', 'amount_invalid', 'unknown_event', 'awaiting_review'))
    not valid;
-- Two partial indexes instead of a whole one: an ordinary event is in one of them, and a list in order costs it nothing.
create index event_payment on core.event (gateway_payment_id, gateway) where set_aside is null;
create index event_set_aside on core.event (gateway_payment_id, gateway, kind, received_at, raw_id, source)
  where set_aside is not null;
create index event_too_many on core.event (gateway_payment_id) where set_aside = 'too_many';
-- The refunds that name a payment, whichever payment they are taken to be of.
create index event_of_payment on core.event (of_payment_id, gateway) where of_payment_id is not null and set_aside is null;
create index event_of_link on core.event ((hints #>> '{order_tags,cf_link_id}'), gateway)
  where hints #>> '{order_tags,cf_link_id}' is not null and set_aside is null;
create index event_outside on core.event (gateway_payment_id) where is_outside;
create index event_unproved on core.event (gateway_payment_id) where is_unproved;
create index event_foreign on core.event (gateway_payment_id) where is_foreign;

-- Which loan a payment link is for, as its events say: those of its payments may only name the link.
create table core.link_event (
  gateway text not null,
  link_id text not null,
  source text not null,
  raw_id uuid not null,
  -- Null if the event only gives the id that its maker gave the link, in `hints`, by which its payments may be registered: their
  -- own events have only the gateway's id of it.
  external_loan_id text,
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamptz not null,
  hints jsonb,
  primary key (gateway, link_id, source, raw_id)
);

-- Payments whose events are judged again once the lender of their loans is known.
create table core.unjudged_payment (
  gateway text not null,
  gateway_payment_id text not null,
  -- None of its events comes from inside anybody's networks: a flood of those must not keep the others waiting.
  may_wait boolean not null default false,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (gateway_payment_id, gateway)
);
create index unjudged_payment_noted on core.unjudged_payment (may_wait, noted_at);
