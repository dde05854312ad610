-- Whether `p` is the payment that the refund or chargeback `r` is of. PostgreSQL inlines this.
create or replace function core.is_payment_of(p core.transaction, r core.transaction) returns boolean
  language sql immutable parallel safe as $$
  select p.gateway_payment_id = r.of_payment_id and p.gateway = r.gateway and p.kind = 'payment'
$$;

-- Whether the amount of this refund or chargeback is in the currency in which its payment is posted: an operator may have posted
-- the payment in another one.
create or replace function core.is_in_currency_of(r core.transaction, p core.transaction) returns boolean
  language sql immutable parallel safe as $$
  select (coalesce(r.currency = p.currency, r.currency is null) and coalesce(p.decided_amount <= p.amount, p.decided_amount is null)
          and p.decided_over ->> 'reason' is distinct from 'currency_mismatch') is true
$$;

-- Whether an operator may have this refund or chargeback taken out of its payment as it stands.
create or replace function core.can_reverse(r core.transaction, p core.transaction) returns boolean
  language sql immutable parallel safe as $$
  select (r.amount > 0 and r.amount <= core.returnable_amount(p) and core.is_in_currency_of(r, p)) is true
$$;

-- Whether batches may book this refund or chargeback: the settings of the loan's lender allow it, each event that counts is signed
-- or came from the gateway's API, and all of these events agree that this money has gone back.
create or replace function core.is_proved_for(r core.transaction, loan text) returns boolean language sql stable as $$
  select coalesce(bool_and(exists (
             select from core.reversing c
               join core.loan_product l on l.product = c.product and l.external_loan_id = loan
              where c.gateway = r.gateway and e.lender in ('UNKNOWN', c.lender)
                and core.is_proved(c.account, c.proved_by, e.lender, e.verified_by))), false)
         -- A dispute's row in gateway B's reconciliation may have the gateway's fee in its amount.
         and bool_or(s.is_done and not (r.kind = 'chargeback' and coalesce(e.hints ? 'is_of_row', false)))
         and coalesce(bool_and(e.amount = r.amount and e.currency is not distinct from r.currency) filter (where s.is_done), false)
         and coalesce(bool_and(e.of_payment_id = r.of_payment_id), true)
         and max(e.facts) < core.most_facts()
    from core.weigh_events(r.gateway, array[r.gateway_payment_id]) e
   -- A gateway that gave a payment back by itself may call it never captured.
   cross join lateral (select e.status in ('done', 'never_captured') as is_done) s
   where e.kind = r.kind and e.ignored_for is null
$$;

-- The id of another refund or chargeback that is probably the same money: a row of gateway B's reconciliation has another id than
-- the webhooks, and for a dispute perhaps another amount. A refund's other id is the one that the lender gave it. In PL/pgSQL, as
-- core.refund_outcome.
create or replace function core.same_money_as(r core.transaction) returns text
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (select min(o.gateway_payment_id)
    from (
      select o.* from core.transaction o
       where r.hints ? 'is_of_row' and o.of_payment_id = r.of_payment_id and o.gateway = r.gateway
         -- Two rows of refunds with ids of the lender's are two refunds.
         and (r.kind = 'chargeback' or (o.hints ? 'is_of_row') is not true)
      union all
      -- Anybody may send refunds where they are not signed: those are not read for each of them. A row is verified.
      select o.* from core.transaction o
       where (r.hints ? 'is_of_row') is not true and (o.hints ? 'is_of_row' or o.hints ->> 'refund_id' = r.hints ->> 'refund_id'
              or base.plain_refund_id(o.gateway_payment_id) = base.plain_refund_id(r.gateway_payment_id))
         and o.is_verified and o.kind <> 'payment'
         and o.of_payment_id = r.of_payment_id and o.gateway = r.gateway) o
   where o.kind = r.kind and o.id <> r.id and (o.amount = r.amount or r.kind = 'chargeback') and o.state <> 'failed'
     and (o.returned_amount is not null or (o.received_at, o.id) < (r.received_at, r.id)));
end
$$;

-- Whether batches book this refund or chargeback by themselves.
create or replace function core.is_due(r core.transaction, p core.transaction, is_undone boolean) returns boolean language sql stable as $$
  select exists (select from core.reversing)
     -- A refund that a person put back or reopened waits for a person again.
     and (not is_undone and r.decision is null and r.decided_over is null and r.refused_reason is null and r.disagreement is null
          -- An operator who decided in spite of this refund has left its amount out, or corrected the ledger.
          and not core.has_cleared(p, r)
          -- What a person has posted for another amount may be in another currency.
          and (p.decision is distinct from 'post' or p.decided_amount = p.amount)
          and (p.state = 'posted'
               -- A payment that failed and is captured now is decided only after its refunds.
               or p.state in ('waiting', 'suspense', 'failed') and p.is_captured and p.decision is null and p.unconfirmed is null
                  -- The ledger may have its money already. Whoever reopened the payment, ended its repayment or undid that may
                  -- have booked it by hand; a twin may have been posted; or a repayment that differs.
                  and p.decided_over is null and core.twin_of(p) is null and not p.may_be_booked
                  and coalesce(p.refused_reason not in ('reversed_at_ledger', 'missing_at_ledger'), true)
                  and p.disagreement is null and (p.problem is null or p.problem = 'awaiting_review'))
          and core.can_reverse(r, p) and core.is_proved_for(r, p.external_loan_id) and core.same_money_as(r) is null) is true
$$;

-- When the last event arrived that says that this refund or chargeback was made.
create or replace function core.last_done(r core.transaction) returns timestamptz language sql stable as $$
  select coalesce(max(e.received_at), '-infinity')
    from core.weigh_events(r.gateway, array[r.gateway_payment_id]) e
   where e.kind = r.kind and e.status in ('done', 'never_captured') and e.ignored_for is null
$$;

-- What an operator decided about a refund or chargeback. A restore ends once the gateway says again that the money went back.
create or replace function core.standing_decision(r core.transaction) returns text language sql stable as $$
  select case when r.decision is distinct from 'restore' or core.last_done(r) > (r.decided_over ->> 'last_done')::timestamptz is not true
              then r.decision end
$$;

-- Decides the fates of refunds and chargebacks; one that names no loan gets its payment's.
create or replace function core.decide_refunds(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  with found as materialized (
    select r.id, f.state, f.reason, f.objection, n.loan
      from core.transaction r
      left join core.transaction p on core.is_payment_of(p, r)
     cross join lateral (select core.was_captured(p)) c (is_payment_captured)
     cross join lateral core.refund_outcome(r, c.is_payment_captured) e
     cross join lateral (
       select case when e.all_outside then r.named_loan_id
                   -- Whatever loan its event names, the loan that an operator chose for its payment has the money.
                   else coalesce(p.assigned_loan_id, r.named_loan_id, p.external_loan_id) end) n (loan)
     -- Of several objections, the last in the alphabet, taken_back, is the one with a remedy.
     cross join lateral (select max(a.objection) from core.facts_against_booked(r) a) o (objection)
     cross join lateral core.standing_decision(r) d (decision)
     cross join lateral core.split_fate(coalesce(core.kept_fate(r, d.decision, o.objection),
       core.fate_of_refund(r.kind, e.all_outside, e.is_done, e.is_undone, e.is_of_nothing, c.is_payment_captured,
         r.unconfirmed, r.refused_reason, core.is_due(r, p, e.is_undone), d.decision = 'restore'))) f
     where r.gateway_payment_id = any(ids) and r.gateway = wanted_gateway and r.kind <> 'payment'
       and (r.state, r.reason, r.objection, r.named_loan_id) is distinct from (f.state, f.reason, f.objection, n.loan)
  )
  update core.transaction t
     set state = found.state, reason = found.reason, objection = found.objection, named_loan_id = found.loan,
         suspended_at = case when found.state = 'suspense' then coalesce(t.suspended_at, now()) end
    from found
   where t.id = found.id
$$;

-- Takes refunds and chargebacks that are due out of payments that are not posted yet: these are posted for what is left, or
-- are returned once the ledger was found not to have them.
-- Returns whether there were any.
create or replace function core.return_unposted(wanted_gateway text, ids text[]) returns boolean language plpgsql volatile as $$
declare
  due record;
  has_any boolean := false;
begin
  for due in
    select r.id, r.amount, p.id as payment
      from core.transaction r
      join core.transaction p on core.is_payment_of(p, r)
     where r.gateway_payment_id = any(ids) and r.gateway = wanted_gateway and r.kind <> 'payment'
       and r.state = 'waiting' and r.unconfirmed is null and p.state in ('waiting', 'suspense', 'failed')
     order by r.received_at, r.id
  loop
    -- Where nothing is left, its repayment only looks whether the ledger has the money, whatever was refused before.
    update core.transaction p
       set returned_amount = coalesce(p.returned_amount, 0) + due.amount,
           refused_reason = case when core.posted_amount(p) > due.amount then p.refused_reason end,
           next_try_at = case when core.posted_amount(p) > due.amount then p.next_try_at end
     where p.id = due.payment and core.returnable_amount(p) >= due.amount;
    if found then
      update core.transaction set state = 'returned', returned_amount = due.amount, decision = null where id = due.id;
      has_any := true;
    end if;
  end loop;
  return has_any;
end
$$;

-- Records that a reversal or a restore has changed nothing. `reason`: why a reversal is refused; null if nothing was sent.
-- Returns the payment to be settled.
create or replace function core.refuse_reversal(row_id uuid, operation uuid, reason text, detail text) returns uuid
  language sql volatile as $$
  with r as materialized (
    select r.id, r.decision, r.ledger_transaction_id, r.read_back_at, p.id as payment
      from core.transaction r
      join core.transaction p on core.is_payment_of(p, r)
     where r.id = row_id and r.operation_id = operation and r.state = 'posting' for update
  ), refused as (
    update core.transaction t
       set state = case when r.decision is null then 'waiting' when r.ledger_transaction_id is null then 'returned' else 'posted' end,
           posted_at = case when r.decision = 'restore' and r.ledger_transaction_id is not null then clock_timestamp() end,
           decision = null, refused_reason = case when r.decision is null then refuse_reversal.reason end,
           refused_detail = detail, read_back_at = null
      from r where t.id = r.id
  ), looked as (
    -- What was found at the ledger before still stands there.
    update core.transaction t set read_back_at = r.read_back_at
      from r where t.id = r.payment and r.read_back_at is not null and t.read_back_at is null
  )
  select payment from r
$$;

-- Records that a reversal or a restore has undone the repayment. `posted`: the ledger's transaction of what stands now, null if
-- nothing does. Returns the payment to be settled.
create or replace function core.end_reversal(row_id uuid, operation uuid, posted bigint) returns uuid language plpgsql volatile as $$
declare
  r core.transaction;
  p core.transaction;
  -- The amount that is taken out of the payment; negative if it is put back.
  change numeric;
begin
  select * into r from core.transaction t where t.id = row_id and t.operation_id = operation and t.state = 'posting' for update;
  select * into p from core.transaction t
   where core.is_payment_of(t, r) for update;
  if p.id is null then
    return null;
  end if;
  change := case when r.decision = 'restore' then -r.amount else r.amount end;
  update core.transaction t
     set state = case when change > 0 then 'posted' else 'waiting' end, returned_amount = case when change > 0 then change end,
         posted_at = case when change > 0 then clock_timestamp() end, named_loan_id = p.external_loan_id,
         ledger_transaction_id = case when change > 0 then p.ledger_transaction_id end, refused_detail = null
   where t.id = r.id;
  -- The posting number grows, because the external id of an undone repayment stays reserved.
  update core.transaction t
     set returned_amount = nullif(coalesce(p.returned_amount, 0) + change, 0), posting_number = p.posting_number + 1,
         state = case when posted is not null then 'posted' when core.posted_amount(p) > change then 'waiting' else 'returned' end,
         reason = null, operation_id = operation,
         posted_at = case when posted is not null then clock_timestamp() end, ledger_transaction_id = posted,
         read_back_at = null, difference = null, ledger_amount = null,
         refused_reason = null, refused_detail = null, tries = 0, refused_at = null, next_try_at = null, may_be_booked = false
   where t.id = p.id;
  insert into core.posting (transaction_id, operation_id) select p.id, operation where posted is not null;
  return p.id;
end
$$;

-- Copies from the settings whose refunds are booked automatically. If that has changed, the refunds concerned are settled
-- again.
create or replace function core.copy_reversing(settings jsonb) returns void language plpgsql as $$
begin
  if core.copy_settings('core.reversing', settings) is not null then
    insert into core.unjudged_payment (gateway, gateway_payment_id)
    select distinct gateway, of_payment_id from core.transaction
     where kind <> 'payment' and of_payment_id is not null
       and (state = 'waiting' or state = 'suspense' and reason in ('refund', 'chargeback'))
    on conflict do nothing;
  end if;
end
$$;

-- Whether a refund or chargeback of this payment is on its way to or from the ledger.
create or replace function core.is_being_reversed(p core.transaction) returns boolean language sql stable as $$
  select exists (select from core.transaction r
                  where r.of_payment_id = p.gateway_payment_id and r.gateway = p.gateway and r.kind <> 'payment' and r.state = 'posting')
$$;
