-- The lenders whose events of a gateway count only once a signature proves them or the gateway itself confirms them.
-- Written by each worker that starts.
create table core.confirming (
  lender text not null,
  product text not null,
  gateway text not null,
  -- Whose credentials the gateway is asked with, as in core.gateway_account.
  account text not null,
  -- The lenders with the same secrets: what one of these verified needs no confirmation.
  proved_by text[] not null,
  primary key (lender, gateway)
);

-- What a gateway is to be asked about, and what it answered.
create table core.question (
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  account text not null,
  -- Null: only once there are new events.
  next_ask_at timestamptz default now(),
  -- Why it is not confirmed; null until there is an answer.
  said text,
  -- What the events name, such as orders, under which it was looked for in vain.
  asked text[] not null default '{}',
  tries integer not null default 0,
  denied_at timestamptz,
  -- The batch that asked last.
  batch_id uuid,
  primary key (gateway_payment_id, gateway, kind, account)
);
create index question_due on core.question (gateway, account, next_ask_at);
create index question_unanswered on core.question (gateway) where said is null;

-- Neither a signature nor the gateway proves the event, and the lender of its loan wants it proved.
alter table core.event add column is_unproved boolean not null default false;
create index event_unproved on core.event (gateway_payment_id) where is_unproved;

-- No event that counts reports it: the gateway has yet to be asked, or has not confirmed it.
alter table core.transaction add column unconfirmed text check (unconfirmed in ('unasked', 'denied'));
drop index core.transaction_waiting;
create index transaction_waiting on core.transaction (paid_at, id) where state = 'waiting' and unconfirmed is null;

-- Their parameters or columns change here.
drop function if exists core.summarize(text, text[]);
drop function if exists core.fate_of(text, boolean, text, text, text, boolean, text, text, text, text, text, text, boolean,
  boolean, boolean, boolean, boolean);
drop function if exists core.fate_of_refund(text, boolean, boolean, boolean, boolean, boolean);
