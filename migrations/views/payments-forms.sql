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

-- The id of a payment in a body that cannot be read, of whichever gateway.
create or replace function base.id_in(body bytea) returns text language plpgsql immutable parallel safe as $$
begin
  return coalesce(base.gateway_a_id(body), base.gateway_b_id(body));
end
$$;

-- The first objects in an event, itself among them. A relay may have put the gateway's event into a member, or into a text.
create or replace function base.objects_in(event jsonb) returns setof jsonb language plpgsql stable parallel safe as $$
declare
  part jsonb;
begin
  for part in
    select p from jsonb_path_query(event, 'strict $.**{0 to 3} ? (@.type() == "object" || @.type() == "string" && @ starts with "{")') p
     limit 50
  loop
    begin
      return next case jsonb_typeof(part) when 'string' then base.event_in(convert_to(part #>> '{}', 'UTF8')) else part end;
    exception
      when insufficient_resources then
        raise;
      when others then
        -- The text is not JSON.
        continue;
    end;
  end loop;
end
$$;

-- A fact of an event of the other gateway, whose ids are not this gateway's.
create or replace function base.misdirected(said base.fact, form text, event_type text) returns base.fact language sql stable parallel safe as $$
  select base.unreadable(base.without_nulls(jsonb_build_object('gateway', form, 'event_type', event_type,
    'kind', nullif(said.kind, 'payment'), 'of_payment_id', said.of_payment_id,
    case said.kind when 'payment' then 'payment_id' else said.kind || '_id' end, coalesce(said.payment_id, said.hints ->> 'payment_id'),
    'amount', said.amount, 'currency', said.currency, 'external_loan_id', said.external_loan_id)))
$$;

-- The facts of an event that does not have its gateway's form: the lender may have entered the URL at the other gateway, or a
-- relay wraps the events. Nothing is booked from them by itself: a payment is in suspense, a refund or dispute is open.
create or replace function base.strays(gateway text, event jsonb) returns base.fact[] language plpgsql stable parallel safe as $$
declare
  inner_event jsonb;
  form text;
  event_type text;
  said base.fact;
  facts base.fact[] := '{}';
begin
  for inner_event, form in select o, base.form_of(o) from base.objects_in(event) o where base.form_of(o) is not null loop
    event_type := left(coalesce(inner_event ->> 'event', inner_event ->> 'type', inner_event ->> 'cf_event'), 200);
    -- Of misdirected facts, only the first is kept.
    for said in execute format('select * from base.%I($1) f where f.status not in (''failed'', ''undone'', ''named'')
                                 order by f.kind = ''payment''', form) using convert_to(inner_event::text, 'UTF8') loop
      if form <> gateway then
        said := base.misdirected(said, form, event_type);
      elsif said.kind <> 'payment' then
        said.status := 'open';
      elsif said.problem is distinct from 'unreadable' then
        said.status := 'unknown';
        said.problem := 'unknown_event';
        said.hints := coalesce(said.hints, '{}') || jsonb_build_object('event_type', event_type);
      end if;
      facts := facts || said;
    end loop;
  end loop;
  if facts = '{}' and form is null then
    -- The amount is left out: nobody knows its unit.
    select array_agg(base.unreadable(base.without_nulls(jsonb_build_object('payment_id', f.payment_id, 'external_loan_id', f.external_loan_id))))
      into facts
      from (select f.* from base.objects_in(event) o cross join lateral base.unknown_facts('', o, true, null, null) f limit 1) f;
  end if;
  return facts;
end
$$;
