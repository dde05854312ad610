-- The one receiver of callbacks.
create table loanops.callback_receiver (
  is_only boolean primary key default true check (is_only),
  -- The types it wants, by the settings of the process that was started last. None: callbacks are off.
  types text[] not null default '{}',
  -- Failed attempts in a row, of whatever callbacks. From five on it counts as down.
  failures integer not null default 0,
  next_probe_at timestamptz not null default now(),
  -- It answered 410: nothing is sent until an operator resumes.
  stopped_at timestamptz
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
  -- What was true then, where it may change later.
  snapshot json,
  -- Its place among the callbacks of its subject, and the text that is signed; both null until it is numbered.
  sequence bigint,
  body text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- No earlier callback of its subject is pending.
  is_next boolean not null default false,
  attempts integer not null default 0,
  -- Retries of the schedule that are used up.
  retries integer not null default 0,
  -- While an attempt is under way: when its lease ends.
  next_try_at timestamptz not null default clock_timestamp(),
  -- Fences the attempt that is under way.
  claim integer not null default 0,
  last_status integer,
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  check ((sequence is null) = (body is null))
);
create index callback_unnumbered on loanops.callback (seq) where body is null;
create index callback_due on loanops.callback ((attempts > 0), next_try_at) where state = 'pending' and is_next;
create index callback_pending on loanops.callback (subject, sequence) where state = 'pending';
create index callback_failed on loanops.callback (seq) where state = 'failed';
create index callback_of_subject on loanops.callback (subject, seq);
create index callback_created on loanops.callback (created_at);

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

-- What was last reported about it: a payment suspended again for the same reason is not reported again.
alter table core.transaction add column reported text;

-- views/report-callbacks.sql replaces what these do.
create function loanops.report_operation() returns trigger language plpgsql as $$ begin return null; end $$;
create function loanops.report_migration() returns trigger language plpgsql as $$ begin return null; end $$;
create function core.report_payment() returns trigger language plpgsql as $$ begin return null; end $$;

-- In the transaction of the change, whichever code makes it.
create trigger report_operation after update of status on loanops.operation
  for each row when (new.origin = 'api' and old.status = 'processing' and new.status <> 'processing')
  execute function loanops.report_operation();
create trigger report_migration after update of status on loanops.migration
  for each row when (old.status = 'running' and new.status in ('completed', 'cancelled'))
  execute function loanops.report_migration();
-- At commit: within a transaction a payment may pass through states that nobody else ever sees.
create constraint trigger report_new_payment after insert on core.transaction deferrable initially deferred
  for each row when (new.state in ('suspense', 'returned'))
  execute function core.report_payment();
create constraint trigger report_payment after update on core.transaction deferrable initially deferred
  for each row when (new.state in ('posted', 'suspense', 'returned', 'handled', 'dismissed')
    and (old.state, old.reason, old.objection) is distinct from (new.state, new.reason, new.objection))
  execute function core.report_payment();
