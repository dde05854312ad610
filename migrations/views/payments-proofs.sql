-- The confirmation settings that apply to an event: those of the lender to whose product its loan belongs or, until the ledger
-- has been asked for the loan, of the lender that it named. No row if it needs no confirmation.
create or replace function core.confirming_for(e core.event) returns setof core.confirming language sql stable rows 1 as $$
  select c.*
    from core.confirming c
   where c.gateway = e.gateway
     and c.product = coalesce(
           (select p.product from core.loan_product p
             where p.external_loan_id = case when e.kind = 'payment'
               then coalesce((select t.assigned_loan_id from core.transaction t
                               where t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = 'payment'),
                             e.external_loan_id,
                             -- The payment's link may name the loan.
                             (select t.named_loan_id from core.transaction t
                               where t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = 'payment'))
               else coalesce((select t.external_loan_id from core.transaction t
                               where t.gateway_payment_id = e.of_payment_id and t.gateway = e.gateway and t.kind = 'payment'),
                             e.external_loan_id) end),
           (select n.product from core.confirming n where n.lender = e.lender and n.gateway = e.gateway limit 1))
   -- If lenders share the product, the one that the event named comes first.
   order by c.lender = e.lender desc, c.lender
   limit 1
$$;

-- Marks the events that count only once proved. An event that cannot be read, is of an unknown type, or says that no money
-- came posts nothing by itself.
create or replace function core.mark_unproved(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  update core.event e
     set is_unproved = m.is_unproved_now
    from (select e.source, e.raw_id, e.kind, e.gateway_payment_id, e.is_unproved,
                 (e.kind <> 'payment' or e.status = 'captured')
                 and e.problem is distinct from 'unreadable' and e.problem is distinct from 'unknown_event'
                 and c.lender is not null and not core.is_proved(c.account, c.proved_by, e.lender, e.verified_by) as is_unproved_now
            from core.event e
            left join lateral core.confirming_for(e) c on true
           where e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null) m
   where m.is_unproved_now <> m.is_unproved
     and e.source = m.source and e.raw_id = m.raw_id and e.kind = m.kind and e.gateway_payment_id = m.gateway_payment_id
$$;

-- The payments, refunds and chargebacks about which the gateway will be asked: an unproved event states them, and no verified one
-- does. What an operator has booked needs no answer. What was dismissed does, because the gateway may have it after all.
create or replace function core.unanswered(wanted_gateway text, ids text[])
  returns table (kind text, gateway_payment_id text, account text) language sql stable as $$
  with proved as materialized (
    select distinct e.kind, e.gateway_payment_id, e.status, core.phase_of(e.hints) as phase
      from core.event e
     where e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null
       and not e.is_unproved and not e.is_outside and e.verified_by is not null
  )
  select distinct e.kind, e.gateway_payment_id, c.account
    from core.event e
   cross join lateral core.confirming_for(e) c
   where e.gateway_payment_id = any(ids) and e.gateway = wanted_gateway and e.set_aside is null
     and e.is_unproved and not e.is_outside
     and not exists (select from core.transaction t
                      where t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = e.kind
                        and t.decision in ('post', 'handled'))
     and not exists (select from proved p
                      where p.gateway_payment_id = e.gateway_payment_id and p.kind = e.kind
                        and case when e.kind = 'payment' then p.status = 'captured'
                              -- A refund that was made may still fail, and a dispute goes on.
                              else p.phase >= core.phase_of(e.hints)
                                   and (e.status in ('open', p.status)
                                        or array[p.status, e.status] <@ array['done', 'never_captured']) end)
$$;

-- Saves the questions for the gateway. `news`: the payments, refunds and chargebacks with new events, which may therefore be
-- confirmed now.
create or replace function core.note_questions(wanted_gateway text, ids text[], news text[]) returns void
  language sql volatile as $$
  with wanted as materialized (select * from core.unanswered(wanted_gateway, ids)), gone as (
    delete from core.question q
     where q.gateway_payment_id = any(ids) and q.gateway = wanted_gateway
       and not exists (select from wanted w where w.gateway_payment_id = q.gateway_payment_id
                          and w.kind = q.kind and w.account = q.account)
  )
  insert into core.question (gateway, kind, gateway_payment_id, account)
  select wanted_gateway, w.kind, w.gateway_payment_id, w.account from wanted w order by 3, 2, 4
  on conflict (gateway_payment_id, gateway, kind, account) do update
     set said = null, tries = 0, denied_at = null, batch_id = null, next_ask_at = now()
   where core.question.gateway_payment_id = any(news)
$$;

-- The loans that decide which account is asked next, and whose product was learned too long ago: since then, such a loan
-- may have been deleted and created again under another lender.
create or replace function core.loans_to_learn_again(most integer) returns setof text language sql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select p.external_loan_id
    from core.question q
    join core.transaction t on t.gateway_payment_id = q.gateway_payment_id and t.gateway = q.gateway and t.kind = q.kind
    left join core.transaction paid on core.is_payment_of(paid, t)
    join core.loan_product p on p.external_loan_id = coalesce(paid.external_loan_id, t.external_loan_id)
   where q.next_ask_at <= now() and p.learned_at < now() - interval '10 minutes'
   group by p.external_loan_id
   order by min(p.learned_at)
   limit most
$$;

-- The next questions for an account that this batch has not asked yet, the longest due first; each with the orders and
-- payments that its events name, first those that were not searched yet.
create or replace function core.next_questions(wanted_gateway text, wanted_account text, batch uuid, by_order boolean,
  most integer, most_refs integer) returns table (kind text, id text, refs json, asked text[]) language sql stable
  set enable_seqscan = off set enable_bitmapscan = off as $$
  select q.kind, q.gateway_payment_id, refs.list, q.asked
    from (select * from core.question d
           where d.gateway = wanted_gateway and d.account = wanted_account and d.next_ask_at <= now()
             and d.batch_id is distinct from batch
           order by d.next_ask_at limit most) q
   cross join lateral (
     select coalesce(json_agg(json_build_object('key', n.key, 'orderId', n.order_id, 'paymentId', n.payment_id)), '[]') as list
       from (select md5(concat_ws('|', o.order_id, e.of_payment_id)) as key, o.order_id, e.of_payment_id as payment_id
               from core.event e
              cross join lateral (
                select case when by_order then coalesce(e.hints ->> 'order_id', (
                  select p.hints ->> 'order_id' from core.event p
                   where p.gateway_payment_id = e.of_payment_id and p.gateway = e.gateway and p.kind = 'payment'
                     and p.set_aside is null
                   order by p.is_unproved, p.received_at limit 1)) end as order_id) o
              where e.gateway_payment_id = q.gateway_payment_id and e.gateway = q.gateway and e.kind = q.kind
                and e.set_aside is null and e.is_unproved and not e.is_outside
              group by 1, 2, 3
              order by md5(concat_ws('|', o.order_id, e.of_payment_id)) = any(q.asked), min(e.received_at)
              limit most_refs) n) refs
$$;

-- Why the gateway's response, which is the body of a raw row, confirms none of the events; null if it confirms one.
-- `wanted_order`: the order under which the gateway has the payment; null if it finds payments by id alone.
create or replace function core.denial_of(wanted_gateway text, wanted_kind text, id text, wanted_order text, answer bytea)
  returns text language plpgsql stable as $$
declare
  said base.fact;
begin
  execute format($sql$
    select * from base.%I($1) f
     where f.kind = $2 and $3 = any(core.stored_ids($4, $2, f.payment_id))
       and ($2 <> 'payment' or f.status = 'captured') limit 1$sql$,
    wanted_gateway) into said using answer, wanted_kind, id, wanted_gateway;
  if said.payment_id is null then
    return 'the gateway says that it has not happened';
  end if;
  if exists (
    select from core.event e
     where e.gateway_payment_id = id and e.gateway = wanted_gateway and e.kind = wanted_kind
       and e.set_aside is null and e.is_unproved and not e.is_outside
       and e.amount = said.amount
       and case when wanted_kind = 'payment'
             -- If the gateway names no loan, the event's is ignored: the gateway's response is what is stored.
             then e.currency = said.currency and (wanted_order is null or e.hints ->> 'order_id' = wanted_order)
                  and (said.external_loan_id is null or e.external_loan_id is null or e.external_loan_id = said.external_loan_id)
             else coalesce(e.currency = said.currency, true) and coalesce(e.of_payment_id = said.of_payment_id, true)
                  and (e.status in ('open', said.status)
                       or array[e.status, said.status] <@ array['done', 'never_captured']) end) then
    return null;
  end if;
  return concat('the gateway says ' || trim_scale(said.amount), ' ' || said.currency, ', of payment ' || said.of_payment_id,
    ', loan ' || said.external_loan_id, case when wanted_kind <> 'payment' then ', ' || said.status end);
end
$$;

-- Saves what an account answered, and settles the payments that it did not confirm.
create or replace function core.save_answers(wanted_gateway text, wanted_account text, batch uuid, answers jsonb) returns void
  language plpgsql volatile set enable_seqscan = off as $$
declare
  denied text[];
begin
  perform core.lock_settling();
  with saved as (
    update core.question q
       set batch_id = batch, asked = a.asked,
           said = case when a.outcome = 'denied' then a.said when a.outcome = 'unavailable' then q.said end,
           denied_at = case when a.outcome = 'denied' then coalesce(q.denied_at, now()) else q.denied_at end,
           tries = q.tries + (a.outcome <> 'unavailable')::integer,
           next_ask_at = case when a.outcome = 'unavailable' or a.has_more then now()
                              else core.next_try_at(q.tries, q.denied_at) end
      from jsonb_to_recordset(answers) as a (kind text, id text, outcome text, said text, asked text[], has_more boolean)
     where q.gateway_payment_id = a.id and q.kind = a.kind and q.gateway = wanted_gateway and q.account = wanted_account
    returning q.denied_at
  )
  update core.batch_run
     -- Only the payments that were denied for the first time count, because later batches ask about them again.
     set suspended = suspended + (select count(*) from saved where denied_at = now())
   where id = batch;
  select array_agg(distinct a.id) into denied
    from jsonb_to_recordset(answers) as a (id text, outcome text) where a.outcome = 'denied';
  if denied is not null then
    perform core.settle(wanted_gateway, denied, has_news => false);
  end if;
end
$$;

-- Copies from the settings which lenders' events must be confirmed. If that has changed, the events concerned are settled
-- again.
create or replace function core.copy_confirming(settings jsonb) returns void language plpgsql as $$
declare
  gone jsonb := core.copy_settings('core.confirming', settings);
begin
  insert into core.unjudged_payment (gateway, gateway_payment_id)
  select gateway, gateway_payment_id
    from core.question
   where gateway in (select g ->> 'gateway' from jsonb_array_elements(gone) g)
  union
  select gateway, gateway_payment_id
    from core.transaction
   where state in ('waiting', 'suspense') and unconfirmed is not null
     and gateway in (select g ->> 'gateway' from jsonb_array_elements(gone) g)
  on conflict do nothing;
end
$$;

-- Payments that are to be posted once more keep their money and loan, but whether they are proved depends on their events again.
create or replace function core.prove_again(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  with due as materialized (
    select id, gateway_payment_id from core.transaction t
     where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway and t.kind = 'payment'
       and t.state in ('waiting', 'suspense') and t.decision is null and core.is_kept(t)
  )
  update core.transaction t
     set is_verified = t.is_verified or s.is_verified,
         unconfirmed = case when s.is_unconfirmed then core.unconfirmed_of(wanted_gateway, s.kind, s.gateway_payment_id) end
    from due
    join core.summarize(wanted_gateway, array(select gateway_payment_id from due)) s using (gateway_payment_id)
   where t.id = due.id and s.kind = 'payment'
$$;
