-- Whether this can be a loan's external id, as in an operation.
create or replace function core.can_be_loan(name text) returns boolean language sql immutable parallel safe as $$
  select length(name) between 1 and 100 and name !~ '[\x01-\x1f\x7f]' and name !~ '^\s*\.{0,2}\s*$'
$$;

-- The fate of what nothing proves depends on whether its gateway was asked.
create or replace function core.fate_of_unconfirmed(unconfirmed text) returns text[] language sql immutable parallel safe as $$
  select case unconfirmed when 'denied' then array['suspense', 'not_at_gateway', null] else array['waiting', null, null] end
$$;

-- The fate of a refund or chargeback depends on whether it is proved, whether all its events come from outside, what the
-- other events say, and whether its payment was captured.
create or replace function core.fate_of_refund(kind text, all_outside boolean, is_done boolean, is_undone boolean,
  is_of_nothing boolean, is_payment_captured boolean, unconfirmed text default null, refused_reason text default null,
  is_due boolean default false, is_restored boolean default false)
  returns text[] language sql immutable parallel safe as $$
  select case
    --   condition                                           state       reason                objection
    when unconfirmed is not null                      then core.fate_of_unconfirmed(unconfirmed)
    when all_outside                                  then array['suspense', 'sender_not_allowed', null]
    -- An operator has confirmed that the gateway took the refund or chargeback back, perhaps in the same phase.
    when is_restored and is_undone                    then array['failed',   null,                 null]
    when refused_reason is not null and (is_done or not is_undone)
                                                      then array['suspense', refused_reason,       null]
    when is_due                                       then array['waiting',  null,                 null]
    when is_done and not is_of_nothing                then array['suspense', kind,                 null]
    when is_undone and not is_done                    then array['failed',   null,                 null]
    -- A refund of a payment that was never captured takes nothing back.
    when is_of_nothing and is_payment_captured is not true
                                                      then array['returned', null,                 null]
    else                                                   array['suspense', kind,                 null] end
$$;

-- The fate that an operator has decided, or that a payment, refund or chargeback keeps, because it is booked or on its way; null
-- if neither. `objection`: to what is decided, posted or being posted, or to a refund that is booked.
create or replace function core.kept_fate(t core.transaction, decision text, objection text) returns text[]
  language sql immutable parallel safe as $$
  select case
    when decision in ('handled', 'dismiss') and t.state <> 'posted'
      then array[case decision when 'dismiss' then 'dismissed' else decision end, null, objection]
    when t.state in ('posting', 'posted') or t.kind <> 'payment' and t.returned_amount is not null
      then array[t.state, t.reason, objection] end
$$;

-- The fate of a payment about which nobody has decided: the first row whose condition holds. The arguments are named after the
-- columns of core.transaction. `held_by`: the kind of a refund or chargeback that keeps it from being posted.
create or replace function core.fate_by_events(is_captured boolean, problem text, disagreement text, loan text, unconfirmed text,
  suggested_loan text, is_assigned boolean default false, refused_reason text default null, held_by text default null)
  returns text[] language sql immutable parallel safe as $$
  select case
    --   condition                                           state       reason                objection
    -- The payment was posted once: only an operator may have it posted again.
    when refused_reason in ('reversed_at_ledger', 'missing_at_ledger')
                                                      then array['suspense', refused_reason,       null]
    when problem = 'unknown_event'                    then array['suspense', 'unknown_event',      null]
    when not is_captured                              then array['failed',   null,                 null]
    when problem = 'unreadable'                       then array['suspense', 'unreadable',         null]
    when unconfirmed is not null                      then core.fate_of_unconfirmed(unconfirmed)
    when held_by is not null                          then array['suspense', held_by,              null]
    -- By assigning a loan, an operator has decided which one is right.
    when disagreement in ('money', 'assignment') or disagreement = 'loan' and not is_assigned
                                                      then array['suspense', 'events_disagree',    null]
    when problem = 'amount_invalid'                   then array['suspense', 'amount_invalid',     null]
    when loan is null and suggested_loan is not null  then array['suspense', 'awaiting_review',    null]
    when loan is null                                 then array['suspense', 'no_loan_named',      null]
    when not core.can_be_loan(loan)                   then array['suspense', 'loan_unknown',       null]
    when problem = 'awaiting_review' and not is_assigned then array['suspense', 'awaiting_review', null]
    when refused_reason is not null                   then array['suspense', refused_reason,       null]
    else                                                   array['waiting',  null,                 null] end
$$;

-- The fate of a payment. If all of it went back before it was posted, it waits all the same: its repayment only looks whether the
-- ledger has the money.
create or replace function core.fate_of_payment(p core.transaction, refused_reason text, held_by text, objection text)
  returns text[] language sql immutable parallel safe as $$
  select coalesce(core.kept_fate(p, p.decision, objection), case
    when p.returned_amount is not null and core.posted_amount(p) <= 0
         and (p.state = 'returned' or refused_reason is null and core.can_be_loan(p.external_loan_id))
      then array[case p.state when 'returned' then 'returned' else 'waiting' end, null, objection]
    -- Once an operator has decided to post the payment, only the ledger can keep it back.
    when p.decision = 'post'
      then array[case when refused_reason is null then 'waiting' else 'suspense' end, refused_reason, objection]
    else core.fate_by_events(p.is_captured, p.problem, p.disagreement, p.external_loan_id, p.unconfirmed, p.suggested_loan,
      p.assigned_loan_id is not null, refused_reason, held_by) end)
$$;

create or replace function core.split_fate(fate text[]) returns table (state text, reason text, objection text)
  language sql immutable parallel safe as $$
  -- The offset keeps the planner from merging this into the outer query, which would evaluate the fate once per column.
  select once[1], once[2], once[3] from (select fate offset 0) f (once)
$$;

-- What the events of a refund or chargeback state, even after an operator has decided about it. This function and the others in
-- PL/pgSQL below are planned once per connection: functions in SQL are merged into each query that calls them, and planning
-- such a query took ten times as long as running it for one payment.
create or replace function core.refund_outcome(r core.transaction, is_payment_captured boolean)
  returns table (all_outside boolean, is_done boolean, is_undone boolean, is_of_nothing boolean, is_verified boolean)
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select count(*) = 0,
         -- A dispute's later phase decides: what was won may be claimed again, and what was lost may be won. A refund or
         -- chargeback with too many facts to read counts as done, which keeps the payment back.
         (max(o.phase) filter (where o.is_done) >= coalesce(max(o.phase) filter (where e.status = 'undone'), 0)) is true
             -- Webhooks of a refund come in any order. Only the gateway's own answer proves that a refund failed after
             -- all, and only until another event reports it as made.
             and (r.kind = 'refund' and (max(e.received_at) filter (where o.is_undone_there),
                                         max(e.paid_at) filter (where o.is_undone_there))
                    > (max(e.received_at) filter (where o.is_done), max(e.paid_at) filter (where o.is_done))) is not true
           or case when max(e.facts) >= core.most_facts()
                then core.has_too_many(r.gateway, r.kind, r.gateway_payment_id) end is true,
         (max(o.phase) filter (where e.status = 'undone') >= max(o.phase)) is true
             -- Likewise, only the gateway's own answer proves that a refund which failed was made after all.
             and (r.kind = 'refund' and (max(e.received_at) filter (where o.is_done_there), max(e.paid_at) filter (where o.is_done_there))
                    > (max(e.received_at) filter (where e.status = 'undone'),
                       max(e.paid_at) filter (where e.status = 'undone'))) is not true,
         bool_or(e.status = 'never_captured') is true or refund_outcome.is_payment_captured is false,
         coalesce(bool_and(e.verified_by is not null), r.is_verified)
    from core.weigh_events(r.gateway, array[r.gateway_payment_id]) e
   cross join lateral (select core.phase_of(e.hints),
                              -- A gateway that gave a captured payment back by itself may call it never captured.
                              e.status = 'done' or e.status = 'never_captured' and refund_outcome.is_payment_captured is true,
                              e.status = 'undone' and e.verified_by = 'gateway_api',
                              e.status in ('done', 'never_captured') and e.verified_by = 'gateway_api') o (
                                phase, is_done, is_undone_there, is_done_there)
   where e.kind = r.kind and e.ignored_for is null;
end
$$;

-- Whether the money of this payment was captured. A payment of an unknown event counts as captured once an operator has posted
-- it or booked it by hand; until then, nobody knows: null.
create or replace function core.was_captured(p core.transaction) returns boolean language sql immutable parallel safe as $$
  select case when p.is_captured or p.problem is distinct from 'unknown_event' then p.is_captured
              when p.state = 'posted' or p.decision in ('post', 'handled') then true end
$$;

-- No payment has more refunds and disputes than this; where anybody may send them, they could otherwise keep it from ever being
-- decided. Those that count and are verified come first.
create or replace function core.most_refunds() returns integer language sql immutable parallel safe as $$ select 200 $$;

-- Whether the refund or chargeback that this event reports was taken out of its payment.
create or replace function core.is_booked(e core.event) returns boolean language sql stable as $$
  select exists (select from core.transaction r
                  where r.gateway_payment_id = e.gateway_payment_id and r.gateway = e.gateway and r.kind = e.kind
                    and r.returned_amount is not null)
$$;

-- The fact that this refund or chargeback takes its payment back; none if it does not.
create or replace function core.fact_of_refund(r core.transaction, p core.transaction) returns table (fact text)
  language sql stable as $$
  -- A lost dispute, and a refund that turns out to be genuine, state more than before.
  select concat_ws(' ', r.kind, r.gateway_payment_id, case when s.is_verified then 'verified' end,
           case when r.kind = 'chargeback' and s.is_done then 'lost' end)
    from (select core.was_captured(p)) c (was_captured)
   cross join lateral core.refund_outcome(r, c.was_captured) s
   -- A refund that is booked, or about to be, takes nothing more back.
   where r.returned_amount is null and r.state <> 'posting'
     and r.kind = case
       when coalesce(r.decision, 'restore') = 'restore' then case r.reason when 'reversal_refused' then r.kind else r.reason end
       -- An operator's decision about a refund does not say what became of the money.
       else (core.fate_of_refund(r.kind, s.all_outside, s.is_done, s.is_undone, s.is_of_nothing, c.was_captured))[2] end
     -- An unverified refund neither keeps back nor objects to a verified payment.
     and (s.is_verified or not p.is_verified)
$$;

-- The refunds and chargebacks that take this payment back, each with the fact behind it: the payment's own, those under the other
-- ids of its money, and those that another lender's event attributed to another payment.
create or replace function core.refunds_of(p core.transaction) returns table (id uuid, kind text, fact text, cleared_facts text[])
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select r.id, r.kind, f.fact, r.cleared_facts
    from core.transaction r
   cross join lateral core.fact_of_refund(r, p) f
   where r.id = any(array(
           select o.id
             from core.transaction o
            where o.of_payment_id = any(p.gateway_payment_id || core.other_ids_of(p)) and o.gateway = p.gateway and o.kind <> 'payment'
              and o.returned_amount is null and o.state <> 'posting'
            order by (o.state = 'failed' or o.reason = 'sender_not_allowed') is true, not o.is_verified, o.received_at, o.id
            limit core.most_refunds()))
  union all
  -- Earlier decisions and bookings were about the other payment, so they are ignored here.
  select r.id, r.kind, f.fact, null
    from core.claimed_elsewhere(p.gateway, array[p.gateway_payment_id]) c
    join core.transaction r on r.id = c.id
   cross join lateral core.fact_of_refund(jsonb_populate_record(r, jsonb_build_object(
     'state', 'suspense', 'reason', r.kind, 'decision', null, 'returned_amount', null)), p) f;
end
$$;

-- What contradicts a refund or chargeback that was taken out of its payment: its gateway took it back, or names another amount
-- or payment since. One that an operator booked by hand is contradicted only by the first.
create or replace function core.facts_against_booked(r core.transaction) returns table (objection text, fact text)
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select objection, fact
    from (select 'taken_back', 'taken_back' from core.refund_outcome(r, null) s where s.is_undone
          union all
          select 'events_disagree', concat_ws(' ', 'events_disagree', trim_scale(e.amount), e.currency, e.of_payment_id)
            from core.weigh_events(r.gateway, array[r.gateway_payment_id]) e
           where e.kind = r.kind and e.status in ('done', 'never_captured') and e.ignored_for is null
             and (e.amount <> r.amount or e.currency <> r.currency or e.of_payment_id <> r.of_payment_id)) against (objection, fact)
   where (r.returned_amount is not null or r.decision = 'handled' and objection = 'taken_back')
     and fact <> all(coalesce(r.cleared_facts, '{}'));
end
$$;

-- Whether an operator has decided about this payment in spite of this refund or chargeback, however little of it was known or
-- proved then.
create or replace function core.has_cleared(p core.transaction, r core.transaction) returns boolean
  language sql immutable parallel safe as $$
  select exists (select from unnest(p.cleared_facts) fact where starts_with(fact || ' ', concat(r.kind, ' ', r.gateway_payment_id, ' ')))
$$;

-- What contradicts a payment that is decided, posted or being posted. The text of a fact has the values behind it, so that
-- the same fact is recognized once an operator has cleared it.
create or replace function core.facts_against(t core.transaction)
  returns table (objection text, fact text)
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select r.kind, r.fact from core.refunds_of(t) r where r.fact <> all(coalesce(r.cleared_facts, '{}'))
  union all
  select 'events_disagree', concat_ws(' ', 'events_disagree', trim_scale(e.amount), e.currency, e.external_loan_id,
           -- An operator who dismissed an unreadable or unverified payment has not seen the genuine event.
           case when t.decision = 'dismiss' then coalesce(e.problem, case when e.verified_by is not null then 'verified' end) end)
    from core.weigh_events(t.gateway, array[t.gateway_payment_id]) e
   where e.kind = t.kind and e.status = 'captured' and e.ignored_for is null
     and (core.contradicts(t, e.amount, e.currency, e.external_loan_id) or t.decision = 'dismiss')
  union all
  -- An operator decided for less than was captured, because of a refund or dispute that did not happen after all.
  select 'events_disagree', concat_ws(' ', 'failed', r.kind, r.gateway_payment_id)
    from core.transaction r
   cross join lateral core.refund_outcome(r, core.was_captured(t)) s
   where (t.decision in ('handled', 'dismiss') or t.decision = 'post' and t.decided_amount < t.amount)
     and r.id = any(array(
           select o.id
             from core.transaction o
            where o.of_payment_id = t.gateway_payment_id and o.gateway = t.gateway and o.kind <> 'payment'
              and (o.state = 'failed' or o.decision = 'dismiss')
            order by not o.is_verified, o.received_at, o.id limit core.most_refunds()))
     and core.has_cleared(t, r) and (r.state = 'failed' or s.is_undone and not s.is_done) and (s.is_verified or not t.is_verified)
  union all
  select 'events_disagree', 'events_disagree too_many' where core.has_too_many(t.gateway, t.kind, t.gateway_payment_id)
  union all
  select 'differs_at_ledger', 'differs_at_ledger ' || t.difference where t.difference is not null;
end
$$;

-- What contradicts a payment, the most important fact first, without the facts that an operator has cleared.
create or replace function core.objections_to(t core.transaction)
  returns table (objection text, fact text) language sql stable as $$
  select objection, fact
    from core.facts_against(t)
   where fact <> all(coalesce(t.cleared_facts, '{}'))
   order by array_position(array['refund', 'chargeback', 'events_disagree', 'differs_at_ledger'], objection)
$$;

-- What the person who decides about a payment or refund has seen: what contradicts this payment, or what this refund or
-- chargeback says about its payment; and whether that payment is on its way.
create or replace function core.facts_about(t core.transaction) returns table (fact text, is_on_its_way boolean)
  language plpgsql stable rows 1 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select fact, false from core.facts_against(t) where t.kind = 'payment'
  union
  select fact, false from core.facts_against_booked(t) where t.kind <> 'payment'
  union
  select f.fact, p.state = 'posting'
    from core.transaction p
   cross join lateral core.fact_of_refund(t, p) f
   where t.kind <> 'payment' and core.is_payment_of(p, t);
end
$$;

-- Clears the facts known today: from now on, only new ones count against the payment. A payment on its way is stopped
-- nevertheless.
create or replace function core.clear_objections(payment uuid) returns void language sql volatile as $$
  update core.transaction t
     set cleared_facts = array(
           select unnest(t.cleared_facts)
           union
           select f.fact from core.facts_about(t) f where not f.is_on_its_way
           union
           -- Whoever decides about a payment has seen its refunds and disputes, also those that are not proved yet.
           (select concat_ws(' ', r.kind, r.gateway_payment_id, 'seen')
              from core.transaction r
             where t.kind = 'payment' and t.state = 'suspense' and t.decision is not null
               and r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment'
               and r.state in ('waiting', 'suspense')
             order by (r.reason = 'sender_not_allowed') is true, not r.is_verified, r.received_at, r.id limit core.most_refunds()))
   where t.id = payment
$$;
