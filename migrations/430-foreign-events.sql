-- Which lenders' secrets and credentials prove events to the lenders of which products, named as in core.confirming and written
-- by each worker that starts. No rows of a gateway whose secrets all lenders share.
create table core.signing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  -- Whether the lender validates signatures, so that what others sign does not count as verified for it.
  validates boolean not null,
  primary key (product, gateway, lender)
);

-- When that was last changed: what came before is no other lender's by settings that came later. One row.
create table core.signing_change (
  changed_at timestamptz not null
);

-- The event is verified with the secret of another lender than the loan's, whose own event of the payment there is.
alter table core.event add column is_foreign boolean not null default false;
create index event_foreign on core.event (gateway_payment_id) where is_foreign;

-- Whether other events count than when the payment was sent on its way.
alter table core.transaction add column is_stale boolean not null default false;
