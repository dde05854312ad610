-- The one receiver of callbacks.
create table loanops.callback_receiver (
  is_only boolean primary key default true check (is_only),
  -- The types that the receiver wants, by the settings of the process that was started last. None: callbacks are off.
  types text[] not null default '{}',
  -- Failed attempts in a row, of whatever callbacks. From five on the receiver counts as down.
  failures integer not null default 0,
  next_probe_at timestamptz not null default now(),
  -- When the receiver answered 410: nothing is sent until an operator resumes.
  stopped_at timestamptz,
  -- After a restore, the callbacks of subjects that the back-up does not know begin beyond what the receiver may have seen.
  first_sequence bigint not null default 0
);
insert into loanops.callback_receiver default values;

create table loanops.callback (
  -- Also the webhook-id of each attempt.
  id uuid primary key default raw.new_id(),
  seq bigint generated always as identity unique,
  type text not null,
  subject text not null,
  -- The operation, core transaction or migration that it reports.
  about uuid not null,
  occurred_at timestamptz not null,
  -- What was true at that time, where it may change later.
  snapshot json,
  -- The callback's place among those of its subject, and the text that is signed; both null until it is numbered.
  sequence bigint,
  body text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- No earlier callback of its subject is pending.
  is_next boolean not null default false,
  attempts integer not null default 0,
  -- Retries of the schedule that are used up.
  retries integer not null default 0,
  -- When the next attempt is due; while one is under way, when its lease ends.
  next_try_at timestamptz not null default clock_timestamp(),
  -- Fences the attempt that is under way.
  claim integer not null default 0,
  last_status integer,
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  check ((sequence is null) = (body is null))
  -- Dead rows are vacuumed early, like those of an operation.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
-- As for the rows of a portfolio.
alter table loanops.callback alter column state set statistics 0;
create index callback_unnumbered on loanops.callback (seq) where body is null;
-- Two indexes by attempts: PostgreSQL rewrites `(attempts > 0) = false` as `attempts <= 0`, so first attempts would never use
-- one index on that expression, and each claim would read all callbacks.
create index callback_first on loanops.callback (next_try_at) where state = 'pending' and is_next and attempts = 0;
create index callback_again on loanops.callback (next_try_at) where state = 'pending' and is_next and attempts > 0;
create index callback_pending on loanops.callback (subject, sequence) where state = 'pending';
-- The pending callbacks about one payment, whatever their subjects. Not the predicate of callback_pending: with old statistics,
-- which stay where none are taken any more, PostgreSQL would read all of that one for each callback.
create index callback_behind on loanops.callback (about, seq) where state || '' = 'pending' and type like 'payment.%';
create index callback_failed on loanops.callback (seq) where state = 'failed';
create index callback_of_subject on loanops.callback (subject, seq);
create index callback_created on loanops.callback (created_at);
-- Callbacks of all but the two most frequent types, which need no index.
create index callback_of_rare_type on loanops.callback (type, seq) where type not in ('operation.succeeded', 'payment.posted');

create table loanops.callback_subject (
  subject text primary key,
  sequence bigint not null
);

create table loanops.callback_attempt (
  callback_id uuid not null references loanops.callback on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  http_status integer,
  error text,
  -- The beginning of the response.
  answer text,
  primary key (callback_id, attempt)
);

-- views/report-callbacks.sql replaces what these do.
create function loanops.report_operation() returns trigger language plpgsql as $$ begin return null; end $$;
create function loanops.report_migration() returns trigger language plpgsql as $$ begin return null; end $$;
create function core.report_payment() returns trigger language plpgsql as $$ begin return null; end $$;

-- These report in the transaction of the change, whichever code makes it.
create trigger report_operation after update of status on loanops.operation
  for each row when (new.origin = 'api' and old.status = 'processing' and new.status <> 'processing')
  execute function loanops.report_operation();
create trigger report_migration after update of status on loanops.migration
  for each row when (old.status = 'running' and new.status in ('completed', 'cancelled'))
  execute function loanops.report_migration();
-- Payments are reported at commit: within a transaction a payment may pass through states that nobody else ever sees.
create constraint trigger report_new_payment after insert on core.transaction deferrable initially deferred
  for each row when (new.state in ('suspense', 'returned'))
  execute function core.report_payment();
create constraint trigger report_payment after update on core.transaction deferrable initially deferred for each row
  when (new.state in ('posted', 'suspense', 'returned', 'handled', 'dismissed')
        and (old.state is distinct from new.state or old.reason is distinct from new.reason
             or old.objection is distinct from new.objection or old.returned_amount is distinct from new.returned_amount))
  execute function core.report_payment();
