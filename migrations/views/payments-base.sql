-- Replaces escaped halves of surrogate pairs, which PostgreSQL cannot read, with U+FFFD: an emoji cut in two in a
-- description must not hide the money. Null if there are none, and for a body of more than 64 KiB: genuine ones are
-- shorter, and a forged one must not cost more.
create or replace function base.without_half_characters(body bytea) returns bytea language plpgsql immutable parallel safe as $$
declare
  whole text;
  repaired text;
begin
  whole := convert_from(body, 'UTF8');
  if octet_length(body) > 65536 or whole ~ E'[\x01\x02]' then
    return null;
  end if;
  -- Whole pairs are set aside as characters that no JSON contains: looking behind each half would take minutes for a MiB.
  repaired := regexp_replace(whole, '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})', E'\x01\\1\x02\\2', 'gi');
  repaired := regexp_replace(repaired, '\\ud[89a-f][0-9a-f]{2}', '\\ufffd', 'gi');
  repaired := regexp_replace(repaired, E'\x01(.{4})\x02(.{4})', '\\u\1\\u\2', 'g');
  return case when repaired <> whole then convert_to(repaired, 'UTF8') end;
exception
  when insufficient_resources then
    raise;
  when others then
    return null;
end
$$;

-- Null if the gateway's field is not of the expected type.
create or replace function base.text_of(value jsonb) returns text language sql immutable parallel safe as $$
  -- Ids are read as text even if they are numbers, because jsonb keeps every digit. No gateway's id is longer.
  select case when jsonb_typeof(value) in ('string', 'number') and length(value #>> '{}') <= 200
              then nullif(btrim(value #>> '{}'), '') end
$$;

create or replace function base.number_of(value jsonb) returns numeric language sql immutable parallel safe as $$
  -- A number such as 1e130000 would be written out with all its digits wherever the payment is shown.
  select case when jsonb_typeof(value) = 'number' and length(value #>> '{}') <= 60
                or value #>> '{}' ~ '^-?\d{1,30}(\.\d{1,10})?$'
              then (value #>> '{}')::numeric end
$$;

create or replace function base.unix_time_of(value jsonb) returns timestamptz language sql immutable parallel safe as $$
  -- Up to the year 9999: later times overflow in PostgreSQL, the ledger or both.
  select case when base.number_of(value) between 0 and 253402300799
              then to_timestamp(base.number_of(value)::double precision) end
$$;

create or replace function base.iso_time_of(value jsonb) returns timestamptz language sql stable parallel safe as $$
  -- Strict, because a cast accepts "now" and "infinity", and raises an error for a day that does not exist, which would
  -- make the whole event unreadable. Without a zone, India's time.
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

-- An object, or an empty one instead of anything else.
create or replace function base.object_of(value jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when jsonb_typeof(value) = 'object' then value else '{}' end
$$;

-- What notes or tags contain besides the loan, as a hint; nothing long, because people write anything there.
create or replace function base.tags_of(notes jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when jsonb_typeof(notes) = 'object' and length(notes::text) <= 1000
              then nullif(notes - '{external_loan_id,loan_id}'::text[], '{}') end
$$;

create or replace function base.without_nulls(hints jsonb) returns jsonb language sql immutable parallel safe as $$
  select nullif(jsonb_strip_nulls(hints), '{}')
$$;

-- The ledger stores thirteen digits before the decimal point and two after it.
create or replace function base.is_no_money(amount numeric) returns boolean language sql immutable parallel safe as $$
  select amount <= 0 or amount >= 1e13 or scale(trim_scale(amount)) > 2
$$;

-- Stable, as jsonb_build_object is: PostgreSQL does not inline an immutable function that calls a stable one.
create or replace function base.captured(payment_id text, amount numeric, currency text, paid_at timestamptz,
  external_loan_id text, hints jsonb) returns base.fact language sql stable parallel safe as $$
  select case
    when payment_id is null or amount is null or paid_at is null
      then row('payment', null, null, 'captured', amount, currency, paid_at, external_loan_id, 'unreadable',
             coalesce(hints, '{}') || coalesce(jsonb_build_object('payment_id', payment_id), '{}'))::base.fact
    when base.is_no_money(amount)
      then row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, 'amount_invalid', hints)::base.fact
    else row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, null, hints)::base.fact
  end
$$;

-- Null if its id cannot be read.
create or replace function base.failed(payment_id text, amount numeric, currency text, paid_at timestamptz,
  external_loan_id text, hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select case when payment_id is not null
    then row('payment', payment_id, null, 'failed', amount, currency, paid_at, external_loan_id, null, hints)::base.fact end
$$;

-- Kept under its raw row's id.
create or replace function base.unreadable(hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select row('payment', null, null, 'captured', null, null, null, null, 'unreadable', hints)::base.fact
$$;

-- An item of the gateway's own list that a fetch could not read.
create or replace function base.set_aside(event jsonb) returns base.fact language sql stable parallel safe as $$
  select case when event -> 'may_be_money' = 'true' then base.unreadable(base.without_nulls(jsonb_build_object(
    'payment_id', base.text_of(event -> 'payment_id'), 'reason', base.text_of(event -> 'reason')))) end
$$;

-- A listed type may end in *, which matches any text.
create or replace function base.is_listed(name text, types text[]) returns boolean language sql immutable parallel safe as $$
  select name = any(types)
      or exists (select from unnest(types) listed where right(listed, 1) = '*' and starts_with(name, left(listed, -1)))
$$;

-- The facts in a part with an id and an amount, which stays as written; no row for any other part.
create or replace function base.unknown_facts(name text, part jsonb, at timestamptz, loan text)
  returns setof base.fact language sql stable parallel safe as $$
  with field as materialized (
    select key, value from jsonb_each(base.object_of(part)) where jsonb_typeof(value) in ('string', 'number')
  )
  select 'payment', id, null::text, 'unknown', amount,
         (select base.text_of(value) from field where key ~ '(^|_)currency$' order by key limit 1),
         at, loan, 'unknown_event', jsonb_build_object('event_type', left(name, 200))
    from (select base.text_of(value) from field
           where key ~ '((^|_)id|Id)$' and base.text_of(value) is not null
           -- An id that several payments share, such as a customer's, comes last.
           order by key = 'cf_payment_id' desc, key ~* 'payment_?id$' desc, key = 'id' desc,
                    key ~* '(customer|client|account|merchant|order|link|vendor|terminal|settlement|subscription)_?id$', key
           limit 1) named (id)
   cross join (select base.number_of(value) from field
                where key ~ '(^|_)amount$' and base.number_of(value) <> 0
                order by key = 'payment_amount' desc, key = 'amount' desc, key
                limit 1) counted (amount)
$$;
