-- The name of a type's row in core.event_type, if it has one of its own. No gateway's type is longer.
create or replace function core.type_name(event_type text) returns text language sql immutable parallel safe as $$
  select left(coalesce(event_type, '(none)'), 100)
$$;

-- Counts the types of events: how many of each, the last of them, and the highest-ranking fact of any (3 chargeback, 2
-- refund, 1 payment, 0 nothing that counts). The first names of a source get a row each; those on its gateway's list always
-- do.
create or replace function core.count_types(wanted_source text, counts jsonb) returns void language sql volatile as $$
  with given as (
    select core.type_name(event_type) as name, sum(events) as events, max(last_at) as last_at, max(weight) as weight
      from jsonb_to_recordset(counts) as c (event_type text, events bigint, last_at timestamptz, weight integer)
     group by 1
  ), placed as (
    select g.*, base.is_listed(g.name, w.known_types) as is_listed,
           t.event_type is not null or g.name = any(w.known_types)
             or row_number() over (partition by t.event_type is null order by g.weight desc, g.events desc, g.name)
                <= 200 - (select count(*) from core.event_type where source = wanted_source) as is_own
      from given g
      left join core.event_type t on t.source = wanted_source and t.event_type = g.name
     cross join (select w.known_types from core.gateway w join core.source s on s.gateway = w.name where s.name = wanted_source) w
  ), named as (
    select case when is_own then name else '(other)' end as name, sum(events) as events, max(last_at) as last_at,
           case when not bool_or(is_own) then 'unknown' when max(weight) = 3 then 'chargeback' when max(weight) = 2 then 'refund'
                when max(weight) = 1 then 'payment' when bool_or(is_listed) then 'ignored' else 'unknown' end as taken
      from placed
     group by 1
  )
  insert into core.event_type as t (source, event_type, taken, events, last_at)
  select wanted_source, name, taken, events, last_at from named order by name
  on conflict (source, event_type) do update
     set events = t.events + excluded.events, last_at = greatest(t.last_at, excluded.last_at),
         -- Not every event of a type states a fact: a refund that is only requested does not.
         taken = case when array_position(array['payment', 'refund', 'chargeback'], t.taken)
                           > coalesce(array_position(array['payment', 'refund', 'chargeback'], excluded.taken), 0)
                      then t.taken else excluded.taken end
$$;

-- Counts raw rows whose facts are known; `weight` is the rank of the highest fact, as above.
create or replace function core.count_rows(wanted_source text, ids uuid[], weight integer) returns void
  language plpgsql volatile as $$
declare
  counts jsonb;
begin
  execute format($sql$
    select jsonb_agg(jsonb_build_object('event_type', event_type, 'events', 1, 'last_at', received_at, 'weight', $2))
      from raw.%I where id = any($1)$sql$, wanted_source) using ids, weight into counts;
  perform core.count_types(wanted_source, coalesce(counts, '[]'));
end
$$;

-- Takes events that will be read again out of the counts, in the order in which core.count_types locks their types.
create or replace function core.uncount_rows(wanted_source text, ids uuid[]) returns void language plpgsql volatile as $$
begin
  execute format($sql$
    with given as (
      select core.type_name(event_type) as name, count(*) as events from raw.%I where id = any($2) group by 1
    ), named as (
      select coalesce(t.event_type, '(other)') as name, sum(g.events) as events
        from given g left join core.event_type t on t.source = $1 and t.event_type = g.name
       group by 1
    ), locked as materialized (
      select t.event_type from core.event_type t join named n on t.source = $1 and t.event_type = n.name
       order by t.event_type for no key update of t
    )
    update core.event_type t set events = greatest(0, t.events - n.events)
      from named n join locked l on l.event_type = n.name
     where t.source = $1 and t.event_type = n.name$sql$, wanted_source) using wanted_source, ids;
end
$$;

-- The ids under which a payment, refund or chargeback is stored. Earlier versions kept the prefix that old events of gateway
-- B have for a refund, and newer ones lack; where they stored both, each gets the events, because either may be booked.
-- The function is in PL/pgSQL, because one in SQL would be planned for each event.
create or replace function core.stored_ids(wanted_gateway text, wanted_kind text, id text) returns text[] language plpgsql stable as $$
declare
  stored text[];
begin
  if wanted_gateway = 'gateway_b' and wanted_kind = 'refund' and id ~ '^\d+$' then
    stored := array(
      select s from unnest(array[id, 'refund_' || id]) s
       where exists (select from core.event e
                      where e.gateway_payment_id = s and e.gateway = wanted_gateway and e.kind = 'refund' and e.set_aside is null
                        and (e.hints ? 'is_of_row') is not true));
  end if;
  return coalesce(nullif(stored, '{}'), array[id]);
end
$$;

-- Saves what these rows of a source report about payments, refunds, chargebacks and payment links, and counts their
-- types. Returns the ids of those payments, refunds and chargebacks; null if there are none.
create or replace function core.note_events(source core.source, ids uuid[]) returns text[] language plpgsql volatile as $$
declare
  changed text[];
  counts jsonb;
  links text[];
begin
  execute format($sql$
    with read as materialized (
      select b.*, found.problem as found_problem
        from base.%1$I b
       -- An operator's own base view may not have checked the amount and the id.
       cross join lateral (select case
         when payment_id is null or (kind, status) = ('payment', 'captured') and (amount is null or paid_at is null) then 'unreadable'
         when b.problem is null and (kind, status) = ('payment', 'captured') and base.is_no_money(amount) then 'amount_invalid'
         else b.problem end) found (problem)
       -- The ids come from a subquery: of a value, the planner would look at thousands of elements.
       where raw_id = any((select $4)::uuid[])
         -- A payment of zero registers a mandate and moves no money.
         and not (kind = 'payment' and amount is not distinct from 0)
    ), noted as (
      insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, of_payment_id, status, amount, currency,
        paid_at, external_loan_id, problem, lender, verified_by, address, received_at, hints)
      select $1, raw_id, $2, kind, stored.id,
             of_payment_id, case when found_problem = 'unknown_event' then 'unknown' else status end, amount, currency,
             paid_at, external_loan_id, found_problem, $3, verified_by, address, received_at, hints
        from read
       cross join lateral unnest(case when found_problem = 'unreadable' then array[raw_id::text]
                                      else core.stored_ids($2, kind, payment_id) end) stored (id)
       where kind <> 'link'
      on conflict do nothing
      returning raw_id, kind, status, gateway_payment_id, hints #>> '{order_tags,cf_link_id}' as link_id
    ), of_link as (
      insert into core.link_event (gateway, link_id, source, raw_id, external_loan_id, lender, verified_by, address, received_at, hints)
      select $2, payment_id, $1, raw_id, external_loan_id, $3, verified_by, address, received_at, hints
        from read where kind = 'link'
      on conflict do nothing
      returning link_id
    ), weighed as (
      select raw_id, max(case when kind = 'chargeback' then 3
                              when kind = 'refund' and status <> 'undone' then 2
                              when kind = 'payment' and status <> 'unknown' then 1 else 0 end) as weight
        from noted group by raw_id
    ), counted as (
      select r.event_type, count(*) as events, max(r.received_at) as last_at, coalesce(max(weight), 0) as weight
        from raw.%1$I r left join weighed w on w.raw_id = r.id
       where r.id = any((select $4)::uuid[])
       group by r.event_type
    )
    select (select array_agg(distinct gateway_payment_id) from noted), (select jsonb_agg(counted) from counted),
           (select array_agg(link_id)
              from (select link_id from noted where link_id is not null union select link_id from of_link) link)
  $sql$, source.name) using source.name, source.gateway, source.lender, ids into changed, counts, links;
  perform core.count_types(source.name, counts);
  if links is not null then
    changed := changed || core.name_by_link(source.gateway, links);
  end if;
  return changed;
end
$$;

-- Whether a corrected base view may read this event again: it could not be read or is of an unknown type, and no operator
-- has decided about it or sent it to the ledger anyway.
create or replace function core.may_be_reread(e core.event) returns boolean language sql stable as $$
  select (e.problem = 'unknown_event' or e.problem = 'unreadable' and e.gateway_payment_id = e.raw_id::text)
     and not exists (select from core.transaction t
                      where t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = e.kind
                        and (e.problem = 'unreadable' or t.problem = 'unknown_event')
                        and (t.assigned_loan_id is not null or t.operation_id is not null or t.decision is not null
                             -- A reopened payment may be booked by hand.
                             or t.decided_over is not null))
$$;
