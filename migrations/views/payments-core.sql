-- Whether the ledger can have a loan of such a name.
create or replace function core.can_be_loan(name text) returns boolean language sql immutable parallel safe as $$
  select name ~ '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,99}$'
$$;

-- What becomes of a payment by what its events say, by its operator, and by the ledger's last word on it.
create or replace function core.fate_of(is_captured boolean, problem text, disagrees boolean, loan text, refused_reason text)
  returns table (state text, reason text) language sql immutable parallel safe as $$
  select case when not is_captured then 'failed' when r is null then 'waiting' else 'suspense' end,
         case when is_captured then r end
    from (select case
            when problem = 'unreadable' then 'unreadable'
            when disagrees then 'events_disagree'
            when problem is not null then problem
            when loan is null then 'no_loan_named'
            when not core.can_be_loan(loan) then 'loan_unknown'
            else refused_reason end) x (r)
$$;

-- One at a time says what payments are: two that look at one payment's events at once would each miss the other's.
-- Any number will do for the lock, as long as nobody else uses it.
create or replace function core.lock_settling() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7405316)
$$;

-- When a refused repayment is tried again: by the next batch, then after a quarter of an hour, then ever more rarely, for
-- seven days.
create or replace function core.next_try_at(tries integer, refused_at timestamptz) returns timestamptz language sql stable as $$
  select case when coalesce(refused_at, now()) > now() - interval '7 days'
    then now() + case when tries = 0 then interval '0' else least(interval '15 minutes' * 2 ^ least(tries - 1, 10), interval '1 day') end end
$$;

-- What is left of a refusal when a payment's events become more: what is still tried again is tried at once, and what we
-- refused by the events themselves is judged anew. The rest is an operator's: seven days are over, or he has failed it.
create or replace function core.standing_refusal(refused_reason text, next_try_at timestamptz) returns text
  language sql immutable parallel safe as $$
  select case when next_try_at is null
                   and refused_reason not in ('signature_not_verified', 'sender_not_allowed', 'lender_mismatch', 'currency_mismatch',
                                          'amount_invalid')
              then refused_reason end
$$;

-- Says anew what these payments, refunds and chargebacks are, from all their events. What is posted, or on its way, stays;
-- what speaks against it is noted as its objection.
-- has_news: their events became more, so that what was refused may be worth another try.
create or replace function core.settle(wanted_gateway text, changed text[], has_news boolean) returns void language plpgsql
  -- Always by index, whatever the statistics of the moment say: the work follows what is new, not what is there.
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  touched text[];
  is_sender_judged boolean;
begin
  perform core.lock_settling();
  is_sender_judged := exists (select from core.allowed_network) or exists (select from core.event where is_outside);
  -- With them, the payments of these refunds and the refunds of these payments.
  select array_agg(distinct id order by id) into touched from (
    select unnest(changed) as id
    union all
    select of_payment_id from core.event
     where gateway_payment_id = any(changed) and gateway = wanted_gateway and of_payment_id is not null
    union all
    select gateway_payment_id from core.transaction
     where of_payment_id = any(changed) and gateway = wanted_gateway and kind <> 'payment') ids;
  if is_sender_judged then
    perform core.judge_senders(wanted_gateway, touched);
  end if;

  with event as (
    select e.*, bool_and(e.is_outside) over told_together as all_outside,
           array_agg(e.lender) filter (where e.verified_by is not null and not e.is_outside) over told_together as verified_lenders
      from core.event e
     where e.gateway_payment_id = any(touched) and e.gateway = wanted_gateway
    window told_together as (partition by e.kind, e.gateway_payment_id)
  ), believed as (
    -- A verified event outranks an unverified one, unless both name lenders and not the same one.
    select *, bool_or(status = 'captured') over (partition by kind, gateway_payment_id) as any_captured,
           row_number() over (partition by kind, gateway_payment_id
                                 order by status = 'captured' desc, lender = 'UNKNOWN', received_at, raw_id) as rank
      from event
     where (not is_outside or all_outside)
       and (verified_by is not null or verified_lenders is null
            or lender <> 'UNKNOWN' and not verified_lenders && array[lender, 'UNKNOWN'])
  ), told as (
    select kind, gateway_payment_id,
           -- The first word on it: what comes later must not take the refund away from its payment.
           (array_agg(of_payment_id order by received_at, raw_id) filter (where of_payment_id is not null))[1] as of_payment_id,
           bool_or(status = 'captured') as is_captured,
           bool_and(verified_by is not null) as is_verified,
           bool_and(all_outside) as all_outside,
           max(lender) filter (where rank = 1) as lender,
           max(source) filter (where rank = 1) as source,
           (array_agg(raw_id) filter (where rank = 1))[1] as raw_id,
           min(received_at) as received_at,
           -- Only events of captured money have a say in it, where there are any.
           coalesce(max(amount) filter (where status = 'captured'), max(amount)) as amount,
           coalesce(max(currency) filter (where status = 'captured'), max(currency)) as currency,
           coalesce(min(paid_at) filter (where status = 'captured'), min(paid_at)) as paid_at,
           -- Money goes where an event of that money says.
           max(external_loan_id) filter (where status = 'captured' or not any_captured) as named_loan_id,
           max(problem) as problem,
           bool_or(status = 'captured') and (min(amount) filter (where status = 'captured') <> max(amount) filter (where status = 'captured')
             or min(currency) filter (where status = 'captured') <> max(currency) filter (where status = 'captured')) is true as disagrees_on_money,
           (min(external_loan_id) filter (where status = 'captured') <> max(external_loan_id) filter (where status = 'captured')) is true as disagrees_on_loan,
           -- An unverified event that is left beside a verified one names another lender.
           (bool_or(verified_by is not null) filter (where status = 'captured')
             <> bool_and(verified_by is not null) filter (where status = 'captured')) is true as disagrees_on_lender,
           (array_agg(hints) filter (where rank = 1))[1] as hints
      from believed
     group by kind, gateway_payment_id
  )
  insert into core.transaction as t (gateway, kind, gateway_payment_id, of_payment_id, lender, named_loan_id, amount, currency,
    paid_at, is_captured, is_verified, state, reason, source, raw_id, received_at, hints)
  select wanted_gateway, kind, gateway_payment_id, of_payment_id, lender, named_loan_id, amount, currency,
         paid_at, is_captured, is_verified,
         case when kind = 'payment' then s.state else 'suspense' end,
         case when kind = 'payment' then s.reason when all_outside then 'sender_not_allowed' else kind end,
         source, raw_id, received_at, hints
    from told
   -- Where all come from outside, it is refused for that once the ledger has said whose loan it is.
   cross join lateral core.fate_of(is_captured, problem,
     (disagrees_on_money or disagrees_on_loan or disagrees_on_lender) and not all_outside, named_loan_id, null) s
   order by gateway_payment_id
  on conflict (gateway_payment_id, gateway, kind) do update
     set of_payment_id = excluded.of_payment_id, lender = excluded.lender, named_loan_id = excluded.named_loan_id,
         amount = excluded.amount, currency = excluded.currency, paid_at = excluded.paid_at,
         is_captured = excluded.is_captured, is_verified = excluded.is_verified,
         source = excluded.source, raw_id = excluded.raw_id, received_at = excluded.received_at, hints = excluded.hints,
         objection = null,
         refused_reason = case when has_news then core.standing_refusal(t.refused_reason, t.next_try_at) else t.refused_reason end,
         next_try_at = case when has_news then null else t.next_try_at end,
         (state, reason) = (
           select case when t.kind = 'payment' then s.state else 'suspense' end,
                  case when t.kind = 'payment' then s.reason else excluded.reason end
             -- An operator who assigned a loan has settled what the events say of it.
             from core.fate_of(excluded.is_captured,
               case when excluded.reason in ('unreadable', 'amount_invalid') then excluded.reason end,
               excluded.reason = 'events_disagree' and (t.assigned_loan_id is null or exists (
                 select from core.event e
                  where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                    and e.status = 'captured' and not e.is_outside and (e.verified_by is not null or not excluded.is_verified)
                    and (e.amount <> excluded.amount or e.currency <> excluded.currency))),
               coalesce(t.assigned_loan_id, excluded.named_loan_id),
               case when has_news then core.standing_refusal(t.refused_reason, t.next_try_at) else t.refused_reason end) s)
   where t.state not in ('posting', 'posted');

  -- A refund of money that never came takes nothing back; one that came to nothing does not either. Where it names no
  -- loan, its payment does.
  update core.transaction r
     set state = s.state, reason = case when s.state = 'suspense' then r.kind end, named_loan_id = s.loan
    from (select r.id, coalesce(r.named_loan_id, p.external_loan_id) as loan,
                 case when bool_or(e.status = 'done') and not (bool_or(e.status = 'never_captured') or p.state = 'failed') then 'suspense'
                      when bool_or(e.status = 'undone') and not bool_or(e.status = 'done') then 'failed'
                      when p.is_captured is not true and (bool_or(e.status = 'never_captured') or p.state = 'failed') then 'returned'
                      else 'suspense' end as state
            from core.transaction r
            join core.event e on e.gateway_payment_id = r.gateway_payment_id and e.gateway = r.gateway and e.kind = r.kind
                             and not e.is_outside and (e.verified_by is not null or not r.is_verified)
            left join core.transaction p on p.gateway_payment_id = r.of_payment_id and p.gateway = r.gateway and p.kind = 'payment'
           where r.gateway_payment_id = any(touched) and r.gateway = wanted_gateway and r.kind <> 'payment'
           group by r.id, p.id) s
   where r.id = s.id and (r.state, r.reason, r.named_loan_id)
         is distinct from (s.state, case when s.state = 'suspense' then r.kind end, s.loan);

  -- A payment that is not posted yet goes to suspense with its refund.
  update core.transaction p
     set state = 'suspense', reason = r.kind
    from core.transaction r
   where p.gateway_payment_id = any(touched) and p.gateway = wanted_gateway and p.kind = 'payment'
     and p.state in ('waiting', 'suspense') and p.reason is distinct from 'unreadable'
     and r.of_payment_id = p.gateway_payment_id and r.gateway = p.gateway and r.kind <> 'payment' and r.reason = r.kind
     -- What nobody signed stops nothing that its lender's secret vouches for.
     and (r.is_verified or not p.is_verified);

  -- What is on its way may still be stopped by it.
  update core.transaction p
     set objection = o.objection
    from (select t.id, case
                   when exists (
                     select from core.event e
                      where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                        and e.status = 'captured' and not e.is_outside
                        and (e.amount <> t.amount or e.currency <> t.currency
                          or t.assigned_loan_id is null and e.external_loan_id <> t.named_loan_id)
                        and (e.verified_by is not null or not exists (
                          select from core.event v
                           where v.gateway_payment_id = e.gateway_payment_id and v.gateway = e.gateway and v.kind = e.kind
                             and v.verified_by is not null and not v.is_outside and (v.lender = e.lender or 'UNKNOWN' in (v.lender, e.lender)))))
                     then 'events_disagree'
                   when t.state = 'posting' then (
                     select max(r.kind) from core.transaction r
                      where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment'
                        and r.reason = r.kind and (r.is_verified or not t.is_verified))
                 end as objection
            from core.transaction t
           where t.gateway_payment_id = any(touched) and t.gateway = wanted_gateway and t.kind = 'payment'
             and t.state in ('posting', 'posted')) o
   where p.id = o.id and p.objection is distinct from o.objection;

  if is_sender_judged then
    perform core.note_unjudged(wanted_gateway, touched);
  end if;
end
$$;

-- Takes rows of one source that no batch has taken yet, and settles what they speak of.
create or replace function core.take(wanted_source text, ids uuid[],
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  source core.source;
  changed text[];
begin
  perform core.lock_settling();
  select * into source from core.source s where s.name = wanted_source;
  with gone as (
    delete from core.pending_event p where p.source = wanted_source and p.raw_id = any(ids) returning p.received_at
  ), counted as (
    update core.source s set events = s.events + g.events, last_event_at = greatest(s.last_event_at, g.last_event_at)
      from (select count(*) as events, max(received_at) as last_event_at from gone) g
     where s.name = wanted_source and g.events > 0
  )
  select count(*) into taken from gone;
  suspended := 0;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  execute format($sql$
    with noted as (
      insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, of_payment_id, status, amount, currency,
        paid_at, external_loan_id, problem, lender, verified_by, address, received_at, hints)
      select $1, raw_id, $2, kind, case when found.problem = 'unreadable' then raw_id::text else payment_id end,
             of_payment_id, status, amount, currency, paid_at, external_loan_id,
             found.problem, $3, verified_by, address, received_at, hints
        from base.%I b
       -- An operator's own view may not have asked.
       cross join lateral (select case
         when payment_id is null or (kind, status) = ('payment', 'captured') and (amount is null or paid_at is null) then 'unreadable'
         when b.problem is null and (kind, status) = ('payment', 'captured') and base.is_no_money(amount) then 'amount_invalid'
         else b.problem end) found (problem)
       where raw_id = any($4)
      on conflict do nothing
      returning gateway_payment_id)
    select array_agg(distinct gateway_payment_id) from noted$sql$, wanted_source)
    using wanted_source, source.gateway, source.lender, ids into changed;
  if changed is null then
    return;
  end if;
  perform core.settle(source.gateway, changed, true);
  select count(*) filter (where t.state = 'suspense'), count(*) filter (where t.state = 'failed')
    into suspended, failed
    from core.transaction t
   where t.gateway_payment_id = any(changed) and t.gateway = source.gateway;
end
$$;

-- Takes up to `most` rows, fewer where they are large, the oldest first.
create or replace function core.transform(wanted_source text, most integer,
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  ids uuid[];
begin
  perform core.lock_settling();
  -- A mebibyte takes some 10 ms to read: thousands of such bodies at once would be cut off, again and again.
  execute format($sql$
    select array_agg(raw_id)
      from (select p.raw_id, sum(octet_length(r.body)) over (order by p.raw_id) - octet_length(r.body) as bytes_before
              from (select raw_id from core.pending_event where source = $1 order by raw_id limit $2) p
              left join raw.%I r on r.id = p.raw_id) next
     where bytes_before < 64 * 1024 * 1024 is not false$sql$, wanted_source)
    using wanted_source, most into ids;
  select t.taken, t.suspended, t.failed into taken, suspended, failed from core.take(wanted_source, ids) t;
end
$$;

-- Sets a row aside that its base view cannot read.
create or replace function core.put_aside(wanted_source text, row_id uuid, error text,
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql as $$
begin
  perform core.lock_settling();
  delete from core.pending_event p where p.source = wanted_source and p.raw_id = row_id;
  get diagnostics taken = row_count;
  suspended := taken;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, problem, lender, received_at, hints)
  select name, row_id, gateway, 'payment', row_id::text, 'captured', 'unreadable', lender, now(), jsonb_build_object('error', error)
    from core.source where name = wanted_source
  on conflict do nothing;
  update core.source set events = events + 1 where name = wanted_source;
  perform core.settle((select gateway from core.source where name = wanted_source), array[row_id::text], true);
end
$$;
