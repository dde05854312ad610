-- What the payment's gateway was or will be asked, with one row per account.
create or replace function core.questions_about(t core.transaction) returns setof core.question language sql stable as $$
  select q.* from core.question q
   where q.gateway_payment_id = t.gateway_payment_id and q.gateway = t.gateway and q.kind = t.kind
$$;

-- Whether facts may be about a payment: without a refund or a second event there is none, and a list has thousands of
-- such payments.
create or replace function core.may_have_facts(t core.transaction) returns boolean language sql stable as $$
  select t.kind <> 'payment' or t.difference is not null
      or exists (select from core.transaction r
                  where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment')
      or (select count(*) > 1 from (select from core.event e
                                     where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway
                                       and e.set_aside is null
                                     limit 2) two)
$$;

create or replace function core.all_facts_about(t core.transaction) returns text[] language sql stable as $$
  select array(select f.fact from core.facts_about(t) f order by f.fact)
$$;

-- A text that changes with everything that a decision about the payment depends on: further facts may leave its reason
-- and objection as they are.
create or replace function core.version_of(t core.transaction) returns text language sql stable as $$
  select md5(jsonb_build_array(t.kind, t.state, t.reason, t.objection, t.amount::text, t.returned_amount::text, t.external_loan_id,
           case when core.may_have_facts(t) then core.all_facts_about(t) else '{}' end)::text)
$$;

-- What named the payment's loan: its notes or tags, the kind of a reference, or an operator.
create or replace function core.matched_by(t core.transaction) returns text language sql immutable as $$
  select case when t.kind = 'payment' then
           case when t.assigned_loan_id is not null then 'operator' when t.matched_by is not null then t.matched_by
                when t.named_loan_id is not null then 'notes' end end
$$;

-- Why a refund or chargeback cannot be taken out of its payment, as more than what stands of it or in another currency; null if it
-- can, or if nothing is posted.
create or replace function core.exceeds(t core.transaction) returns text language sql stable as $$
  select case when is_comparable
              then format('%s is more than the %s that stands of the payment',
                          concat_ws(' ', trim_scale(t.amount), t.currency), trim_scale(greatest(core.posted_amount(p), 0)))
              else 'It is not an amount in the currency in which its payment was posted' end
    from core.transaction p
   cross join lateral core.is_in_currency_of(t, p) c (is_comparable)
   where core.is_payment_of(p, t) and p.state in ('posted', 'returned')
     and (not is_comparable or t.amount > case p.state when 'posted' then core.returnable_amount(p) else core.posted_amount(p) end)
$$;

-- The view has two branches, so that an index finds a state: one branch took 226 instead of 14 ms for the suspense of 300,000 payments.
create or replace view ops.payment as
select p.gateway, p.gateway_payment_id, p.kind, p.of_payment_id, p.lender, p.external_loan_id, p.amount, p.currency, p.paid_at,
       p.state, p.reason, p.verified, p.ledger_transaction_id, p.raw_table, p.raw_id, p.received_at, p.posted_at, p.waiting_for,
       p.next_try_at, p.detail, p.hints, p.id, p.objection,
       -- The fee and the tax are not joined, so that they are looked up only for the rows shown.
       (select s.fee from core.current_statement s
         where s.gateway_payment_id = p.gateway_payment_id and s.gateway = p.gateway and p.kind = 'payment') as fee,
       (select s.tax from core.current_statement s
         where s.gateway_payment_id = p.gateway_payment_id and s.gateway = p.gateway and p.kind = 'payment') as tax,
       (select s.settlement_id from core.current_statement s
         where s.gateway_payment_id = p.gateway_payment_id and s.gateway = p.gateway and p.kind = 'payment') as settlement_id,
       (select s.utr from core.current_statement s
         where s.gateway_payment_id = p.gateway_payment_id and s.gateway = p.gateway and p.kind = 'payment') as utr,
       p.matched_by, p.suggested_loan, p.returned_amount
  from (
    select t.gateway, t.gateway_payment_id, t.kind, t.of_payment_id, t.lender, t.external_loan_id, t.amount, t.currency,
           t.paid_at, t.state, t.reason, t.is_verified as verified, t.ledger_transaction_id, 'raw.' || t.source as raw_table, t.raw_id,
           t.received_at, t.posted_at,
           case when t.state = 'waiting' then case when t.unconfirmed is not null then 'gateway'
                                                   when exists (select from ops.ledger_pause) then 'paused' else 'batch' end
             end as waiting_for,
           -- A payment that is in suspense for another reason is not retried meanwhile.
           case when t.reason = 'not_at_gateway' then (select min(q.next_ask_at) from core.questions_about(t) q)
                when t.reason = t.refused_reason then t.next_try_at end as next_try_at,
           case when t.state = 'posted' or t.state = 'returned' and t.difference is not null then t.difference
                when t.reason = 'not_at_gateway' then (select min(q.said) from core.questions_about(t) q)
                when t.kind <> 'payment' and t.reason = t.kind
                  -- Where all of a payment went back, a second row of that refund is also more than what stands.
                  then coalesce(nullif(concat_ws('; ', 'It may be the same money as ' || core.same_money_as(t), core.exceeds(t)), ''),
                    'Its payment is the same money as payment ' || core.booked_instead(t))
                when t.reason = 'awaiting_review' and t.hints ? 'payer_fee' then json_build_object('amount', trim_scale(t.amount)::text,
                  'fee', t.hints ->> 'payer_fee', 'order_amount', t.hints ->> 'order_amount')::text
                when t.reason = 'events_disagree' then coalesce(core.outdated_assignment(t), (
                  select 'It may be the same money as ' || min(b.booked) || ', an unreadable event that an operator booked'
                    from core.unreadable_twins(t.gateway, array[t.gateway_payment_id]) b))
                -- A refusal for another reason says nothing about the reason that holds now.
                when t.reason <> t.refused_reason then null
                else t.refused_detail end as detail,
           t.hints,
           t.id,
           t.objection, core.matched_by(t) as matched_by, t.suggested_loan,
           case when t.kind = 'payment' then t.returned_amount end as returned_amount
      from core.transaction t
     where t.state <> 'posting'
    union all
    select t.gateway, t.gateway_payment_id, t.kind, t.of_payment_id, t.lender, t.external_loan_id, t.amount, t.currency,
           t.paid_at,
           -- A payment that may have arrived at the ledger is not waiting to be posted.
           case when o.claimed_by is null and o.unknown_since is null
                     and (o.waiting_for is not null or before.is_unfinished or before.is_paused)
                then 'waiting' else 'posting' end,
           null, t.is_verified, null, 'raw.' || t.source, t.raw_id,
           t.received_at, null,
           loanops.reason_to_wait(o.unknown_since is not null, before.is_paused, before.is_unfinished, false, o.waiting_for),
           -- An operation whose time has passed is not tried at that time.
           case when o.claimed_by is null and o.next_try_at > now() then o.next_try_at end,
           o.last_error,
           t.hints,
           t.id,
           t.objection, core.matched_by(t) as matched_by, t.suggested_loan,
           case when t.kind = 'payment' then t.returned_amount end as returned_amount
      from core.transaction t
      left join loanops.operation o on o.id = t.operation_id
     cross join lateral (
       select exists (select from loanops.operation earlier
                       where earlier.subject = o.subject and earlier.status = 'processing' and earlier.seq < o.seq) as is_unfinished,
              loanops.is_pausable(o) and exists (select from ops.ledger_pause) as is_paused) before
     where t.state = 'posting') p;
comment on view ops.payment is 'What became of each payment, refund and chargeback, and where it came from';

create or replace view ops.suspense as
select p.*, round(extract(epoch from now() - t.suspended_at) / 3600, 1) as age_hours, t.note, t.noted_by
  from ops.payment p
  join core.transaction t on t.id = p.id
 -- Both tables have the condition, so that neither is read beyond its rows in suspense.
 where p.state = 'suspense' and t.state = 'suspense';
comment on view ops.suspense is 'Payments that cannot be posted as they are, each with its reason';

create or replace view ops.source as
select s.name as source, s.lender, s.gateway, s.registered_at,
       s.events + p.new as events, p.behind as events_behind,
       greatest(s.last_event_at, p.last_event_at) as last_event_at, null::text as problem
  from core.source s
 cross join lateral (select count(*) as behind, count(*) filter (where not again) as new, max(received_at) as last_event_at
                       from core.pending_event where source = s.name) p
union all
select store, null, null, null, 0, 0, null, problem from raw.misfits();
comment on view ops.source is
  'Each raw table that is a source, and how many of its events no batch has transformed yet; also those that cannot become one, '
  'with the problem';

create or replace view ops.event_type as
select source, event_type, taken, events, last_at from core.event_type;
comment on view ops.event_type is 'How often each source sent which type of event, and how that type is treated';

create or replace view ops.batch_run as
select id as batch_id, trigger, status, started_at, ended_at, discovered, transformed, posted, suspended, failed,
       requested_at, discover_seconds, transform_seconds, post_seconds, last_error
  from core.batch_run;
comment on view ops.batch_run is 'Each pass of raw → base → core → ledger';

-- Has the next batch read these events again. The batch forgets what they said before, holding the lock for settling, and
-- only if nobody has decided about them by then.
create or replace function ops.reread(source text, since timestamptz) returns bigint language plpgsql volatile as $$
declare
  noted uuid[];
begin
  if not exists (select from core.source where name = $1) then
    raise exception 'there is no source %', source using errcode = 'invalid_parameter_value';
  end if;
  execute format($sql$
    with noted as (
      insert into core.pending_event (source, raw_id, received_at, again)
      select $1, r.id, r.received_at, true
        from raw.%I r
       where r.received_at >= $2
         and (not exists (select from core.event e where e.source = $1 and e.raw_id = r.id)
              or exists (select from core.event e where e.source = $1 and e.raw_id = r.id and core.may_be_reread(e)))
      on conflict do nothing
      returning raw_id
    )
    select array_agg(raw_id) from noted$sql$, source) using source, since into noted;
  -- The events are counted again when they are transformed.
  perform core.uncount_rows(source, noted);
  return coalesce(cardinality(noted), 0);
end
$$;
comment on function ops.reread is
  'Makes the next batch reprocess the events of a source that its base view could not read or did not know; returns their number';
