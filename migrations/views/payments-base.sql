-- How a gateway's field becomes a value: null where it is none.
create or replace function base.text_of(value jsonb) returns text language sql immutable parallel safe as $$
  -- Ids are read as text even when they are numbers; jsonb keeps their every digit. No id of a gateway is as long.
  select case when jsonb_typeof(value) in ('string', 'number') and length(value #>> '{}') <= 200
              then nullif(btrim(value #>> '{}'), '') end
$$;

create or replace function base.number_of(value jsonb) returns numeric language sql immutable parallel safe as $$
  select case when jsonb_typeof(value) = 'number' or value #>> '{}' ~ '^-?\d{1,30}(\.\d{1,10})?$'
              then (value #>> '{}')::numeric end
$$;

create or replace function base.unix_time_of(value jsonb) returns timestamptz language sql immutable parallel safe as $$
  -- Up to the year 9999: what lies beyond is no time that PostgreSQL, a ledger or a person reads.
  select case when base.number_of(value) between 0 and 253402300799
              then to_timestamp(base.number_of(value)::double precision) end
$$;

create or replace function base.iso_time_of(value jsonb) returns timestamptz language sql stable parallel safe as $$
  -- Strict, because a cast would take "now" and "infinity" for times, and raise on a day that does not exist: the rest of
  -- its event could not be read then. Gateways that leave the zone out mean India's.
  select case
    when value #>> '{}' !~ '^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)?$'
      then null
    when right(left(value #>> '{}', 10), 2)::integer
           > extract(day from (left(value #>> '{}', 7) || '-01')::timestamp + interval '1 month' - interval '1 day')
      then null
    when value #>> '{}' ~ '(Z|[+-]\d\d(:?\d\d)?)$' then (value #>> '{}')::timestamptz
    else (value #>> '{}' || '+05:30')::timestamptz
  end
$$;

create or replace function base.loan_of(notes jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(base.text_of(notes -> 'external_loan_id'), base.text_of(notes -> 'loan_id'))
$$;

create or replace function base.without_nulls(hints jsonb) returns jsonb language sql immutable parallel safe as $$
  select nullif(jsonb_strip_nulls(hints), '{}')
$$;

-- The ledger keeps thirteen digits before the point and two behind it.
create or replace function base.is_no_money(amount numeric) returns boolean language sql immutable parallel safe as $$
  select amount <= 0 or amount >= 1e13 or scale(trim_scale(amount)) > 2
$$;

-- A captured payment, or why it cannot be one.
create or replace function base.captured(payment_id text, amount numeric, currency text, paid_at timestamptz,
  external_loan_id text, hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select case
    when payment_id is null or amount is null or paid_at is null
      then row('payment', null, null, 'captured', amount, currency, paid_at, external_loan_id, 'unreadable',
             coalesce(hints, '{}') || coalesce(jsonb_build_object('payment_id', payment_id), '{}'))::base.fact
    when base.is_no_money(amount)
      then row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, 'amount_invalid', hints)::base.fact
    else row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, null, hints)::base.fact
  end
$$;

-- What nobody can read, kept under its raw row's id.
create or replace function base.unreadable(hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select row('payment', null, null, 'captured', null, null, null, null, 'unreadable', hints)::base.fact
$$;
