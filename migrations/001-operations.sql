create schema ops;
comment on schema ops is 'Views for people: what became of each operation, payment and migration';

-- One accepted request to change a client or a loan at the ledger, whatever its origin.
create table loanops.operation (
  id uuid primary key,
  -- The order of acceptance. Taken under the intake's lock, so that a lower number never commits after a higher one.
  seq bigint generated always as identity,
  operation_type text not null,
  origin text not null check (origin in ('api', 'payment', 'migration')),
  -- 'loan:<external id>' or 'client:<external id>': operations of one subject run one at a time, in the order of seq.
  subject text not null,
  -- The client whose earlier operations this one waits for; only LOAN_CREATE has one.
  waits_for text,
  external_id text not null,
  data json not null,
  idempotency_key text,
  request_sha256 bytea,
  status text not null default 'processing' check (status in ('processing', 'success', 'failed')),
  -- Counts claims, and so fences them: a worker that returns after losing its lease finds a higher number here.
  attempt integer not null default 0,
  -- The claims that led to a real attempt: a "not now" from the ledger does not count.
  attempts integer not null default 0,
  claimed_by uuid,
  claimed_at timestamptz,
  claimed_until timestamptz,
  next_try_at timestamptz not null default now(),
  waiting_for text check (waiting_for in ('ledger_unavailable', 'ledger_busy', 'ledger_credentials',
    'ledger_approval', 'outcome_unknown')),
  last_error text,
  -- An earlier attempt may have left something at the ledger: look there before writing.
  look_first boolean not null default false,
  -- Since when it has been unknown whether an attempt took effect at the ledger.
  unknown_since timestamptz,
  -- A new generation means a new Idempotency-Key: under an old key, the ledger repeats a recorded failure forever.
  key_generation integer not null default 1,
  -- An operator's decision on a stuck operation; the next attempt acts on it.
  resolution text check (resolution in ('retry', 'failed')),
  -- What the ledger held before a write whose effect cannot be read afterwards.
  seen json,
  response json,
  error_message text,
  accepted_at timestamptz not null default now(),
  processed_at timestamptz,
  check ((status = 'processing') = (processed_at is null)),
  check ((claimed_by is null) = (claimed_until is null))
-- Claims change no indexed column: with room on the page, the new row version stays on it.
) with (fillfactor = 70);

create unique index operation_idempotency_key on loanops.operation (idempotency_key) where idempotency_key is not null;
create index operation_unfinished on loanops.operation (subject, seq) where status = 'processing';
create index operation_waits_for on loanops.operation (waits_for, seq) where status = 'processing' and waits_for is not null;
create index operation_external_id on loanops.operation (external_id, seq);
-- For readyz, which reports trouble with the ledger.
create index operation_in_trouble on loanops.operation (waiting_for) where status = 'processing' and waiting_for is not null;
-- For lists of callers' own operations, however many repayments and migrated rows lie between them.
create index operation_of_api on loanops.operation (seq) where origin = 'api';
create index operation_of_api_by_type on loanops.operation (operation_type, seq) where origin = 'api';
create index operation_of_api_processing on loanops.operation (seq) where origin = 'api' and status = 'processing';
create index operation_of_api_failed on loanops.operation (seq) where origin = 'api' and status = 'failed';
-- For operators who look for recent failures.
create index operation_failed_at on loanops.operation (processed_at) where status = 'failed';
create index operation_not_of_payment on loanops.operation (accepted_at) where origin <> 'payment';
create unique index operation_seq on loanops.operation (seq);
create index operation_tracking_id on loanops.operation ((operation_type || '|' || id::text));

-- One row per attempt that has ended; the open one is the claim in loanops.operation itself.
create table loanops.operation_attempt (
  operation_id uuid not null references loanops.operation on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  method text,
  path text,
  http_status integer,
  outcome text not null check (outcome in ('done', 'refused', 'not_now', 'not_arrived', 'unknown', 'misconfigured')),
  idempotency_key text,
  primary key (operation_id, attempt)
);
