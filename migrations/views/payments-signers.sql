-- Whether an event is proved to this lender: by one of its secrets, or because it was fetched for it.
create or replace function core.proves(s core.signing, event_lender text, verified_by text) returns boolean
  language sql immutable parallel safe as $$
  select case when verified_by = 'gateway_api' then event_lender = s.lender or event_lender = 'UNKNOWN' and s.account = ''
              else string_to_array(verified_by, ',') && s.proved_by end
$$;

-- Marks verified events that count as unverified because they are another lender's. The payment's lenders are those with the
-- product of a loan that the payment or its references name. An event is marked if none of these signed it, while a captured event
-- is proved to one of them, which validates signatures. (If several lenders prove the payment, nobody knows whose it is.) What the
-- gateway says without a lender proves the payment, but not who may report its refunds. `touched` has payments together with their
-- refunds. If a refund's payment is not known, the other events of the refund decide.
create or replace function core.mark_foreign(wanted_gateway text, touched text[]) returns void language sql volatile as $$
  with event as materialized (
    select e.*, case when e.kind = 'payment' then e.gateway_payment_id else e.of_payment_id end as payment_id from core.event e
     where e.gateway_payment_id = any(touched) and e.gateway = wanted_gateway and e.set_aside is null
       and e.verified_by is not null and not e.is_outside
  ), compared as (
    select *, bool_or(is_foreign) over payment or min(verified_by) over payment <> max(verified_by) over payment
              or min(verified_by) over same <> max(verified_by) over same as is_mixed
      from event window payment as (partition by payment_id), same as (partition by kind, gateway_payment_id)
  ), judged as materialized (
    select * from compared where is_mixed or payment_id in (select payment_id from compared where is_mixed)
  ), proof as materialized (
    select v.verified_by, v.lender, array_agg(distinct s.product) as products
      from (select distinct verified_by, lender from judged) v
      join core.signing s on s.gateway = wanted_gateway and s.validates and core.proves(s, v.lender, v.verified_by)
     group by v.verified_by, v.lender
  ), deciding as (
    select n.payment_id, array_agg(n.product) as products, array_agg(n.product) filter (where not is_common) as of_reversals
      from (select distinct j.payment_id, p.product
              from judged j
              left join core.transaction t on t.gateway_payment_id = j.payment_id and t.gateway = wanted_gateway and t.kind = 'payment'
              left join lateral (
                select m.loan from (select where j.external_loan_id is null offset 0) unnamed
                 cross join lateral core.match_references(wanted_gateway, base.references_in(j.hints), j.paid_at) m
              ) m on true
              join core.loan_product p on p.external_loan_id = coalesce(t.assigned_loan_id, j.external_loan_id, m.loan, t.external_loan_id)
             where j.kind = 'payment' and j.status in ('captured', 'named')) n
      join (select j.payment_id, product, bool_and(j.verified_by = 'gateway_api' and j.lender = 'UNKNOWN') as is_common
              from judged j join proof f using (verified_by, lender) cross join lateral unnest(f.products) product
             where j.kind = 'payment' and j.status = 'captured' group by j.payment_id, product) proved using (payment_id, product)
     group by n.payment_id
  ), own as materialized (
    select j.*, f.products as proves, case when j.kind = 'payment' then d.products else d.of_reversals end as of_payment
      from judged j left join proof f using (verified_by, lender) left join deciding d using (payment_id)
  ), weighed as (
    select o.*, o.verified_by <> 'gateway_api'
                and case when coalesce(o.of_payment, r.products) is not null
                         then (o.proves && coalesce(o.of_payment, r.products)) is not true
                         -- Until the ledger has been asked again for the loan's lender, the earlier result stands.
                         else o.is_foreign and exists (select from core.transaction t left join core.loan_product p using (external_loan_id)
                           where t.gateway_payment_id = o.payment_id and t.gateway = wanted_gateway and t.kind = 'payment'
                             and external_loan_id is not null and p.product is null) end
                -- Lenders may have shared the secret before the settings changed.
                and (o.is_foreign or o.received_at >= (select c.changed_at from core.signing_change c))
                -- A lender that is no longer in the settings may have been renamed.
                and string_to_array(o.verified_by, ',') <@ array(
                  select s.lender from core.signing s where s.gateway = wanted_gateway) as is_foreign_now
      from own o
      left join (select kind, gateway_payment_id, array_agg(distinct product) as products
                   from own cross join lateral unnest(of_payment) product
                  where kind <> 'payment' and proves && of_payment group by kind, gateway_payment_id) r using (kind, gateway_payment_id)
  ), marked as (
    update core.event e set is_foreign = w.is_foreign_now from weighed w
     where w.is_foreign_now <> w.is_foreign
       and e.source = w.source and e.raw_id = w.raw_id and e.kind = w.kind and e.gateway_payment_id = w.gateway_payment_id
    returning e.kind, e.gateway_payment_id
  )
  update core.transaction t set is_stale = true from (select distinct gateway_payment_id from marked where kind = 'payment') m
   where t.gateway_payment_id = m.gateway_payment_id and t.gateway = wanted_gateway and t.kind = 'payment' and t.state = 'posting'
$$;

-- Marks the events that do not count, or only as unverified, by whatever the settings say of senders. `news`: what has new
-- events. Returns whether the settings say anything.
create or replace function core.mark_events(wanted_gateway text, ids text[], news text[]) returns boolean language plpgsql volatile as $$
declare
  has_networks boolean := exists (select from core.allowed_network) or exists (select from core.event where is_outside);
  has_signers boolean := exists (select from core.signing) or exists (select from core.event where is_foreign);
  has_proofs boolean := exists (select from core.confirming) or exists (select from core.event where is_unproved);
begin
  if has_networks then
    perform core.mark_outside(wanted_gateway, ids);
  end if;
  if has_signers then
    perform core.mark_foreign(wanted_gateway, ids);
  end if;
  if has_proofs then
    perform core.mark_unproved(wanted_gateway, ids);
    perform core.note_questions(wanted_gateway, ids, news);
  end if;
  return has_networks or has_signers or has_proofs;
end
$$;

-- Copies from the settings whose signatures prove events to whom. If that has changed, an event that was another lender's may no
-- longer be one: the payments with such events are settled again.
create or replace function core.copy_signing(settings jsonb) returns void language plpgsql as $$
declare
  before core.signing[] := array(select s from core.signing s);
  gone jsonb := core.copy_settings('core.signing', settings);
begin
  if gone is null then
    return;
  end if;
  delete from core.signing_change;
  insert into core.signing_change values (clock_timestamp());
  -- Other payments come first: these were judged before.
  insert into core.unjudged_payment (gateway, gateway_payment_id, may_wait)
  select gateway, case when kind = 'payment' then gateway_payment_id else coalesce(of_payment_id, gateway_payment_id) end, true
    from core.event e
   where is_foreign
     and (exists (select from core.signing s where s.gateway = e.gateway and s <> all(before) and core.proves(s, e.lender, e.verified_by))
          or e.gateway in (select g.gateway from jsonb_populate_recordset(null::core.signing, gone) g where g.validates))
  on conflict do nothing;
end
$$;

-- The refunds and chargebacks that these payments' own lender reports, although an earlier event of another lender attributed them
-- to another payment: nobody knows whose they are.
create or replace function core.claimed_elsewhere(wanted_gateway text, ids text[]) returns table (payment_id text, id uuid)
  language plpgsql stable rows 1 set enable_seqscan = off as $$
begin
  if not exists (select from core.signing) then
    return;
  end if;
  return query
  select e.of_payment_id, r.id
    from core.event e
    join core.transaction r
      on r.gateway_payment_id = e.gateway_payment_id and r.gateway = e.gateway and r.kind = e.kind and r.of_payment_id <> e.of_payment_id
   where e.of_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null and not e.is_outside
     and (e.verified_by = 'gateway_api' or exists (
       select from core.event m
        where m.gateway_payment_id = e.of_payment_id and m.gateway = e.gateway and m.kind = 'payment' and m.status = 'captured'
          and m.set_aside is null and core.own_proof(m) = core.own_proof(e)))
     and not exists (
       select from core.event o
        where o.gateway_payment_id = e.gateway_payment_id and o.gateway = e.gateway and o.kind = e.kind and o.set_aside is null
          and o.of_payment_id = r.of_payment_id and (o.verified_by is null or o.verified_by = e.verified_by or o.lender = e.lender))
   order by e.received_at, e.raw_id
   limit core.most_refunds();
end
$$;

-- Whether this twin is another lender's, and so no reason against a payment of another loan: the lender of the payment's loan signed
-- the payment, but not the twin.
create or replace function core.is_foreign_twin(twin core.transaction, t core.transaction) returns boolean
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  if not (twin.is_verified and t.is_verified and num_nonnulls(twin.decision, twin.assigned_loan_id, t.assigned_loan_id) = 0
          and twin.external_loan_id <> t.external_loan_id) is true or not exists (select from core.signing) then
    return false;
  end if;
  return (
    select bool_or(e.is_own and e.gateway_payment_id = t.gateway_payment_id)
             and not bool_or(e.is_own and e.gateway_payment_id = twin.gateway_payment_id)
      from (select e.gateway_payment_id, exists (
                     select from core.signing s
                       join core.loan_product p on p.product = s.product and p.external_loan_id = t.external_loan_id
                      where s.gateway = e.gateway and s.validates and core.proves(s, e.lender, e.verified_by)) as is_own
              from core.event e
             where e.gateway_payment_id in (t.gateway_payment_id, twin.gateway_payment_id) and e.gateway = t.gateway and e.kind = 'payment'
               and e.status = 'captured' and e.set_aside is null and not e.is_outside and core.own_proof(e) is not null) e) is true;
end
$$;
