-- A UPI id as the keys of core.reference have it: case is ignored.
create or replace function base.upi_id(value text) returns text language sql immutable parallel safe as $$
  select case when strpos(value, '@') > 0 then lower(value) else value end
$$;

-- The bank's reference of a payment. PostgreSQL inlines this: indexes have the expression itself.
create or replace function base.bank_reference(hints jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(hints ->> 'utr', hints ->> 'bank_reference')
$$;

-- The references in a payment's hints, each as kind:value. All gateways' hints have these names.
create or replace function base.references_in(hints jsonb) returns text[] language sql immutable parallel safe as $$
  select array_remove(array[
    'virtual_account:' || base.upi_id(hints ->> 'virtual_account'), 'virtual_account:' || base.upi_id(hints ->> 'virtual_account_number'),
    'virtual_account:' || base.upi_id(hints ->> 'virtual_vpa'),
    'virtual_account:' || base.upi_id(hints ->> 'account_number'), 'virtual_account:' || base.upi_id(hints ->> 'account_address'),
    'mandate:' || (hints ->> 'mandate'), 'mandate:' || (hints ->> 'subscription_id'),
    'order:' || (hints ->> 'order_id'),
    'payment_link:' || (hints ->> 'link'),
    'payment_link:' || (hints #>> '{order_tags,cf_link_id}'),
    'payment_link:' || (hints #>> '{order_tags,link_id}'),
    -- The event of a link gives this id to its payments.
    'payment_link:' || (hints ->> 'link_id'),
    'customer:' || (hints ->> 'customer_id'),
    'payer:' || base.upi_id(hints ->> 'remitter_vpa'), 'payer:' || base.upi_id(hints ->> 'remitter_account')], null)
$$;

-- A refund's id as its gateway writes it today. Gateway B wrote refund_41805719 until version 2022-09-01, and 41805719 since.
create or replace function base.plain_refund_id(id text) returns text language sql immutable parallel safe as $$
  select regexp_replace(id, '^refund_(?=\d{5,}$)', '')
$$;
