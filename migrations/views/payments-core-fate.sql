-- Whether the ledger can have a loan of such a name.
create or replace function core.can_be_loan(name text) returns boolean language sql immutable parallel safe as $$
  select name ~ '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,99}$'
$$;

-- Where a payment, refund or chargeback goes: the first row whose condition holds. What its events say is in
-- the arguments, named as the columns of core.transaction.
create or replace function core.fate_of(
  kind text,
  is_captured boolean,
  problem text,
  disagreement text,
  loan text,
  is_assigned boolean default false,
  refused_reason text default null,
  -- The state and reason that it has; null for one that is new.
  present_state text default null,
  present_reason text default null,
  -- The kind of a refund or chargeback that stands against this payment.
  held_by text default null,
  -- An event that counts says something other than what was sent to the ledger.
  is_contradicted boolean default false,
  -- Of a refund or chargeback: whether none of its events counts, what those that count say, and whether its payment came.
  all_outside boolean default false,
  is_done boolean default false,
  is_undone boolean default false,
  is_of_nothing boolean default false,
  is_payment_captured boolean default null
) returns table (state text, reason text, objection text) language sql immutable parallel safe as $$
  select fate[1], fate[2], fate[3]
    from (select case
      -- A refund or chargeback stands beside its payment.
      when kind <> 'payment' then case
        --   condition                                         state       reason                objection
        when all_outside                                then array['suspense', 'sender_not_allowed', null]
        when is_done and not is_of_nothing              then array['suspense', kind,                 null]
        when is_undone and not is_done                  then array['failed',   null,                 null]
        -- A refund of money that never came takes nothing back.
        when is_of_nothing and is_payment_captured is not true
                                                        then array['returned', null,                 null]
        else                                                 array['suspense', kind,                 null] end

      -- A payment that is posted, or on its way to the ledger, stays there: what speaks against it is its objection.
      when present_state in ('posting', 'posted') then case
        when is_contradicted                            then array[present_state, present_reason, 'events_disagree']
        when present_state = 'posting'                  then array[present_state, present_reason, held_by]
        else                                                 array[present_state, present_reason, null] end

      else case
        when not is_captured                            then array['failed',   null,                 null]
        when problem = 'unreadable'                     then array['suspense', 'unreadable',         null]
        when held_by is not null                        then array['suspense', held_by,              null]
        -- An operator who assigned a loan has decided which one is meant.
        when disagreement = 'money' or disagreement = 'loan' and not is_assigned
                                                        then array['suspense', 'events_disagree',    null]
        when problem = 'amount_invalid'                 then array['suspense', 'amount_invalid',     null]
        when loan is null                               then array['suspense', 'no_loan_named',      null]
        when not core.can_be_loan(loan)                 then array['suspense', 'loan_unknown',       null]
        when refused_reason is not null                 then array['suspense', refused_reason,       null]
        else                                                 array['waiting',  null,                 null] end
      end
      -- Not merged into the query around it, which would evaluate it once for each column.
      offset 0) decided (fate)
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

-- Sends refused payments on their way again whose time has come, unless something else holds them by then; what somebody
-- has locked is left to the next batch.
create or replace function core.retry_refused(batch uuid, most integer) returns bigint language sql volatile as $$
  with retried as (
    update core.transaction t
       set (state, reason) = (
             select f.state, f.reason
               from core.fate_of(t.kind, t.is_captured, t.problem, t.disagreement, t.external_loan_id,
                      is_assigned => t.assigned_loan_id is not null) f),
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
