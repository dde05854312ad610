-- Only one transaction settles payments at a time: of two concurrent ones, each would miss the other's events.
create or replace function core.lock_settling() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7405316)
$$;

-- Adds the refunds of these payments, and the payments of all these refunds.
create or replace function core.with_relatives(wanted_gateway text, ids text[]) returns text[] language sql stable as $$
  with own (ids) as (
    -- Refunds are found by their events: an event that will not count may attribute a refund to another payment.
    select ids || array(
      select e.id from (
        select gateway_payment_id,
               row_number() over (partition by of_payment_id order by is_outside, verified_by is null or is_foreign, received_at, raw_id)
          from core.event r
         where of_payment_id = any(ids) and of_payment_id is not null and gateway = wanted_gateway and set_aside is null
           -- The next ones follow once these are booked.
           and not (verified_by is not null and core.is_booked(r))) e (id, rank)
       where e.rank <= core.most_refunds())
  )
  select array_agg(distinct id order by id) from (
    select unnest(own.ids) as id from own
    union all
    select of_payment_id from core.event
     where gateway_payment_id = any((select own.ids from own)::text[]) and gateway = wanted_gateway
       and of_payment_id is not null and set_aside is null) related
$$;

-- Payments whose money an operator may have booked already when deciding about an unreadable event, each with the id of that
-- event's row. If the event shows no id, then amount, day and loan must agree, as far as the payment names a loan. In PL/pgSQL, as
-- core.refund_outcome.
create or replace function core.unreadable_twins(wanted_gateway text, ids text[]) returns table (payment_id text, booked text)
  language plpgsql stable rows 1 set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query
  select t.hints ->> 'payment_id', t.gateway_payment_id
    from core.transaction t
   where t.problem = 'unreadable' and t.hints ->> 'payment_id' = any(ids)
     and core.gateway_of(t) = wanted_gateway
     -- The money of a reopened event may be booked by hand.
     and (t.decision in ('post', 'handled') or t.decision is null and t.decided_over is not null)
  union all
  select e.gateway_payment_id, t.gateway_payment_id
    from core.transaction t
    join core.event e on e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.kind = 'payment'
     and e.status = 'captured' and e.set_aside is null and e.problem is distinct from 'unreadable'
     and e.amount = t.decided_amount and core.day_of(e.paid_at) = t.decided_day
     and coalesce(e.external_loan_id = t.assigned_loan_id, true)
   where t.problem = 'unreadable' and t.hints ->> 'payment_id' is null and core.gateway_of(t) = wanted_gateway and t.decision = 'post';
end
$$;

-- What the events that count say about each payment, refund or chargeback.
create or replace function core.summarize(wanted_gateway text, ids text[])
  returns table (kind text, gateway_payment_id text, of_payment_id text, is_captured boolean, is_verified boolean,
    all_outside boolean, lender text, source text, raw_id uuid, received_at timestamptz, amount numeric, currency text,
    paid_at timestamptz, named_loan_id text, problem text, hints jsonb, disagreement text, was_made boolean, facts bigint,
    is_unconfirmed boolean, known_hints jsonb[])
  language sql stable as $$
  with weighed as (
    select *, coalesce(bool_or(ignored_for = 'not_confirmed') over same, false)
              and not bool_or(ignored_for is null and (kind <> 'payment' or status = 'captured')) over same as is_unconfirmed
      from core.weigh_events(wanted_gateway, ids)
    window same as (partition by kind, gateway_payment_id)
  ), counted as (
    select *, row_number() over (partition by kind, gateway_payment_id
                                     order by status = 'captured' desc, lender = 'UNKNOWN',
                                     -- An event that shows a fee comes first, above all one whose fee does not add up.
                                     case when hints ? 'payer_fee_differs' then 0 when hints ? 'payer_fee' then 1 else 2 end,
                                     received_at, raw_id) as rank
      from weighed
     where ignored_for is null or all_outside and ignored_for = 'sender_not_allowed'
        or is_unconfirmed and ignored_for = 'not_confirmed'
  )
  select kind, gateway_payment_id,
         -- The first event says whose refund it is: later ones must not take it away from its payment.
         (array_agg(of_payment_id order by received_at, raw_id) filter (where of_payment_id is not null))[1],
         bool_or(status = 'captured'),
         coalesce(bool_and(verified_by is not null) filter (where status = 'captured'), bool_and(verified_by is not null)),
         bool_and(all_outside), max(lender) filter (where rank = 1), max(source) filter (where rank = 1),
         (array_agg(raw_id) filter (where rank = 1))[1], min(received_at),
         -- If there are events of captured money, only they determine amount, time and loan; likewise, only the events of
         -- refunds that were made determine the amount that went back.
         coalesce(max(amount) filter (where status in ('captured', 'done', 'never_captured')), max(amount)),
         coalesce(max(currency) filter (where status = 'captured'), max(currency)),
         coalesce(min(paid_at) filter (where status = 'captured'), min(paid_at)),
         case when bool_or(status = 'captured')
                then coalesce(max(external_loan_id) filter (where status = 'captured'),
                              max(external_loan_id) filter (where status = 'named'))
              else max(external_loan_id) end,
         max(problem), (array_agg(hints) filter (where rank = 1))[1],
         -- What captured events disagree about: the money, or only the loan or lender. Null if all of them come from
         -- outside: such a payment is refused once the ledger has shown whose loan it is.
         case when bool_and(all_outside) then null
              when min(amount) filter (where status = 'captured') <> max(amount) filter (where status = 'captured')
                or min(currency) filter (where status = 'captured') <> max(currency) filter (where status = 'captured')
                or kind = 'payment' and bool_or(status = 'captured')
                     and gateway_payment_id in (select b.payment_id from core.unreadable_twins(wanted_gateway, ids) b)
                or max(facts) >= core.most_facts() and core.has_too_many(wanted_gateway, kind, gateway_payment_id) then 'money'
              when min(external_loan_id) filter (where status = 'captured')
                     <> max(external_loan_id) filter (where status = 'captured')
                -- The events of the payment's link count where the payment itself names no loan.
                or count(external_loan_id) filter (where status = 'captured') = 0
                     and min(external_loan_id) filter (where status = 'named') <> max(external_loan_id) filter (where status = 'named')
                -- An unverified event that counts beside a verified one names a different lender.
                or bool_or(verified_by is not null) filter (where status = 'captured')
                     <> bool_and(verified_by is not null) filter (where status = 'captured') then 'loan' end,
         -- A refund that was never made is not shown.
         kind <> 'refund' or bool_or(status <> 'undone'), max(facts), bool_or(is_unconfirmed),
         array_agg(hints) filter (where kind = 'payment' and status in ('captured', 'named') and hints is not null)
    from counted
   group by kind, gateway_payment_id
$$;

-- Saves the summaries, except those of what stays as it is. The fee that an earlier try left out goes if no event that counts
-- states it any more. Returns the ids of those that have more than a few events.
create or replace function core.record_summaries(wanted_gateway text, ids text[]) returns text[] language sql volatile as $$
  with known as materialized (
    select t.kind, t.gateway_payment_id from core.transaction t where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway
  ), summary as materialized (
    select s.*, l.lender as of_lender, u.unconfirmed, r.refs as own_refs, coalesce(b.refs, r.refs) as refs,
           coalesce(coalesce(s.hints, '{}') || b.hints, s.hints) as all_hints,
           coalesce(n.loan, m.loan) as loan, case when n.loan is null then m.matched_by end as matched_by,
           case when n.loan is null and m.disagrees is null then m.suggested_loan end as suggested_loan,
           -- If events or references name two loans, the payment gets none: nobody guesses which one is right.
           case when s.disagreement is null and not s.all_outside and (b.disagrees or m.disagrees or m.loan <> n.loan) then 'loan'
                else s.disagreement end as disagrees_about,
           (s.kind, s.gateway_payment_id) in (select k.kind, k.gateway_payment_id from known k) as is_known
      from core.summarize(wanted_gateway, ids) s
     cross join lateral (
       select case when s.is_unconfirmed then core.unconfirmed_of(wanted_gateway, s.kind, s.gateway_payment_id) end) u (unconfirmed)
     -- Most payments have one event, and a function with a query costs more than the rest of this statement. The offsets
     -- keep the planner from merging a subquery into what uses it.
     cross join lateral (
       select case when cardinality(s.known_hints) = 1 then base.references_in(s.known_hints[1])
                   when s.known_hints is not null then core.references_of(s.known_hints) end
       offset 0) r (refs)
      left join lateral (
       select lent.*
         from (select where s.kind = 'payment' and s.is_captured and s.is_verified and s.facts > 1 and s.disagreement is null
               offset 0) several
        cross join lateral core.lent(wanted_gateway, s.gateway_payment_id, s.amount, s.currency, s.paid_at, s.named_loan_id,
                                     r.refs, s.hints) lent) b on true
     cross join lateral (select coalesce(s.named_loan_id, b.loan)) n (loan)
     cross join lateral (
       select coalesce(case when s.lender = 'UNKNOWN' and s.is_verified
         then core.lender_beside(wanted_gateway, s.kind, s.gateway_payment_id, s.amount, s.currency, n.loan) end, s.lender)) l (lender)
     cross join lateral core.match_references(wanted_gateway, coalesce(b.refs, r.refs), s.paid_at) m
     order by s.gateway_payment_id
  ), added as (
    -- "on conflict" would look up each row once more, and is not needed: only one transaction settles at a time.
    insert into core.transaction (gateway, kind, gateway_payment_id, of_payment_id, lender, named_loan_id, amount, currency,
      paid_at, is_captured, is_verified, problem, disagreement, unconfirmed, state, reason, source, raw_id, suspended_at,
      received_at, hints, refs, matched_by, suggested_loan)
    select wanted_gateway, s.kind, s.gateway_payment_id, s.of_payment_id, s.of_lender, s.loan, s.amount, s.currency, s.paid_at,
           s.is_captured, s.is_verified, s.problem, s.disagrees_about, s.unconfirmed, f.state, f.reason, s.source, s.raw_id,
           case when f.state = 'suspense' then now() end, s.received_at, s.all_hints, s.refs, s.matched_by, s.suggested_loan
      from summary s
     cross join lateral core.split_fate(case when s.kind = 'payment'
            then core.fate_by_events(s.is_captured, s.problem, s.disagrees_about, s.loan, s.unconfirmed, s.suggested_loan)
            else core.fate_of_refund(s.kind, s.all_outside, false, false, false, null, s.unconfirmed) end) f
     where s.was_made and not s.is_known
  ), changed as (
    update core.transaction t
       set of_payment_id = s.of_payment_id, lender = s.of_lender, named_loan_id = s.loan, amount = s.amount, currency = s.currency,
           paid_at = s.paid_at, is_captured = s.is_captured, is_verified = s.is_verified, problem = s.problem, unconfirmed = s.unconfirmed,
           source = s.source, raw_id = s.raw_id, received_at = s.received_at, hints = s.all_hints, refs = s.refs, matched_by = s.matched_by,
           suggested_loan = s.suggested_loan, payer_fee = case when s.all_hints ? 'payer_fee' then t.payer_fee end,
           disagreement = core.disagreement_with(
             t, s.disagrees_about, s.all_outside, s.amount, s.currency, s.named_loan_id, s.own_refs, s.paid_at)
      from summary s
     where s.was_made and s.is_known
       and t.gateway_payment_id = s.gateway_payment_id and t.gateway = wanted_gateway and t.kind = s.kind and not core.is_kept(t)
  )
  select array_agg(distinct gateway_payment_id) from summary where facts > 10
$$;

create or replace function core.decide_payments(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  -- A payment that has the money of a refunded one was not locked with the others: the next statement sees what it is by now.
  select from core.transaction where gateway_payment_id = any(ids) and gateway = wanted_gateway
   order by gateway_payment_id, kind for no key update;
  -- Materialized, so that only rows whose fate changes are looked up again.
  with found as materialized (
    select p.id, f.state, f.reason, f.objection
      from core.transaction p
     cross join lateral (
       -- The kind counts even if an operator has dealt with the refund itself: the money was returned all the same.
       select max(r.kind) as held_by from core.refunds_of(p) r) r
     -- This join is separate, because PostgreSQL does not inline a function that has a query among its arguments.
     cross join lateral (
       select case when core.is_kept(p)
                then (select o.objection from core.objections_to(p) o limit 1) end) o (objection)
     cross join lateral core.split_fate(core.fate_of_payment(p, p.refused_reason, r.held_by, o.objection)) f
     where p.gateway_payment_id = any(ids) and p.gateway = wanted_gateway and p.kind = 'payment'
       and (p.state, p.reason, p.objection) is distinct from (f.state, f.reason, f.objection)
  )
  update core.transaction t
     set state = found.state, reason = found.reason, objection = found.objection,
         suspended_at = case when found.state = 'suspense' then coalesce(t.suspended_at, now()) end
    from found
   where t.id = found.id
$$;

-- Settles payments: recomputes from all of their events what they are. `has_news`: the payments have new events, so that
-- a refused one may succeed now.
create or replace function core.settle(wanted_gateway text, changed text[], has_news boolean) returns void language plpgsql
  -- The planner always uses indexes, whatever the statistics say: the cost must depend on the number of new rows, not of
  -- all rows.
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  ids text[];
  known text[];
  -- The known ones, each with its loan.
  before text[];
  crowded text[];
  undecided text[];
  has_marks boolean;
  has_reversals boolean := exists (select from core.reversing);
begin
  perform core.lock_settling();
  ids := core.with_relatives(wanted_gateway, changed);
  -- Batches and results change payments without the lock for settling. Locking these rows, in the order in which results
  -- lock them, waits for such changes to commit.
  select coalesce(array_agg(locked.id), '{}'), array_agg(locked.with_loan) into known, before
    from (select t.gateway_payment_id as id, core.with_loan(t) as with_loan from core.transaction t
           where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway
           order by t.gateway_payment_id, t.kind for no key update) locked;
  has_marks := core.mark_events(wanted_gateway, ids, case when has_news then changed else '{}' end);
  if has_news and known <> '{}' then
    perform core.end_refusals(wanted_gateway, known);
  end if;
  crowded := core.record_summaries(wanted_gateway, ids);
  if crowded is not null then
    perform core.set_aside_events(wanted_gateway, crowded);
    -- Events beyond the limit are set aside now: the summaries change.
    perform core.record_summaries(wanted_gateway, crowded);
  end if;
  if known <> '{}' then
    perform core.prove_again(wanted_gateway, known);
    perform core.add_to_kept(wanted_gateway, known);
  end if;
  perform core.decide_refunds(wanted_gateway, ids);
  while has_reversals and core.return_unposted(wanted_gateway, ids) loop
    -- After each refund that was taken out, less may stand than the next one says; and of many, the next ones follow.
    ids := core.with_relatives(wanted_gateway, ids);
    perform core.decide_refunds(wanted_gateway, ids);
  end loop;
  -- Every other payment was recorded together with its fate above.
  undecided := known || crowded || core.payments_of_refunds(wanted_gateway, ids);
  if undecided <> '{}' then
    perform core.decide_payments(wanted_gateway, undecided);
  end if;
  if has_marks or has_reversals then
    perform core.note_unjudged_payments(wanted_gateway, ids, before);
  end if;
end
$$;

-- How many of the next events count towards a payment, refund or chargeback that has no row, which never happens; and the
-- last of these events, null if no more follow.
create or replace function core.unrecorded(after_source text, after_id uuid, most integer,
  out events bigint, out last_source text, out last_id uuid) language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  with page as materialized (
    select e.source, e.raw_id, e.gateway, e.kind, e.gateway_payment_id, e.set_aside
      from core.event e
     where (e.source, e.raw_id) > (after_source, after_id)
     order by e.source, e.raw_id
     fetch first most rows with ties
  )
  select (select count(*)
            from page e
           where e.set_aside is null
             and not exists (select from core.transaction t
                              where t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = e.kind)
             -- A refund that was never made has no row.
             and exists (select from core.summarize(e.gateway, array[e.gateway_payment_id]) s
                          where s.kind = e.kind and s.was_made)),
         case when count(*) >= most then max(source) end,
         case when count(*) >= most then (array_agg(raw_id order by source desc, raw_id desc))[1] end
    from page
$$;
