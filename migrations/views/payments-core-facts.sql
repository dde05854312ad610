-- The gateway whose payment a row is about: if its event could not be read, it may be another one than the gateway whose URL
-- the event came to.
create or replace function core.gateway_of(t core.transaction) returns text language sql immutable parallel safe as $$
  select case when t.problem = 'unreadable' then coalesce(t.hints ->> 'gateway', t.gateway) else t.gateway end
$$;

-- How many different facts of one payment, refund or chargeback are read when it is settled. A genuine one has a dozen; a
-- flood of events must not make each further one cost more.
create or replace function core.most_facts() returns integer language sql immutable parallel safe as $$ select 1000 $$;

-- How far a dispute has progressed; 0 for a refund.
create or replace function core.phase_of(hints jsonb) returns integer language sql immutable parallel safe as $$
  select coalesce(array_position(array['DISPUTE', 'CHARGEBACK', 'PRE_ARBITRATION', 'ARBITRATION'], upper(hints ->> 'phase')), 0)
$$;

create or replace function core.statement_of(e core.event) returns text language sql stable parallel safe as $$
  select jsonb_build_array(e.status, e.amount::text, e.currency, e.paid_at, e.external_loan_id, e.of_payment_id, e.problem,
           e.lender, e.verified_by, core.phase_of(e.hints), e.hints ->> 'order_id',
           -- These name the loan, the fee and the same money under another id.
           base.references_in(e.hints), e.hints -> 'payer_fee', e.hints -> 'cf_txn_id', e.hints -> 'utr')::text
$$;

-- With whose secret an event is verified, if it is not another lender's.
create or replace function core.own_proof(e core.event) returns text language sql immutable parallel safe as $$
  select case when not e.is_foreign then e.verified_by end
$$;

-- Whether an event is verified or from networks that a lender allows: a stranger cannot send such events at will.
create or replace function core.is_trusted(wanted_gateway text, verified_by text, address inet) returns boolean
  language sql stable as $$
  select verified_by is not null
      or exists (select from core.allowed_network n where n.gateway = wanted_gateway and address <<= n.network)
$$;

-- Whether an event is proved to a lender: one of the lender's secrets signed it, or it was fetched from the gateway with the
-- credentials that serve this lender or with another lender's own.
create or replace function core.is_proved(account text, proved_by text[], event_lender text, verified_by text) returns boolean
  language sql immutable parallel safe as $$
  select case when verified_by = 'gateway_api' then event_lender <> 'UNKNOWN' or account = ''
              else coalesce(string_to_array(verified_by, ',') && proved_by, false) end
$$;

-- Saves the loan or reference that these links' events give their payments. Of each link only a few events are read, first those
-- that a stranger cannot send at will. Returns the ids of the payments.
create or replace function core.name_by_link(wanted_gateway text, links text[]) returns text[] language sql volatile as $$
  with named as (
    insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, external_loan_id, lender, verified_by,
      address, received_at, hints)
    select l.source, l.raw_id, l.gateway, 'payment', p.gateway_payment_id, 'named', l.external_loan_id, l.lender, l.verified_by,
           l.address, l.received_at, l.hints
      from unnest(links) link (id)
     cross join lateral (
       select * from core.link_event e
        where e.gateway = wanted_gateway and e.link_id = link.id
        order by core.is_trusted(e.gateway, e.verified_by, e.address) desc, e.received_at, e.raw_id
        limit 20) l
      join core.event p
        on p.hints #>> '{order_tags,cf_link_id}' = link.id and p.gateway = wanted_gateway and p.set_aside is null
           and p.kind = 'payment' and p.status = 'captured' and p.problem is distinct from 'unreadable'
    on conflict do nothing
    returning gateway_payment_id
  )
  select array_agg(distinct gateway_payment_id) from named
$$;

-- The events that state different facts and their number. Each has the reason why it is ignored, if there is one.
create or replace function core.weigh_events(wanted_gateway text, ids text[])
  returns table (source text, raw_id uuid, kind text, gateway_payment_id text, of_payment_id text, status text,
    amount numeric, currency text, paid_at timestamptz, external_loan_id text, problem text, lender text, verified_by text,
    address inet, received_at timestamptz, hints jsonb, facts bigint, all_outside boolean, ignored_for text)
  language sql stable as $$
  select e.source, e.raw_id, e.kind, e.gateway_payment_id, e.of_payment_id, e.status, e.amount, e.currency, e.paid_at,
         e.external_loan_id, e.problem, e.lender, e.proof, e.address, e.received_at, e.hints, e.facts, e.all_outside,
         case when e.status = 'unknown' and e.is_known then 'unknown_event'
              when e.is_outside then 'sender_not_allowed'
              -- A link's event must be verified if its payment is, whichever lender either names.
              when e.status = 'named' and e.proof is null and e.verified_lenders is not null then 'superseded'
              -- A verified event takes the place of an unverified one, unless they name different lenders: then payments are
              -- held. A refund or chargeback would release its payment.
              when e.proof is null and e.verified_lenders is not null
                     and (e.kind <> 'payment' or e.lender = 'UNKNOWN' or e.is_foreign or e.verified_lenders && array[e.lender, 'UNKNOWN'])
                     then 'superseded'
              when e.is_unproved then 'not_confirmed' end
    from (select e.*, s.proof, count(*) over same as facts, bool_or(s.is_known) over same as is_known,
                 -- Events of unknown types do not affect the others.
                 coalesce(bool_and(e.is_outside) filter (where s.is_known) over same, bool_and(e.is_outside) over same) as all_outside,
                 case when bool_or(s.is_known) over same
                   then array_agg(e.lender) filter (where s.is_known and s.proof is not null and not e.is_outside) over same
                   else array_agg(e.lender) filter (where s.proof is not null and not e.is_outside) over same
                 end as verified_lenders
            from core.event e
           cross join lateral (select e.status not in ('named', 'unknown'), core.own_proof(e)) s (is_known, proof)
           where e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null
          window same as (partition by e.kind, e.gateway_payment_id)) e
$$;

-- The gateway's own answer names no lender: the lender of another event that states the same facts.
create or replace function core.lender_beside(wanted_gateway text, wanted_kind text, payment_id text, amount numeric,
  currency text, loan text) returns text language sql stable as $$
  select e.lender
    from core.event e
   where e.gateway_payment_id = payment_id and e.gateway = wanted_gateway and e.kind = wanted_kind and e.set_aside is null
     and e.lender <> 'UNKNOWN' and not e.is_foreign and e.amount = lender_beside.amount and e.currency = lender_beside.currency
     and coalesce(e.external_loan_id = loan, true)
   order by e.received_at, e.raw_id
   limit 1
$$;

-- Whether there are so many different facts that one of those set aside might have counted. What a stranger sends from
-- outside the lender's networks does not count, and displaces no trusted event.
create or replace function core.has_too_many(wanted_gateway text, wanted_kind text, payment_id text) returns boolean
  language sql stable as $$
  select count(*) >= core.most_facts() and (bool_or(e.ignored_for is null and not t.is_trusted) or bool_and(t.is_trusted))
    from core.weigh_events(wanted_gateway, array[payment_id]) e
   cross join lateral (select e.facts < core.most_facts() or core.is_trusted(wanted_gateway, e.verified_by, e.address)) t (is_trusted)
   where e.kind = wanted_kind
$$;

-- Sets aside events that repeat an earlier one's facts, and those beyond the limit: first what strangers sent last, then
-- what was sent again from other addresses. Events that are set aside stay in the payment's list.
create or replace function core.set_aside_events(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  with event as (
    select e.source, e.raw_id, e.kind, e.gateway_payment_id, e.received_at, e.address, core.statement_of(e) as statement,
           core.is_trusted(wanted_gateway, null, e.address) as is_inside,
           core.is_trusted(wanted_gateway, core.own_proof(e), e.address) as is_trusted,
           -- `turn` counts the earlier events that say otherwise: an answer that changes back is not a repeat.
           case when e.kind = 'refund' and e.verified_by = 'gateway_api' then
             case e.status when 'undone' then count(*) filter (where e.status <> 'undone' and e.verified_by is not null) over earlier
                           else count(*) filter (where e.status = 'undone' and e.verified_by = 'gateway_api') over earlier end
           end as turn
      from core.event e
     where e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null
    window earlier as (partition by e.kind, e.gateway_payment_id order by e.received_at, e.raw_id)
  ), compared as (
    select *, row_number() over (partition by kind, gateway_payment_id, statement, address, turn
                                     order by received_at, raw_id, source) > 1 as is_repeat
      from event
  ), copied as (
    -- A genuine event may be sent again from many addresses, which must not displace what is sent after it.
    select *, row_number() over (partition by kind, gateway_payment_id, is_repeat, statement
                                     order by is_inside desc, received_at, raw_id) as copy
      from compared
  ), ranked as (
    select *, row_number() over (partition by kind, gateway_payment_id, is_repeat
                                     order by is_trusted desc, copy, received_at, raw_id) as rank
      from copied
  )
  update core.event e
     set set_aside = case when r.is_repeat then 'repeat' else 'too_many' end
    from ranked r
   where (r.is_repeat or r.rank > core.most_facts())
     and e.source = r.source and e.raw_id = r.raw_id and e.kind = r.kind and e.gateway_payment_id = r.gateway_payment_id
$$;

-- What the gateway said about a payment, refund or chargeback that nothing else proves.
create or replace function core.unconfirmed_of(wanted_gateway text, wanted_kind text, payment_id text) returns text
  language sql stable as $$
  select case when bool_and(q.said is not null) then 'denied' else 'unasked' end
    from core.question q
   where q.gateway_payment_id = payment_id and q.gateway = wanted_gateway and q.kind = wanted_kind
$$;

-- Whether this loan is neither the payment's own nor one that an operator overruled by choosing another. Null if the overruled
-- loans were not kept.
create or replace function core.is_another_loan(t core.transaction, loan text) returns boolean language sql immutable parallel safe as $$
  select case when t.assigned_loan_id is null then loan <> t.named_loan_id
              else loan <> t.assigned_loan_id and not t.assigned_over -> 'loans' ? loan end
$$;

-- Whether an event states other money or another loan than a payment that is decided, posted or being posted.
create or replace function core.contradicts(t core.transaction, amount numeric, currency text, external_loan_id text)
  returns boolean language sql immutable parallel safe as $$
  select (amount <> t.amount or currency <> t.currency or core.is_another_loan(t, external_loan_id)) is true
$$;

-- Whether this payment, refund or chargeback stays as it is, whatever later events say: it is posted or being posted, it was at
-- the ledger before money went back, all of it went back, it is a booked refund, or an operator has decided. If a person undid a
-- payment at the ledger and an operator assigned it again, its events decide again.
create or replace function core.is_kept(t core.transaction) returns boolean language sql immutable parallel safe as $$
  select t.state in ('posting', 'posted') or t.decision is not null
      or t.returned_amount is not null and (t.kind <> 'payment' or t.posting_number > 1 or core.posted_amount(t) <= 0)
      or t.posting_number > 1 + cardinality(array_positions(t.overruled, 'reversed_at_ledger'))
$$;

-- The events that state different facts, each with the reason why it does not count; null if it does.
create or replace function core.why_not_counted(t core.transaction)
  returns table (source text, raw_id uuid, reason text) language sql stable as $$
  select e.source, e.raw_id, case
           when e.ignored_for is not null then e.ignored_for
           when e.problem in ('unreadable', 'unknown_event') then e.problem
           when e.status = 'failed' and bool_or(e.status = 'captured' and e.ignored_for is null) over () then 'captured_after_all'
           when e.kind <> 'payment' or e.status <> 'captured' then null
           when core.contradicts(t, e.amount, e.currency, e.external_loan_id) is not true then null
           when t.decision is not null then 'decided_by_operator'
           when core.is_kept(t) then 'already_posted' end
    from core.weigh_events(t.gateway, array[t.gateway_payment_id]) e
   where e.kind = t.kind
$$;

-- The other payments of the same money, both of gateway B. It may report a mandate debit also as a payment: the debit, with a
-- number of its own, then names that payment. And it may report a transfer in two formats, each with another number, but both with
-- the bank's reference, perhaps in other capitals. Within one format, different numbers are different payments. Each branch reads
-- an index: an "or" of them would read all payments.
create or replace function core.twins_of(t core.transaction) returns setof core.transaction language sql stable as $$
  select o.*
    from (select * from core.transaction where gateway_payment_id = t.hints ->> 'cf_txn_id'
          union all
          select * from core.transaction where hints ->> 'cf_txn_id' = t.gateway_payment_id
          union all
          -- Where there is no reference, programs write zeros or a word.
          select *
            from core.transaction
           where lower(base.bank_reference(hints)) = lower(base.bank_reference(t.hints))
             and base.bank_reference(hints) ~ '[1-9]' and gateway = 'gateway_b' and kind = 'payment'
             and (hints ? 'reported_by') = (not t.hints ? 'reported_by')) o
   where o.gateway = t.gateway and o.kind = t.kind and o.id <> t.id and o.amount = t.amount and o.currency = t.currency
$$;

-- Whether an operator has said that this is other money than its twins'.
create or replace function core.is_of_own_money(t core.transaction) returns boolean language sql immutable parallel safe as $$
  select t.decision is not null or 'ledger_refused' = any(t.overruled)
$$;

-- Whether this twin is no reason to hold the payment. Either a stranger may have sent it: neither the gateway nor a person vouches
-- for the twin, while the payment is verified, and so is its other loan. (Within one lender, which may take unverified events, the
-- twin counts.) Or the twin is only another lender's, though verified.
create or replace function core.is_outweighed(twin core.transaction, t core.transaction) returns boolean language plpgsql stable as $$
begin
  return not twin.is_verified and twin.decision is null and twin.assigned_loan_id is null
         and t.lender not in ('UNKNOWN', twin.lender)
         and t.is_verified and t.assigned_loan_id is null and (t.hints -> 'unverified' ? 'loan') is not true
         and t.external_loan_id is not null and twin.external_loan_id is distinct from t.external_loan_id
      or core.is_foreign_twin(twin, t);
end
$$;

-- The twin that keeps this payment from being posted, if there is one:
-- 1. it is booked or being booked, even if some of the money went back;
-- 2. the ledger may have its money, by a person's or the ledger's word. Not if the ledger has told this payment the same, on the
--    same loan: this payment asks there again;
-- 3. an operator's word sends it to the ledger;
-- 4. while this payment is being posted, a refund or dispute keeps the twin in suspense, or did so until the twin was dismissed.
-- A transfer belongs to one loan, so the twin's loan is named if it is another one.
create or replace function core.twin_of(t core.transaction) returns text
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (select concat(o.gateway_payment_id, ' of loan ' || nullif(o.external_loan_id, t.external_loan_id))
    from core.twins_of(t) o
   where (o.state in ('posting', 'posted', 'handled', 'returned') or o.returned_amount is not null
          or o.refused_reason in ('reversed_at_ledger', 'missing_at_ledger')
          or o.may_be_booked and (not t.may_be_booked or o.external_loan_id is distinct from t.external_loan_id)
          or o.decision is null and o.decided_over is not null
          or o.decision = 'post' or o.state = 'waiting' and core.is_of_own_money(o.*)
          or t.state = 'posting' and (o.state = 'suspense' and o.reason in ('refund', 'chargeback')
                                      or o.state = 'dismissed' and exists (select from core.refunds_of(jsonb_populate_record(o,
                                           jsonb_build_object('is_verified', t.is_verified))))))
     and not core.is_outweighed(o, t)
   limit 1);
end
$$;

-- Whether this payment, which waits to be posted, has a twin on its way or a twin that goes first: otherwise each would be held
-- back by the other. Order: other money by an operator's word, which waits for no twin; the verified payment; the newer of a
-- transfer's two formats; the older payment.
create or replace function core.awaits_twin(t core.transaction) returns boolean
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  -- With a reference that more payments have, as in test modes, each would read all the others. Any of them shows the format.
  most_twins constant integer := 100;
begin
  if t.gateway <> 'gateway_b' or core.is_of_own_money(t) then
    return false;
  end if;
  return exists (
    select from (select * from core.twins_of(t) o where o.state = 'waiting' and o.unconfirmed is null limit most_twins) o
     where not core.is_outweighed(o.*, t)
       and (core.is_of_own_money(o.*)
            or (not o.is_verified, (o.hints ? 'reported_by') is true, o.received_at, o.id)
                 < (not t.is_verified, (t.hints ? 'reported_by') is true, t.received_at, t.id)))
      or exists (select from core.twins_of(t) o where o.state = 'posting' and not core.is_outweighed(o, t));
end
$$;
