-- Which loan a payment belongs to that names none: by the id of its virtual account, its mandate, its order, its link or its payer.
-- A loan has one period per value.
create table core.reference (
  id uuid primary key default raw.new_id(),
  gateway text not null,
  kind text not null check (kind in ('virtual_account', 'mandate', 'order', 'payment_link', 'customer', 'payer')),
  value text not null,
  -- As core.transaction.refs has it: UPI ids ignore case.
  key text not null generated always as (
    kind || ':' || case when kind in ('payer', 'virtual_account') and strpos(value, '@') > 0 then lower(value) else value end) stored,
  external_loan_id text not null,
  -- Both inclusive; null where it has no such end.
  valid_from date,
  valid_until date check (valid_until >= valid_from),
  created_by text not null,
  created_at timestamptz not null default now()
);
create unique index reference_value on core.reference (key, gateway, external_loan_id);
create index reference_loan on core.reference (external_loan_id, id);
create index reference_kind on core.reference (gateway, kind, id);

-- What the next batch looks at again. A list without a key of its own, so that whoever writes to it never waits for a batch.
-- No key: payments in suspense from before there were references.
create table core.changed_reference (
  id bigint generated always as identity primary key,
  gateway text not null,
  key text
);
insert into core.changed_reference (gateway) select name from core.gateway;

-- The references in its events that count, each as kind:value; which of them named the loan; and the loan that one only suggests.
alter table core.transaction add column refs text[];
alter table core.transaction add column matched_by text;
alter table core.transaction add column suggested_loan text;
-- Without a pending list, which each look-up would read as a whole.
create index transaction_refs on core.transaction using gin (refs) with (fastupdate = off) where state = 'suspense';

-- Their parameters or columns change here.
drop view if exists ops.suspense;
drop function if exists core.summarize(text, text[]);
drop function if exists core.fate_of(text, boolean, text, text, text, boolean, text, text, text, text, text, text, text, boolean,
  boolean, boolean, boolean, boolean);
