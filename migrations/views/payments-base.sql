-- Replaces each control character by a blank. Looking for one character after the other is the fastest way.
create or replace function base.without_controls(given text) returns text language plpgsql immutable parallel safe as $$
begin
  if given ~ E'[\x01-\x1f]' then
    for code in 1..31 loop
      given := replace(given, chr(code), ' ');
    end loop;
  end if;
  return given;
end
$$;

-- The body in a form that PostgreSQL can store: an emoji cut in two in a description, or a NUL in a name, must not hide the money.
-- U+FFFD replaces what cannot be stored, U+FFFE an escaped NUL, and a blank each control character, which no JSON contains; a byte
-- order mark is left out. Null if the body cannot be read for another reason. A body with many of these places is never genuine:
-- more is replaced there than necessary, or nothing, because looking at each place would cost more than reading the body.
create or replace function base.storable(body bytea) returns bytea language plpgsql immutable parallel safe as $$
declare
  few constant integer := 100;
  utf8 constant text := '([\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]|\u00ed[\u0080-\u009f][\u0080-\u00bf]'
    '|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}'
    '|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})';
  given constant bytea := body;
  repaired text;
  halves integer;
begin
  if position('\x00'::bytea in body) > 0 then
    -- No encoding accepts a NUL. The escape format doubles backslashes.
    repaired := base.without_controls(encode(body, 'escape'));
    body := decode(replace(replace(replace(repaired, '\\', E'\x01'), '\000', ' '), E'\x01', '\\'), 'escape');
  end if;
  begin
    repaired := convert_from(body, 'UTF8');
  exception when character_not_in_repertoire then
    -- LATIN1 turns each byte into one character.
    repaired := base.without_controls(convert_from(body, 'LATIN1'));
    if octet_length(convert_to(repaired, 'UTF8')) - octet_length(body) > 10 * few then
      return null;
    end if;
    -- A mark behind each character of UTF-8, and in place of each byte that belongs to none. Only the latter marks stay.
    repaired := regexp_replace(repaired, utf8 || '|[\u0080-\u00ff]', E'\\1\x01', 'g');
    repaired := regexp_replace(repaired, E'([\u0080-\u00ff])\x01', '\1', 'g');
    repaired := regexp_replace(convert_from(convert_to(repaired, 'LATIN1'), 'UTF8'), E'\x01+', E'\uFFFD', 'g');
  end;
  repaired := replace(base.without_controls(ltrim(repaired, E'\ufeff')), '\u0000', '\ufffe');
  halves := (length(repaired) - length(replace(replace(repaired, '\ud', ''), '\uD', ''))) / 3;
  if halves > few then
    repaired := replace(replace(repaired, '\ud', '\ufffdd'), '\uD', '\ufffdD');
  elsif halves > 0 then
    -- Whole surrogate pairs are replaced by characters that no JSON contains, and put back afterwards: looking behind
    -- each half would take minutes for a MiB.
    repaired := regexp_replace(repaired, '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})', E'\x01\\1\x02\\2', 'gi');
    repaired := regexp_replace(repaired, '\\ud[89a-f][0-9a-f]{2}', '\\ufffd', 'gi');
    repaired := regexp_replace(repaired, E'\x01(.{4})\x02(.{4})', '\\u\1\\u\2', 'g');
  end if;
  return nullif(convert_to(repaired, 'UTF8'), given);
exception
  when insufficient_resources then
    raise;
  when others then
    return null;
end
$$;

-- Whether a text has so many lists, objects and members that reading it as JSON would cost many times what an event of
-- its size does. Genuine events have a few hundred, and some twenty bytes for each.
create or replace function base.is_crowded(body text) returns boolean language sql immutable parallel safe as $$
  select octet_length(body) > 4000
     and octet_length(body) - octet_length(replace(replace(replace(body, ',', ''), '[', ''), '{', ''))
         > least(octet_length(body) / 12, 100000)
$$;

-- @raises an error that is caused by the body, whatever keeps it from being read
create or replace function base.event_in(body bytea) returns jsonb language plpgsql immutable parallel safe as $$
declare
  whole text := convert_from(body, 'UTF8');
begin
  if base.is_crowded(whole) then
    raise exception 'too many members' using errcode = 'program_limit_exceeded';
  end if;
  return whole::jsonb;
end
$$;

-- What the pattern finds in an unreadable body. It is tried where each start first occurs, in the order of the list; null if it
-- fits nowhere. The whole body is searched for fixed texts only. Every body can be written in the escape format.
create or replace function base.found_at(body bytea, starts text[], pattern text) returns text language sql immutable parallel safe as $$
  select id
    from unnest(starts) with ordinality s(start, n)
   cross join position(convert_to(start, 'UTF8') in body) place
   cross join substring(encode(substr(body, nullif(place, 0), 120), 'escape') from '^' || pattern) id
   where id is not null
   order by n
   limit 1
$$;

-- Whether a number has few enough digits to write out: a short number such as 1e130000 has as many as its exponent says.
create or replace function base.is_short(number numeric) returns boolean language sql immutable parallel safe as $$
  select number > -1e60 and number < 1e60 and scale(number) <= 60
$$;

-- These functions return null if the gateway's field is not of the expected type. The type is checked before anything is
-- written out. Those in PL/pgSQL would look the field up again at each mention of it if they were in SQL, which is inlined.
create or replace function base.name_in(value jsonb) returns text language plpgsql immutable strict parallel safe as $$
declare
  name text;
begin
  -- Ids are read as text even if they are numbers, because jsonb keeps every digit; no gateway's id is longer than this.
  -- As in intake, blanks, invisible characters and NULs are left out at both ends. A damaged character stays, because
  -- without it the text would be another id.
  if jsonb_typeof(value) = 'string' then
    name := value #>> '{}';
    return case
      -- Most texts begin and end with a visible character of ASCII, which costs less to see than to look for the others.
      when ascii(name) between 33 and 126 and ascii(reverse(name)) between 33 and 126 and octet_length(name) <= 200 then name
      when length(name) <= 200 then nullif(btrim(name,
        E' \t\n\u000b\f\r\u00a0\u00ad\u061c\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b'
        '\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062\u2063\u2064\u2066\u2067'
        '\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u3000\ufeff\ufffe'), '') end;
  end if;
  -- A program that relays events may write 7 as 7.0 or as 0.7e1, and it is the same id. 100.10 is not 100.1: a lender
  -- may number loans so.
  return case when jsonb_typeof(value) = 'number' and base.is_short(value::numeric)
    then case when value::numeric = trunc(value::numeric) then trunc(value::numeric)::text else value #>> '{}' end end;
end
$$;

-- Neither `.` nor `..` is an id, because every URL resolves them.
create or replace function base.text_of(value jsonb) returns text language sql immutable parallel safe as $$
  select nullif(nullif(base.name_in(value), '.'), '..')
$$;

create or replace function base.number_of(value jsonb) returns numeric language plpgsql immutable strict parallel safe as $$
begin
  return case jsonb_typeof(value)
    when 'number' then case when base.is_short(value::numeric) then value::numeric end
    when 'string' then case when value #>> '{}' ~ '^-?\d{1,30}(\.\d{1,10})?$' then (value #>> '{}')::numeric end end;
end
$$;

-- Whether a flag says no; it may be a text or a number.
create or replace function base.is_no(value jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(value in ('false', '"false"', '"False"', '"FALSE"', '0', '"0"', '"no"', '"No"', '"NO"'), false)
$$;

create or replace function base.unix_time_of(value jsonb) returns timestamptz language plpgsql immutable strict parallel safe as $$
declare
  seconds constant numeric := base.number_of(value);
begin
  -- Times end with the year 9999: later ones overflow in PostgreSQL, the ledger or both.
  return case when seconds between 0 and 253402300799 then to_timestamp(seconds::double precision) end;
end
$$;

create or replace function base.iso_time_of(value jsonb) returns timestamptz language plpgsql stable strict parallel safe as $$
declare
  given constant text := case jsonb_typeof(value) when 'string' then value #>> '{}' end;
begin
  -- A plain cast would accept "now" and "infinity", and raise an error for a day that does not exist, which would make
  -- the whole event unreadable. A time without a zone is India's.
  return case
    when given ~ '^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])'
                 '[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)?$' is not true
      then null
    -- PostgreSQL 15 has no pg_input_is_valid.
    when substr(given, 9, 2)::integer > 28 and substr(given, 9, 2)::integer
           > extract(day from (left(given, 7) || '-01')::timestamp + interval '1 month' - interval '1 day') then null
    -- Behind the day, only a zone has one of these.
    when substr(given, 11) ~ '[Z+-]' then given::timestamptz
    else (given || '+05:30')::timestamptz
  end;
end
$$;

create or replace function base.loan_of(notes jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(base.name_in(notes -> 'external_loan_id'), base.name_in(notes -> 'loan_id'))
$$;

-- The value if it is an object, otherwise an empty object.
create or replace function base.object_of(value jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when jsonb_typeof(value) = 'object' then value else '{}' end
$$;

-- The members that are texts, numbers or flags, without long ones, because people write anything there. A text of 1000
-- characters holds at most 125 members, each of which has at least eight: more of them are not looked at.
create or replace function base.plain_members(value jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when length(jsonb_object_agg(key, m.value)::text) <= 1000 then jsonb_object_agg(key, m.value) end
    from (select * from jsonb_each(value) limit 126) m
   where base.text_of(m.value) is not null or jsonb_typeof(m.value) = 'boolean'
$$;

-- What notes or tags contain besides the loan, as a hint. Gateways allow some fifteen short members: more are not looked
-- through, which would cost many times what reading the event costs. The function is stable, as pg_column_size is, so
-- that PostgreSQL inlines it.
create or replace function base.tags_of(notes jsonb) returns jsonb language sql stable parallel safe as $$
  -- The work is in two functions, so that PostgreSQL can inline this one.
  select case when jsonb_typeof(notes) = 'object' and pg_column_size(notes) <= 16384
               and notes - '{external_loan_id,loan_id}'::text[] <> '{}'
              then base.plain_members(notes - '{external_loan_id,loan_id}'::text[]) end
$$;

create or replace function base.without_nulls(hints jsonb) returns jsonb language sql immutable parallel safe as $$
  select nullif(jsonb_strip_nulls(hints), '{}')
$$;

-- The ledger stores thirteen digits before the decimal point and two after it.
create or replace function base.is_no_money(amount numeric) returns boolean language sql immutable parallel safe as $$
  select amount <= 0 or amount >= 1e13 or scale(trim_scale(amount)) > 2
$$;

-- These functions are stable, as jsonb_build_object is: PostgreSQL does not inline an immutable function that calls a
-- stable one.
create or replace function base.captured(payment_id text, amount numeric, currency text, paid_at timestamptz,
  external_loan_id text, hints jsonb) returns base.fact language sql stable parallel safe as $$
  select case
    -- An id in which a character was replaced might be another payment's.
    when payment_id is null or strpos(payment_id, E'\ufffd') + strpos(payment_id, E'\ufffe') > 0 or amount is null or paid_at is null
      then row('payment', null, null, 'captured', amount, currency, paid_at, external_loan_id, 'unreadable',
             coalesce(hints, '{}') || coalesce(jsonb_build_object('payment_id', payment_id), '{}'))::base.fact
    when base.is_no_money(amount)
      then row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, 'amount_invalid', hints)::base.fact
    else row('payment', payment_id, null, 'captured', amount, currency, paid_at, external_loan_id, null, hints)::base.fact
  end
$$;

-- A failed payment; null if its id cannot be read.
create or replace function base.failed(payment_id text, amount numeric, currency text, paid_at timestamptz,
  external_loan_id text, hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select case when payment_id is not null
    then row('payment', payment_id, null, 'failed', amount, currency, paid_at, external_loan_id, null, hints)::base.fact end
$$;

-- An event that cannot be read is kept under its raw row's id.
create or replace function base.unreadable(hints jsonb) returns base.fact language sql immutable parallel safe as $$
  select row('payment', null, null, 'captured', null, null, null, null, 'unreadable', hints)::base.fact
$$;

-- The facts in a body that caused this error: those of its storable form, or else one unreadable fact.
create or replace function base.facts_in_broken(gateway text, body bytea, error text) returns base.fact[]
  language plpgsql stable parallel safe as $$
declare
  -- A repair does not help where nesting is too deep for the stack.
  repaired constant bytea := case when error <> '54001' then base.storable(body) end;
  payment_id text;
  facts base.fact[];
begin
  if repaired is not null then
    execute format('select array(select f from base.%I($1) f)', gateway) into facts using repaired;
    return facts;
  end if;
  -- The body is not JSON, has a number too large for numeric, or is nested too deep for the stack.
  execute format('select base.%I($1)', gateway || '_id') into payment_id using body;
  return array[base.unreadable(base.without_nulls(jsonb_build_object('payment_id', payment_id)))];
end
$$;

-- An item of the gateway's own list that a fetch could not read.
create or replace function base.set_aside(event jsonb) returns base.fact language sql stable parallel safe as $$
  select case when event -> 'may_be_money' = 'true' then base.unreadable(base.without_nulls(jsonb_build_object(
    'kind', base.text_of(event -> 'kind'), 'payment_id', base.text_of(event -> 'payment_id'),
    'of_payment_id', base.text_of(event -> 'of_payment_id'), 'reason', base.text_of(event -> 'reason')))) end
$$;

-- Whether a name is one of the listed types, of which one may end in *, which matches any text.
create or replace function base.is_listed(name text, types text[]) returns boolean language sql immutable parallel safe as $$
  select name = any(types)
      or exists (select from unnest(types) listed where right(listed, 1) = '*' and starts_with(name, left(listed, -1)))
$$;

-- The facts in a part of an event that may be money, whose amount stays as written; no row for any other part. Money has
-- an id and an amount, and either names a loan or is a payment whose status says that it was captured.
create or replace function base.unknown_facts(name text, part jsonb, is_payment boolean, at timestamptz, loan text)
  returns setof base.fact language sql stable parallel safe as $$
  with field as materialized (
    -- No gateway's entity has more members than this; those with the shortest names come first.
    select key, value from jsonb_each(base.object_of(part)) where jsonb_typeof(value) in ('string', 'number') limit 200
  )
  select 'payment', id, null::text, 'unknown', amount,
         (select base.text_of(value) from field where key ~ '(^|_)currency$' order by key limit 1),
         at, named_loan, 'unknown_event', jsonb_build_object('event_type', left(name, 200))
    from (select coalesce(loan, base.loan_of(part -> 'notes'), base.loan_of(part)),
                 upper(coalesce(base.text_of(part -> 'payment_status'), base.text_of(part -> 'status'), ''))) said (named_loan, status)
   cross join (select base.text_of(value) from field
                where key ~ '((^|_)id|Id)$' and key !~ 'loan_id$' and base.text_of(value) is not null
                -- An id that several payments share, such as a customer's, comes last.
                order by key = 'cf_payment_id' desc, key ~* 'payment_?id$' desc, key = 'id' desc,
                         key ~* '(customer|client|account|merchant|order|link|vendor|terminal|settlement|subscription)_?id$', key
                limit 1) named (id)
   cross join (select base.number_of(value) from field
                where key ~ '(^|_)amount$' and base.number_of(value) <> 0
                  -- Such a member is a limit, or an amount that is not paid yet.
                  and key !~ '(^|_)(max|maximum|min|minimum|limit|cap|due|authori[sz]ed|available|outstanding)_'
                order by key = 'payment_amount' desc, key = 'amount' desc, key
                limit 1) counted (amount)
   where case
     when status in ('CREATED', 'PENDING', 'AUTHORIZED', 'FAILED', 'INITIALIZED', 'NOT_ATTEMPTED', 'USER_DROPPED', 'CANCELLED', 'VOID')
      then false
     when named_loan is not null then true
     else is_payment and status in ('CAPTURED', 'PAID', 'SUCCESS', 'SETTLED', 'COMPLETED') end
$$;
