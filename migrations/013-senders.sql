-- Networks from which the lenders take a gateway's events, by the settings of the worker that was started last.
create table core.allowed_network (
  lender text not null,
  product text not null,
  gateway text not null,
  network inet not null,
  primary key (lender, gateway, network)
);

-- The lender, according to the ledger, of loans whose payments' events depend on it.
create table core.loan_product (
  external_loan_id text primary key,
  product text not null
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

-- From outside the networks of the loan's lender: such an event is ignored.
alter table core.event add column is_outside boolean not null default false;
create index event_outside on core.event (gateway_payment_id) where is_outside;
