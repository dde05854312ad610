-- The loan and the payer's fee of a payment, as unverified events of the same money state them where the gateway's own answer does
-- not. The loan is lent only if the answer's references name none either. `hints.unverified` says which of the two was lent. The
-- loan's lender may not accept that, which is checked before posting.
create or replace function core.lent(wanted_gateway text, payment_id text, amount numeric, currency text, paid_at timestamptz,
  named_loan text, own_refs text[], own_hints jsonb) returns table (loan text, disagrees boolean, refs text[], hints jsonb)
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  with event as (
    select e.*
      from core.event e
     where e.gateway_payment_id = payment_id and e.gateway = wanted_gateway and e.kind = 'payment' and e.set_aside is null
       and e.status in ('captured', 'named') and not e.is_outside and not e.is_unproved
  ), found as (
    select max(e.external_loan_id) filter (where e.status = 'captured') as loan,
           min(e.external_loan_id) filter (where e.status = 'captured') as least_loan,
           max(e.external_loan_id) filter (where e.status = 'named') as link_loan,
           min(e.external_loan_id) filter (where e.status = 'named') as least_link_loan,
           array(select distinct key from unnest(own_refs || core.references_of(array_agg(e.hints))) key
                  order by key) as refs,
           (array_agg(e.hints order by (e.hints ? 'payer_fee_differs') desc, e.received_at, e.raw_id)
              filter (where e.hints ? 'payer_fee' and (own_hints ? 'payer_fee') is not true))[1] as fee
      from event e
     where (e.verified_by is null or e.is_foreign) and e.problem is null
       and (e.status = 'named' or e.amount = lent.amount and e.currency = lent.currency and coalesce(e.external_loan_id = named_loan, true))
       and not exists (select from event v where v.status = 'captured' and v.verified_by <> 'gateway_api' and not v.is_foreign)
    -- A link's events do not say which money came.
    having bool_or(e.status = 'captured')
  )
  select case when l.of_loan then coalesce(f.loan, f.link_loan) end,
         l.of_loan and coalesce(f.least_loan <> f.loan, f.loan is null and f.least_link_loan <> f.link_loan, false),
         case when l.of_loan then nullif(f.refs, '{}') end,
         jsonb_strip_nulls(jsonb_build_object('payer_fee', f.fee -> 'payer_fee', 'payer_fee_differs', f.fee -> 'payer_fee_differs',
           'unverified', array_remove(array[case when l.of_loan then 'loan' end, case when f.fee is not null then 'payer_fee' end], null)))
    from found f
   cross join lateral (
     select named_loan is null
            and (f.loan is not null or f.link_loan is not null or not f.refs <@ coalesce(own_refs, '{}'))
            and not exists (select from core.match_references(wanted_gateway, own_refs, paid_at) m where m.loan is not null or m.disagrees)
       offset 0) l (of_loan)
   where l.of_loan or f.fee is not null;
end
$$;

-- What is posted or decided keeps its money and loan. Later events that state the same name its lender, if none was known, and may
-- prove it. Proof waits for the end of a posting, which may be at the ledger on the day of an unverified event.
create or replace function core.add_to_kept(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  with added as materialized (
    select t.id, t.is_verified or s.proves and t.state <> 'posting' as is_verified,
           case when t.lender <> 'UNKNOWN' then t.lender
                else coalesce(s.lender, case when t.is_verified then core.lender_beside(
                  wanted_gateway, t.kind, t.gateway_payment_id, t.amount, t.currency, t.external_loan_id) end, t.lender) end as lender
      from core.transaction t
     cross join lateral (
       select (array_agg(e.lender order by e.received_at, e.raw_id) filter (where e.lender <> 'UNKNOWN'))[1] as lender,
              coalesce(bool_or(e.verified_by is not null and e.external_loan_id = t.external_loan_id), false) as proves
         from core.weigh_events(wanted_gateway, array[t.gateway_payment_id]) e
        where e.kind = t.kind and e.ignored_for is null and (e.kind <> 'payment' or e.status = 'captured')
          and not core.contradicts(t, e.amount, e.currency, e.external_loan_id)) s
     where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway and core.is_kept(t)
       and (t.lender = 'UNKNOWN' or not t.is_verified)
  )
  update core.transaction t set lender = a.lender, is_verified = a.is_verified
    from added a where a.id = t.id and (t.lender, t.is_verified) <> (a.lender, a.is_verified)
$$;
