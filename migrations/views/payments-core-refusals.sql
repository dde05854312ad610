-- A refused repayment is retried by the next batch, then after a quarter of an hour, then at growing intervals, for seven
-- days.
create or replace function core.next_try_at(tries integer, refused_at timestamptz) returns timestamptz language sql stable as $$
  select case when coalesce(refused_at, now()) > now() - interval '7 days'
    then now() + case when tries = 0 then interval '0'
                 else least(interval '15 minutes' * 2 ^ least(tries - 1, 10), interval '1 day') end end
$$;

-- The reasons, for which the events were to blame, that new events judge again.
create or replace function core.judged_again() returns text[] language sql immutable parallel safe as $$
  select array['signature_not_verified', 'sender_not_allowed', 'lender_mismatch', 'currency_mismatch', 'amount_invalid', 'events_disagree']
$$;

-- The refusal that stays once a payment has new events. A refused repayment that is being retried is retried at once, and
-- one that was refused because of the events is decided again. Other refusals wait for an operator: the seven days are
-- over, the operator marked the repayment as failed, or reopened the payment.
create or replace function core.standing_refusal(refused_reason text, next_try_at timestamptz, is_reopened boolean) returns text
  language sql immutable parallel safe as $$
  select case when next_try_at is null and (is_reopened or refused_reason <> all(core.judged_again())) then refused_reason end
$$;

-- Ends the refusals of payments with new events, except where a payment stays as it is whatever its events say.
create or replace function core.end_refusals(wanted_gateway text, ids text[]) returns void language sql volatile as $$
  update core.transaction t
     set refused_reason = core.standing_refusal(t.refused_reason, t.next_try_at, t.decided_over is not null), next_try_at = null
   where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway and num_nonnulls(t.refused_reason, t.next_try_at) > 0
     and (not core.is_kept(t) or t.kind = 'payment' and t.state in ('waiting', 'suspense') and t.decision is null)
$$;

-- Makes refused repayments that are due wait to be posted again, unless they are now in suspense for another reason.
-- Locked rows are left to the next batch.
create or replace function core.retry_refused(batch uuid, most integer) returns bigint language sql volatile as $$
  with retried as (
    update core.transaction t
       set (state, reason) = (
             select f.state, f.reason from core.split_fate(core.fate_of_payment(t, null, null, t.objection)) f),
           refused_reason = null, next_try_at = null
     where id = any(array(
       select id from core.transaction
        where state = 'suspense' and reason = refused_reason and next_try_at <= now()
          and batch_id is distinct from batch
        order by next_try_at
        limit most for update skip locked))
    returning id
  )
  select count(*) from retried
$$;
