-- A reference as core.transaction.refs names it, its value as in core.reference.
create or replace function core.reference_key(kind text, value text) returns text language sql immutable parallel safe as $$
  select kind || ':' || case when kind in ('payer', 'virtual_account') then base.upi_id(value) else value end
$$;

-- The references in these hints of one payment's events.
create or replace function core.references_of(hints jsonb[]) returns text[] language sql immutable parallel safe as $$
  select array_agg(distinct key order by key) from unnest(hints) h cross join lateral unnest(base.references_in(h)) key
$$;

-- What references say about a payment at its own time: the loan, and the first kind that names it; whether they name several
-- loans; and the loan that a customer or payer suggests. Always returns one row, of nulls where no reference is registered.
create or replace function core.match_references(wanted_gateway text, refs text[], paid_at timestamptz)
  returns table (loan text, matched_by text, disagrees boolean, suggested_loan text) language sql stable as $$
  select case when first_loan = last_loan then first_loan end,
         case when first_loan = last_loan then first_kind end,
         first_loan <> last_loan, case when first_suggested = last_suggested then first_suggested end
    from (select min(r.external_loan_id) filter (where rank is not null), max(r.external_loan_id) filter (where rank is not null),
                 (array_agg(r.kind order by rank))[1],
                 min(r.external_loan_id) filter (where rank is null), max(r.external_loan_id) filter (where rank is null)
            from core.reference r
           cross join lateral (select array_position(array['virtual_account', 'mandate', 'order', 'payment_link'], r.kind)) k (rank)
           where r.key = any(refs) and r.gateway = wanted_gateway
             -- Where no lender registers references, this is asked once, and no payment's are looked for.
             and exists (select from core.reference)
             -- Most references have no such day, and a join with the zone costs as much as the rest of this query.
             and (r.valid_from is null or r.valid_from <= (paid_at at time zone (select z.time_zone from core.day_zone z))::date)
             and (r.valid_until is null or r.valid_until >= (paid_at at time zone (select z.time_zone from core.day_zone z))::date))
         found (first_loan, last_loan, first_kind, first_suggested, last_suggested)
$$;

-- Whether a payment on its way would get another loan, or none, if it was settled now. False once somebody has assigned or
-- decided it, or it was at the ledger: only before that do events and references give a payment its loan. A payment that names its
-- loan and comes from outside gets a disagreement only from its events.
create or replace function core.is_matched_elsewhere(t core.transaction) returns boolean language sql stable as $$
  select coalesce((
    select case when t.matched_by is not null then m.loan is distinct from t.named_loan_id
                else (m.disagrees or m.loan <> t.named_loan_id)
                     and exists (select from core.event e
                                  where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                                    and e.status = 'captured' and e.set_aside is null and not e.is_outside) end
      from core.match_references(t.gateway, t.refs, t.paid_at) m
     where t.refs is not null and t.assigned_loan_id is null and t.decision is null and t.posting_number = 1), false)
$$;

-- How many payments in suspense this reference would give their loan, counted up to `most`.
create or replace function core.released_by(wanted_gateway text, wanted_key text, loan text, most integer) returns bigint
  -- The planner always uses the index of references: many more payments may be in suspense for the same reason.
  language sql stable set enable_seqscan = off set enable_indexscan = off as $$
  select count(*)
    from (select from (select * from core.transaction where refs @> array[wanted_key] and state = 'suspense' offset 0) t
           cross join lateral core.match_references(t.gateway, t.refs, t.paid_at) m
           where t.gateway = wanted_gateway and t.reason = 'no_loan_named'
             and t.decision is null and t.refused_reason is null and t.problem is null and m.loan = released_by.loan
           limit most) released
$$;

-- The next payments whose fate these references may change, in order of their ids. What is posted or decided stays as it is.
create or replace function core.payments_to_match(wanted_gateway text, keys text[], after uuid, most integer)
  returns table (id uuid, gateway_payment_id text) language sql stable
  set enable_seqscan = off set enable_indexscan = off set enable_nestloop = off as $$
  select t.id, t.gateway_payment_id
    from (select s.*
            from unnest(keys) key
           cross join lateral (select id, gateway_payment_id, gateway, assigned_loan_id, decision
                                 from core.transaction where refs @> array[key] and state = 'suspense'
                               -- Without the offset, all payments in suspense would be read for each key.
                               offset 0) s
          union
          select t.id, t.gateway_payment_id, t.gateway, t.assigned_loan_id, t.decision
            from core.transaction t cross join lateral unnest(t.refs) ref
           where t.state = 'waiting' and ref in (select unnest(keys))
          union
          select t.id, t.gateway_payment_id, t.gateway, t.assigned_loan_id, t.decision
            from core.transaction t
           where t.state = 'suspense' and t.reason = 'no_loan_named' and t.refs is null and array_position(keys, null) is not null
          offset 0) t
   where t.id > after and t.gateway = wanted_gateway and t.assigned_loan_id is null and t.decision is null
   order by t.id
   limit most
$$;

-- Saves references whose values the caller has locked, and notes that the next batch looks again at their payments. A reference
-- that `is_later` has the value of an earlier one in the list: the caller saves it in a later call.
create or replace function core.save_references(list jsonb, actor text)
  returns table (refusal text, is_new boolean, is_later boolean, before jsonb)
  -- A plan made while a file fills an empty table would go on reading the whole of it.
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
  with given as (
    select g.*, key, row_number() over (partition by key, gateway order by n) > 1 as is_later
      from jsonb_to_recordset(list) as g (
             n integer, gateway text, kind text, value text, external_loan_id text, valid_from date, valid_until date)
     cross join lateral core.reference_key(kind, value) key
  ), taken as (
    select g.n, min(r.external_loan_id) as other
      from given g
      join core.reference r on r.key = g.key and r.gateway = g.gateway and r.external_loan_id <> g.external_loan_id
     where not g.is_later and daterange(r.valid_from, r.valid_until, '[]') && daterange(g.valid_from, g.valid_until, '[]')
     group by g.n
  ), saved as (
    insert into core.reference (gateway, kind, value, external_loan_id, valid_from, valid_until, created_by)
    select g.gateway, g.kind, g.value, g.external_loan_id, g.valid_from, g.valid_until, actor
      from given g where not g.is_later and g.n not in (select n from taken) order by g.key
        on conflict (key, gateway, external_loan_id) do update set valid_from = excluded.valid_from, valid_until = excluded.valid_until
    returning key, gateway
  ), noted as (
    insert into core.changed_reference (gateway, key) select gateway, key from saved
  )
  -- This reads the table as it was before the statement.
  select 'The value belongs to the loan ' || other || ' in that time', r.id is null, g.is_later,
         case when (r.valid_from, r.valid_until) is distinct from (g.valid_from, g.valid_until) and r.id is not null
              then jsonb_build_object('valid_from', r.valid_from, 'valid_until', r.valid_until) end
    from given g
    left join taken using (n)
    left join core.reference r on r.key = g.key and r.gateway = g.gateway and r.external_loan_id = g.external_loan_id
   order by n;
end
$$;

-- Ends other loans' references on the day before this one begins, or removes them, and returns them as they were.
create or replace function core.end_other_references(wanted_gateway text, wanted_key text, loan text, first_day date, last_day date)
  returns table (external_loan_id text, valid_from text, valid_until text) language sql as $$
  with other as materialized (
    select r.*, coalesce(r.valid_from, '-infinity') < first_day is true as began_before
      from core.reference r
     where r.key = wanted_key and r.gateway = wanted_gateway and r.external_loan_id <> loan
       and daterange(r.valid_from, r.valid_until, '[]') && daterange(first_day, last_day, '[]')
  ), ended as (
    update core.reference r set valid_until = first_day - 1 from other o where r.id = o.id and o.began_before
  ), gone as (
    delete from core.reference r using other o where r.id = o.id and not o.began_before
  )
  select o.external_loan_id, o.valid_from::text, o.valid_until::text from other o
$$;

create or replace view ops.reference as
select gateway, kind, value, external_loan_id, valid_from, valid_until, created_by, created_at from core.reference;
comment on view ops.reference is 'Which loan a payment belongs to that names none';
