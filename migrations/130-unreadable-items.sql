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
