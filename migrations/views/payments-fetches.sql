-- Reads the pending events of the fetch's gateway, unless this fetch has read them before.
create or replace function core.read_pending(wanted_backfill uuid) returns void language plpgsql volatile as $$
declare
  store text;
  of_gateway text;
begin
  select gateway into of_gateway from core.backfill where id = wanted_backfill;
  for store in
    select p.source
      from (select distinct source from core.pending_event) p
     where exists (select from raw.named_after(p.source) n where n.gateway = of_gateway)
  loop
    execute format($sql$
      insert into core.backfill_pending (backfill_id, source, raw_id, payment_id, is_verified)
      select $1, $2, r.id, f.payment_id, r.verified_by is not null
        from core.pending_event p
        join raw.%I r on r.id = p.raw_id
        left join lateral (
          select b.payment_id from base.%I(r.body) b where b.kind = 'payment' and b.status = 'captured') f on true
       where p.source = $2
         and not exists (select from core.backfill_pending n
                          where n.backfill_id = $1 and n.source = p.source and n.raw_id = p.raw_id)$sql$,
      store, of_gateway) using wanted_backfill, store;
  end loop;
end
$$;

-- The payments of a page that no verified event reports, or none that the loan's lender takes as such. `known`: whether another
-- one does. The events that the fetch has read before any batch count too.
create or replace function core.unverified_payments(wanted_backfill uuid, wanted_gateway text, ids text[])
  returns table (payment_id text, known boolean) language sql stable as $$
  select id, trust is not null
    from unnest(ids) id
   cross join lateral (
     select max(said.trust)
       from (select (core.own_proof(e) is not null and not e.is_outside)::integer
               from core.events_of(wanted_gateway, id) e
              where e.kind = 'payment' and e.status = 'captured'
             union all
             select n.is_verified::integer from core.backfill_pending n
              where n.backfill_id = wanted_backfill and n.payment_id = id) said (trust)) t (trust)
   where trust is distinct from 1
      or exists (select from core.transaction t
                  where t.gateway_payment_id = id.id and t.gateway = wanted_gateway and t.kind = 'payment'
                    and core.is_unproved_to_lender(t))
$$;

-- The captured payments that name no loan and wait for a person, and of which no answer of the gateway is stored: the order or
-- transfer that a fetch asks for may name it.
create or replace function core.nameless_payments(wanted_gateway text, ids text[]) returns setof text language sql stable as $$
  select t.gateway_payment_id
    from core.transaction t
   where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway and t.kind = 'payment'
     and t.is_captured and t.external_loan_id is null and t.decision is null
     and not exists (select from core.events_of(wanted_gateway, t.gateway_payment_id) e
                      where e.kind = 'payment' and e.verified_by = 'gateway_api')
$$;

-- The positions of those bodies, in base64, with a refund or chargeback that no verified event reports with this outcome.
-- That a refund failed counts only as reported by the gateway's own answer: if it was made before, nothing else releases
-- its payment.
create or replace function core.unreported(wanted_gateway text, bodies text[]) returns setof bigint language plpgsql stable as $$
begin
  return query execute format($sql$
    select distinct w.place
      from unnest($2) with ordinality w (body, place)
     cross join lateral base.%I(decode(w.body, 'base64')) f
     cross join lateral (select unnest(core.stored_ids($1, f.kind, f.payment_id)) offset 0) stored (id)
     where f.kind in ('refund', 'chargeback')
       -- As "not exists", this would be planned for a thousand facts in each body, and read all events.
       and (select true
              from core.events_of($1, stored.id) e
             where e.kind = f.kind
               and core.own_proof(e) is not null and not e.is_outside
               and (f.status = 'open' or e.status = f.status or f.status = 'done' and e.status = 'never_captured')
               -- A dispute that was decided may be claimed, and decided, again in its next phase.
               and core.phase_of(e.hints) >= core.phase_of(f.hints)
               and (f.kind <> 'refund' or f.status <> 'undone' or e.verified_by = 'gateway_api')
               -- A refund that failed may be made after all, and fail again. A row of gateway B's reconciliation says what was then.
               and (f.kind <> 'refund' or f.hints ? 'is_of_row' and e.paid_at is not distinct from f.paid_at
                    or (select true
                          from core.events_of($1, stored.id) u
                         where u.kind = 'refund'
                           and case when f.status = 'undone' then u.status in ('done', 'never_captured') and u.verified_by is not null
                                    else u.status = 'undone' and u.verified_by = 'gateway_api' end
                           and not u.is_outside and u.received_at > e.received_at
                         limit 1) is null)
             limit 1) is null$sql$,
    wanted_gateway) using wanted_gateway, bodies;
end
$$;

-- How many answers of the gateway about the refund or chargeback in this body (in base64) are stored.
create or replace function core.times_answered(wanted_gateway text, body text) returns bigint language plpgsql stable as $$
declare
  times bigint;
begin
  execute format($sql$
    select count(distinct e.raw_id)
      from base.%I(decode($1, 'base64')) f
     cross join lateral unnest(core.stored_ids($2, f.kind, f.payment_id)) stored (id)
     cross join lateral core.events_of($2, stored.id) e
     where e.kind = f.kind and e.verified_by = 'gateway_api'$sql$, wanted_gateway) into times using body, wanted_gateway;
  return times;
end
$$;

-- The payments of which the gateway has returned more than the refunds that verified events report here.
create or replace function core.with_unknown_refunds(wanted_gateway text, ids text[], refunded numeric[])
  returns table (payment_id text) language sql stable as $$
  select w.id
    from unnest(ids, refunded) w (id, refunded)
   where w.refunded > (
     select coalesce(sum(r.amount), 0)
       from (select max(e.amount) as amount
               from core.event e
              where e.of_payment_id = w.id and e.gateway = wanted_gateway and e.kind = 'refund' and e.set_aside is null
                and core.own_proof(e) is not null and not e.is_outside
              group by base.plain_refund_id(e.gateway_payment_id)
             having bool_or(e.status in ('done', 'never_captured')) and not bool_or(e.status = 'undone')) r)
$$;
