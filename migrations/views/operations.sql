create or replace view ops.ledger_pause as
select reason, since, until from loanops.ledger_pause where until is null or until > now();
comment on view ops.ledger_pause is 'The pause of writes to the ledger, while there is one';

-- PostgreSQL inlines these two: indexes have the expressions themselves.
create or replace function loanops.tracking_id(o loanops.operation) returns text language sql immutable parallel safe as $$
  select o.operation_type || '|' || o.id::text
$$;
create or replace function loanops.error_code(response json) returns text language sql immutable parallel safe as $$
  select coalesce(response #>> '{errors,0,userMessageGlobalisationCode}', response ->> 'userMessageGlobalisationCode')
$$;

-- Whether a pause would keep an operation from its next write. An attempt under way may still end it, and an approval may
-- still come. The planner puts this in place of its call, because it has no query.
create or replace function loanops.is_pausable(o loanops.operation) returns boolean language sql immutable parallel safe as $$
  select (o.claimed_by is null or o.unstarted_attempt = o.attempt) and o.waiting_for is distinct from 'ledger_approval'
$$;

-- Why an unfinished operation waits: the first reason that holds. Each argument is named once, so that the planner puts this in
-- place of its call, and asks nothing that an earlier reason leaves open.
create or replace function loanops.reason_to_wait(is_unknown boolean, is_paused boolean, is_behind boolean, is_behind_client boolean,
  of_its_own text) returns text language sql immutable parallel safe as $$
  select case when is_unknown then 'outcome_unknown' when is_paused then 'paused' when is_behind then 'predecessor'
              when is_behind_client then 'client' else of_its_own end
$$;

-- This view has every operation, repayments included.
create or replace view loanops.operation_state as
select loanops.tracking_id(o) as tracking_id,
       o.operation_type,
       o.external_id,
       o.status,
       o.attempts,
       -- A finished operation waits for nothing. Because null || text is null, the planner can rule out finished
       -- operations and answer a filter on waiting_for from the index of unfinished ones. A case on the status would make
       -- it read every operation ever.
       unfinished.nothing || loanops.reason_to_wait(
         o.unknown_since is not null, loanops.is_pausable(o) and exists (select from ops.ledger_pause),
         exists (select from loanops.operation earlier
                  where earlier.subject = o.subject and earlier.status = 'processing' and earlier.seq < o.seq),
         exists (select from loanops.operation earlier
                  where earlier.subject = o.waits_for and earlier.status = 'processing' and earlier.seq < o.seq),
         o.waiting_for) as waiting_for,
       -- An operation whose time has passed is not tried at that time: it waits for something else, or is about to start.
       case when o.status = 'processing' and o.claimed_by is null and o.next_try_at > now() then o.next_try_at end
         as next_try_at,
       o.last_error,
       o.error_message,
       o.accepted_at,
       o.processed_at,
       o.origin,
       o.seq,
       case when o.status = 'failed' then loanops.error_code(o.response) end as error_code,
       o.caller,
       o.request_id,
       o.id,
       o.actor,
       o.address
  from loanops.operation o
  left join (select id, '' as nothing from loanops.operation where status = 'processing') unfinished using (id);

create or replace view ops.operation as
select tracking_id, operation_type, external_id, status, attempts, waiting_for, next_try_at, last_error, error_message,
       accepted_at, processed_at, origin, seq, error_code, caller, request_id, actor,
       address
  from loanops.operation_state
 where origin <> 'payment';
comment on view ops.operation is 'What became of each operation, and why it is not done yet';

create or replace view ops.operation_attempt as
select loanops.tracking_id(o) as tracking_id,
       a.attempt, a.started_at, a.ended_at, a.method, a.path, a.http_status, a.outcome, a.idempotency_key,
       a.times
  from loanops.operation o
  join loanops.operation_attempt a on a.operation_id = o.id
union all
select loanops.tracking_id(o), o.attempt, o.claimed_at, null, null, null, null, null, null, 1
  from loanops.operation o
 where o.status = 'processing' and o.claimed_by is not null and o.unstarted_attempt is distinct from o.attempt;
comment on view ops.operation_attempt is
  'Each call that tried to run an operation, consecutive equal ones merged into one with their number and last key; one without '
  'an end is under way';

create or replace view ops.operation_stuck as
select * from ops.operation where status = 'processing' and accepted_at < now() - interval '1 minute';
comment on view ops.operation_stuck is 'Operations that have been processing for longer than a minute, with the reason';
