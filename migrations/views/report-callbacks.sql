-- Whether a receiver is up: five failed attempts in a row, of whatever callbacks, mean that it is down, as long as one is left
-- that would show that it is back.
create or replace function loanops.receiver_state(receiver loanops.callback_receiver) returns text language sql stable as $$
  select case when receiver.stopped_at is not null then 'stopped'
              when receiver.failures >= 5 and exists (select from loanops.callback where state = 'pending') then 'down'
              else 'up' end
$$;

-- Saves a callback, if the receiver wants callbacks of this type.
create or replace function loanops.note_callback(type text, subject text, about uuid, occurred_at timestamptz, snapshot json)
  returns void language sql volatile as $$
  insert into loanops.callback (type, subject, about, occurred_at, snapshot)
  select note_callback.type, note_callback.subject, note_callback.about, note_callback.occurred_at, note_callback.snapshot
    from loanops.callback_receiver r
   where note_callback.type = any(r.types)
$$;

-- Saves the callback of an operation that ended. The trigger inserts directly, with a plan that its session keeps:
-- note_callback would be planned for each operation.
create or replace function loanops.report_operation() returns trigger language plpgsql as $$
declare
  ending text := case new.status when 'success' then 'operation.succeeded' else 'operation.failed' end;
begin
  insert into loanops.callback (type, subject, about, occurred_at)
  select ending, new.subject, new.id, new.processed_at
    from loanops.callback_receiver r
   where ending = any(r.types);
  return null;
end
$$;

create or replace function loanops.report_migration() returns trigger language plpgsql as $$
begin
  perform loanops.note_callback('migration.' || new.status, 'migration:' || new.id, new.id, coalesce(new.ended_at, now()),
    (select to_json(v) from ops.migration v where v.migration_id = new.id));
  return null;
end
$$;

-- The callback for a payment in this state, and a key for what it reports, to compare with the state before; null for none.
create or replace function core.report_of(state text, reason text, objection text)
  returns table (type text, key text) language sql immutable as $$
  select case when state = 'posted' and objection is not null then 'payment.objected'
              when state = 'suspense' then 'payment.suspended'
              else 'payment.' || state end,
         concat_ws(' ', state, case when state = 'suspense' then reason when state = 'posted' then objection end)
$$;

-- The text, or null if only a stranger wrote it, as a name where an id belongs: such a text must not leave. The ledger knows
-- the loan of a payment that was posted, or booked by hand as a transaction that was found. An id that a caller's operation
-- or a file has named is not a stranger's either.
create or replace function core.sendable(t core.transaction, name text) returns text language sql stable as $$
  select case when coalesce(t.posted_at is not null or t.ledger_transaction_id is not null, false)
                or name ~ '^[A-Za-z0-9_.:/#-]{1,100}$' then name
              when exists (select from loanops.operation o
                            where o.external_id = name and o.subject = 'loan:' || name and o.origin <> 'payment') then name end
$$;

create or replace function core.report_payment() returns trigger language plpgsql as $$
declare
  payment core.transaction;
  report record;
  subject text;
  -- What the payment was last reported as, how much of it had gone back then, and how much has now.
  said text;
  was_returned numeric;
  is_returned numeric;
  key text;
begin
  if not exists (select from loanops.callback_receiver where types <> '{}') then
    return null;
  end if;
  -- The trigger is deferred: this is the row at the end of the transaction.
  select * into payment from core.transaction t where t.id = new.id;
  if payment.state not in ('posted', 'suspense', 'returned', 'handled', 'dismissed') then
    return null;
  end if;
  select * into report from core.report_of(payment.state, payment.reason, payment.objection);
  is_returned := case when payment.kind = 'payment' then payment.returned_amount end;
  key := concat_ws(' ', report.key, '-' || trim_scale(is_returned));
  if payment.reported is not distinct from key then
    return null;
  end if;
  said := regexp_replace(payment.reported, ' -[0-9.]+$', '');
  was_returned := coalesce(substring(payment.reported from ' -([0-9.]+)$')::numeric, 0);
  subject := case when payment.external_loan_id is null
    then 'payment:' || payment.gateway || '/' || core.sendable(payment, payment.gateway_payment_id)
    else 'loan:' || core.sendable(payment, payment.external_loan_id) end;
  subject := coalesce(subject, 'payment:' || payment.gateway || '/' || payment.raw_id);
  if report.type = 'payment.objected' and (said is null or said not like 'posted%') then
    perform loanops.note_callback('payment.posted', subject, payment.id, payment.posted_at,
      core.payment_snapshot(payment, objection => null));
  end if;
  -- Money that went back before the payment was posted was never reported as posted.
  if said like 'posted%' and is_returned > was_returned then
    perform loanops.note_callback('payment.reversed', subject, payment.id, clock_timestamp(),
      core.payment_snapshot(payment, payment.objection));
  end if;
  -- After an objection is cleared, the payment is still posted, as already reported, unless some of it was posted again.
  if said is distinct from report.key and (report.key <> 'posted' or said is null or said not like 'posted%')
     or payment.state = 'posted' and was_returned > coalesce(is_returned, 0) then
    perform loanops.note_callback(report.type, subject, payment.id,
      case when report.type = 'payment.posted' then payment.posted_at else clock_timestamp() end,
      core.payment_snapshot(payment, payment.objection));
  end if;
  update core.transaction t set reported = key where t.id = payment.id;
  return null;
end
$$;

-- The columns of ops.payment that hold no personal data.
create or replace function core.payment_snapshot(t core.transaction, objection text) returns json language sql stable as $$
  select json_build_object('gateway', p.gateway, 'gateway_payment_id', core.sendable(t, p.gateway_payment_id), 'kind', p.kind,
           'of_payment_id', core.sendable(t, p.of_payment_id), 'lender', p.lender,
           'external_loan_id', core.sendable(t, p.external_loan_id), 'amount', p.amount::text,
           'currency', case when p.currency ~ '^[A-Z]{3}$' then p.currency end, 'paid_at', p.paid_at, 'state', p.state, 'reason', p.reason,
           'verified', p.verified, 'ledger_transaction_id', p.ledger_transaction_id::text, 'raw_table', p.raw_table,
           'raw_id', p.raw_id, 'received_at', p.received_at, 'posted_at', p.posted_at,
           'objection', payment_snapshot.objection, 'returned_amount', p.returned_amount::text, 'matched_by', p.matched_by,
           'suggested_loan', core.sendable(t, p.suggested_loan))
    from ops.payment p where p.id = t.id
$$;

-- Only one transaction at a time numbers callbacks and chooses the next of each subject: of two concurrent ones, each
-- would miss the other's.
create or replace function loanops.lock_callbacks() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7405318)
$$;

-- A callback that is sent again goes before a later one of its subject that waits for its retry.
create or replace function loanops.choose_next_callbacks(subjects text[]) returns void language sql volatile as $$
  update loanops.callback c
     set is_next = n.is_first
    from (select p.id, row_number() over (partition by p.subject order by p.sequence) = 1 as is_first
            from loanops.callback p
           where p.subject = any(subjects) and p.state = 'pending' and p.body is not null) n
   -- Rows are found by id alone: PostgreSQL cannot know how many are pending, and would run the subquery for each.
   where c.id = n.id and c.is_next <> n.is_first
$$;

create or replace view ops.callback as
select id as callback_id, type, subject, state, attempts,
       case when state = 'pending' then next_try_at end as next_try_at,
       last_status, last_error, created_at, delivered_at, sequence, seq
  from loanops.callback;
comment on view ops.callback is 'Each callback to the LOS, and whether it was delivered';

create or replace view ops.callback_attempt as
select callback_id, attempt, started_at, ended_at, http_status, error from loanops.callback_attempt;
comment on view ops.callback_attempt is 'Each attempt to deliver a callback';
