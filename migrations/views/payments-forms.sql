-- The gateway in whose form this is an event; null if there is none.
create or replace function base.form_of(event jsonb) returns text language plpgsql stable parallel safe as $$
begin
  return case
    when jsonb_typeof(event -> 'event') = 'string' and jsonb_typeof(event -> 'payload') = 'object' then 'gateway_a'
    when jsonb_typeof(event -> 'type') = 'string' and jsonb_typeof(event -> 'data') = 'object' then 'gateway_b'
    -- Older events are flat.
    when jsonb_typeof(event -> 'cf_event') = 'string' or event ->> 'event' = any(base.gateway_b_types()) then 'gateway_b' end;
end
$$;

-- Types that say that money moved, of all gateways. Another type may contain the name of one of them.
create or replace function base.money_types() returns text[] language plpgsql immutable parallel safe as $$
begin
  return base.gateway_a_paid_types() || base.gateway_a_refund_types() || array['payment.dispute.', 'PAYMENT_SUCCESS',
    'REFUND_STATUS', 'DISPUTE_CREATED', 'DISPUTE_UPDATED', 'DISPUTE_CLOSED', 'AMOUNT_COLLECTED', 'SUBSCRIPTION_NEW_PAYMENT'];
end
$$;

-- What a text contains if it is JSON, as it is or in base64.
create or replace function base.json_in(given text) returns jsonb language plpgsql stable parallel safe as $$
declare
  digits text;
begin
  if ltrim(given, E' \t\r\n') ~ '^[{[]' then
    return base.event_in(convert_to(given, 'UTF8'));
  end if;
  digits := translate(rtrim(given, '='), E'-_ \t\r\n', '+/');
  return base.event_in(decode(rpad(digits, (length(digits) + 3) / 4 * 4, '='), 'base64'));
exception
  when insufficient_resources then
    raise;
  when others then
    return null;
end
$$;

-- Whether a text may be JSON, as it is or in base64, where { and [ are e and W.
create or replace function base.is_wrapping(given text) returns boolean language sql immutable parallel safe as $$
  select case when left(given, 1) in ('e', 'W')
              then length(given) > 20 and left(given, 20) ~ '^[A-Za-z0-9+/_-]*$' and substr(given, 2, 1) ~ '[w-z0-9+/_-]'
              else left(ltrim(left(given, 20), E' \t\r\n'), 1) in ('{', '[') end
$$;

create or replace function base.texts_in(event jsonb) returns jsonb[] language sql stable parallel safe as $$
  select array(select jsonb_path_query(event, 'strict $.**{0 to 8} ? (@.type() == "string")'))
$$;

-- What is in a text about a payment, refund or dispute: a type or an id. However it is wrapped, a relay leaves these as they are.
create or replace function base.money_patterns() returns text[] language plpgsql immutable parallel safe as $$
begin
  return array(select '%' || replace(part, '_', '\_') || '%' from unnest(base.money_types() || '{cf_payment_id,"\"pay_"}'::text[]) part);
end
$$;

-- Whether this list of events may be about money.
create or replace function base.have_money(events jsonb) returns boolean language sql stable parallel safe as $$
  select events @? 'strict $.**{0 to 9} ? (exists(@.cf_payment_id))'
      or (select string_agg('"' || (text #>> '{}'), '') like any (base.money_patterns())
            from jsonb_path_query(events, 'strict $.**{0 to 9} ? (@.type() == "string")') text) is true
$$;

-- An event, and what its texts contain if that is JSON: relays put events into texts, and queues put those into others. `unread`:
-- how many texts were too many to read and may be about money, which base64 hides.
create or replace function base.layers_of(event jsonb, texts jsonb[], most integer, out layers jsonb[], out unread integer)
  language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  place integer := 0;
  tried integer := 0;
  parts jsonb[];
  given text;
  chance integer;
  inside jsonb;
begin
  layers := array[event];
  unread := 0;
  while place < cardinality(layers) loop
    place := place + 1;
    -- A loop's query copies all that it mentions: it may mention neither all texts nor all layers.
    parts := case when place = 1 then texts else base.texts_in(layers[place]) end;
    for given, chance in
      select g.given, case when g.given like any (base.money_patterns()) then 2 when g.given ~ '^[A-Za-z0-9+/_=\s-]+$' then 1 else 0 end
        from unnest(parts) with ordinality t (part, n)
       cross join lateral (select part #>> '{}') g (given)
       where base.is_wrapping(g.given)
       order by 2 desc, n
    loop
      if tried < most then
        tried := tried + 1;
        inside := base.json_in(given);
        if inside is not null then
          layers := array_append(layers, inside);
        end if;
      else
        exit when chance = 0;
        unread := unread + 1;
      end if;
    end loop;
  end loop;
end
$$;

-- A fact of an event of the other gateway, whose ids are not this gateway's.
create or replace function base.misdirected(said base.fact, form text, event_type text) returns base.fact
  language sql stable parallel safe as $$
  select base.unreadable(base.without_nulls(jsonb_build_object('gateway', form, 'event_type', event_type,
    'kind', nullif(said.kind, 'payment'), 'of_payment_id', said.of_payment_id,
    case said.kind when 'payment' then 'payment_id' else said.kind || '_id' end, coalesce(said.payment_id, said.hints ->> 'payment_id'),
    'amount', said.amount, 'currency', said.currency, 'external_loan_id', said.external_loan_id)))
$$;

-- The facts of an event that was taken out of a wrapper. Nothing is booked from them by itself: a payment is in suspense, a
-- refund or dispute is open, and what is the other gateway's is unreadable.
create or replace function base.facts_inside(gateway text, event jsonb, form text, event_type text) returns base.fact[]
  language plpgsql stable parallel safe as $$
declare
  said base.fact;
  facts base.fact[] := '{}';
begin
  for said in
    execute format($sql$select f.* from unnest(base.%I($1)) f
                      where f.kind is not null and f.status not in ('failed', 'undone', 'named')
                      order by f.kind = 'payment'$sql$, form || '_facts') using event
  loop
    if form <> gateway then
      -- What is beside a refund or dispute is its payment.
      return array[base.misdirected(said, form, event_type)];
    elsif said.kind <> 'payment' then
      said.status := 'open';
    elsif said.problem is distinct from 'unreadable' then
      said.status := 'unknown';
      said.problem := 'unknown_event';
      said.hints := coalesce(said.hints, '{}') || jsonb_build_object('event_type', event_type);
    end if;
    facts := facts || said;
  end loop;
  return facts;
end
$$;

-- The id of the payment, refund or chargeback that these hints name.
create or replace function base.id_of_hints(hints jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(hints ->> 'payment_id', hints ->> 'refund_id', hints ->> 'chargeback_id')
$$;

-- An event has one unreadable fact, because it is kept under its raw row's id. It says how many there are, and whose. A relay may
-- send an event twice in one call: as it is, and as text.
create or replace function base.with_one_unreadable(facts base.fact[], unread integer) returns base.fact[]
  language plpgsql stable parallel safe as $$
declare
  hidden jsonb[];
  hints jsonb;
begin
  hidden := array(select once.hints
                    from (select coalesce(f.hints, '{}') as hints, f.ordinality as n,
                                 row_number() over (partition by coalesce(base.id_of_hints(f.hints), f.ordinality::text)
                                                    order by f.ordinality) as copy
                            from unnest(facts) with ordinality f
                           where f.problem = 'unreadable') once
                   where copy = 1
                   order by n);
  if hidden = '{}' and unread = 0 then
    return facts;
  end if;
  hints := coalesce(hidden[1], '{}') || jsonb_build_object('unread_events', nullif(unread, 0),
    'more_events', nullif(greatest(cardinality(hidden) - 1, 0), 0),
    'more_ids', (select left(string_agg(base.id_of_hints(h), ', '), 500) from unnest(hidden[2:]) h));
  return array(select f from unnest(facts) f where f.problem is distinct from 'unreadable') || base.unreadable(base.without_nulls(hints));
end
$$;

-- The id of a payment in a body that cannot be read, of whichever gateway.
create or replace function base.payment_id_in_broken(body bytea) returns text language plpgsql stable parallel safe as $$
declare
  gateway text;
  payment_id text;
begin
  for gateway in select name from core.gateway order by name loop
    execute format('select base.%I($1)', gateway || '_id') into payment_id using body;
    exit when payment_id is not null;
  end loop;
  return payment_id;
end
$$;

-- The facts of an event that does not have its gateway's form, or whose type is not listed and says nothing: the lender may
-- have entered the URL at the other gateway, or a relay wraps the events.
create or replace function base.strays(gateway text, event jsonb) returns base.fact[] language plpgsql stable parallel safe
  set plan_cache_mode = force_generic_plan as $$
declare
  -- No genuine event is smaller, and reading each must not cost more than reading ordinary events of the whole size.
  most constant integer := 20 + pg_column_size(event) / 500;
  texts constant jsonb[] := base.texts_in(event);
  layers jsonb[];
  unread integer;
  known constant text[] := array(select unnest(known_types) from core.gateway);
  left_out jsonb;
  is_known boolean;
  is_own boolean;
  facts base.fact[];
begin
  -- Each event may be in two texts: a queue's, and in that a relay's.
  select l.layers, l.unread into layers, unread from base.layers_of(event, texts, 2 * most) l;
  with found as materialized (
    -- Only objects that have a form.
    select part, row_number() over () as place
      from (select jsonb_path_query(layer, 'strict $.**{0 to 8} ? (@.type() == "object")
                     ? (exists(@.event) || exists(@.type) || exists(@.cf_event))
                     ? (@.event.type() == "string" && @.payload.type() == "object" || @.type.type() == "string" && @.data.type() == "object"
                     || @.cf_event.type() == "string" || @.event == "AMOUNT_COLLECTED")')
              from unnest(layers) layer) p (part)
  ), named as materialized (
    select part, base.form_of(part) as form,
           left(coalesce(part ->> 'event', part ->> 'type', part ->> 'cf_event'), 200) as event_type
      from found where place <= most
  ), weighed as materialized (
    -- An event of another type costs more to read.
    select *, event_type = any(known) as is_listed,
           sum(case when event_type = any(known) then 1 else 10 end) over (rows unbounded preceding) <= most as is_read
      from named
  )
  select (select jsonb_agg(part) from found where place > (select count(*) from weighed where is_read)),
         coalesce(bool_or(is_listed), false), coalesce(bool_or(form = gateway), false),
         (select array_agg(f) from weighed cross join lateral unnest(base.facts_inside(gateway, part, form, event_type)) f where is_read)
    into left_out, is_known, is_own, facts from weighed;
  if facts is null and not is_known and not is_own then
    -- The amount is left out: nobody knows its unit.
    select array_agg(base.unreadable(base.without_nulls(jsonb_build_object(
             'payment_id', f.payment_id, 'external_loan_id', f.external_loan_id))))
      into facts
      from (select jsonb_path_query(layer, 'strict $.**{0 to 8} ? (@.type() == "object")') from unnest(layers) layer
             limit least(most, 50)) o (part)
     cross join lateral base.unknown_facts('', part, true, null, null) f;
  end if;
  if facts is null and not is_known then
    -- The event as text would have 131,000 digits for each 1e131071.
    select array[base.unreadable(base.without_nulls(jsonb_build_object(
             'payment_id', base.payment_id_in_broken(convert_to(whole, 'UTF8')))))]
      into facts
      from (select replace(string_agg(part::text, ','), '\', '')
              from unnest(texts) part) t (whole)
     where exists (select from unnest(base.money_types()) name where strpos(whole, name) > 0);
  end if;
  return base.with_one_unreadable(facts, unread
    + case when left_out is not null and base.have_money(left_out) then jsonb_array_length(left_out) else 0 end);
end
$$;

-- Makes a gateway known, with base.<gateway>, which reads the facts in the body of a webhook. No body makes that function raise
-- an error. base.<gateway>_facts gives the facts of an event, or null if the gateway sends none like it. base.<gateway>_status
-- gives the status of a payment, and base.<gateway>_id the id of a payment in a body that cannot be read. Each gateway has a
-- function, because one for all would have to plan the call of base.<gateway>_facts for each body.
create or replace function base.add_gateway(gateway text, types text[]) returns void language plpgsql as $$
declare
  needed text;
begin
  foreach needed in array array[format('base.%I(jsonb)', gateway || '_facts'), format('base.%I(jsonb)', gateway || '_status'),
                                format('base.%I(bytea)', gateway || '_id')] loop
    if to_regprocedure(needed) is null then
      raise exception '% needs the function %', gateway, needed;
    end if;
  end loop;
  insert into core.gateway (name, known_types) values (gateway, types)
  on conflict (name) do update set known_types = excluded.known_types;
  execute format($sql$
    create or replace function base.%1$I(body bytea) returns setof base.fact language plpgsql stable parallel safe as $base$
    declare
      event jsonb;
      facts base.fact[];
      said base.fact;
    begin
      begin
        event := base.event_in(body);
        facts := coalesce(base.%2$I(event), base.strays(%1$L, event));
      exception
        when insufficient_resources then
          -- The error is not caused by the body, which is read again later.
          raise;
        when others then
          facts := base.facts_in_broken(%1$L, body, sqlstate);
      end;
      -- A query would cost a tenth of what reading an ordinary body costs.
      foreach said in array coalesce(facts, '{}') loop
        if said.kind is not null then
          return next said;
        end if;
      end loop;
    end
    $base$ $sql$, gateway, gateway || '_facts');
end
$$;
