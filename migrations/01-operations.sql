create schema ops;
comment on schema ops is 'Views for people: what became of each operation, payment and migration';

-- One accepted request to change a client or a loan at the ledger, whatever its origin.
create table loanops.operation (
  id uuid primary key,
  -- The order of acceptance, taken under the intake's lock, so that a lower number never commits after a higher one.
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
  -- Without statistics: what is unfinished comes and goes, and statistics that are taken when nothing is unfinished say that
  -- nothing ever will be. PostgreSQL then takes the index of the unfinished for the shortest way to anything, and walks the
  -- whole of it for each claim once thousands wait. Without any it reckons with a two-hundredth of the table.
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
  -- An earlier attempt may have left something at the ledger: the next one looks there before it writes.
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
  -- When the operation's personal data was removed from it.
  purged_at timestamptz,
  -- The number of a claim that has not begun its attempt: where it is another than `attempt`, the claim may have written to
  -- the ledger.
  unstarted_attempt integer,
  -- The caller whose token the operation came with, and the id of its request in our log and the caller's.
  caller text,
  request_id text,
  -- The caller's place in a trace (W3C traceparent), which the operation's calls to the ledger and its callback carry on;
  -- of a payment, the place of the batch that sent it. Null if tracing is off.
  traceparent text,
  -- The attempt whose write may have been sent; one that had only started was not.
  sent_attempt integer,
  -- A call under the operation's current key may have been sent, and nothing shows that it has ended: then a refusal of ours
  -- says nothing about what that call will do.
  may_still_run boolean not null default false,
  -- What the last attempt that may have been sent had read for its write: the product, the payment type, the office. Another
  -- attempt under the same key writes the same, and a look compares with it, whatever has been renamed since.
  kept json,
  -- Who submitted the operation and from where, as the audit names them; null for those of batches and migrations.
  actor text,
  address inet,
  -- Which unknown members of its request were dropped; null if none.
  ignored text[],
  check ((status = 'processing') = (processed_at is null)),
  check ((claimed_by is null) = (claimed_until is null))
) with (
  -- Each operation is updated twice, in a table that keeps its rows for years. By default, autovacuum lets the dead ones become
  -- a fifth of the table, and until then every look for unfinished work reads their index entries: twelve pages per thousand.
  -- One per fifty is still cheap, because a vacuum with fewer leaves the indexes alone.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
  -- A claim changes no indexed column, so its row version needs no entry in any index if it fits on the page of the one before.
  -- With this much room on each page the claim of nearly every operation fits; at 70, a third did not.
  fillfactor = 55);
alter table loanops.operation alter column status set statistics 0;

create unique index operation_idempotency_key on loanops.operation (idempotency_key) where idempotency_key is not null;
create index operation_unfinished on loanops.operation (subject, seq) where status = 'processing';
create index operation_waits_for on loanops.operation (waits_for, seq) where status = 'processing' and waits_for is not null;
create index operation_external_id on loanops.operation (external_id, seq);
create index operation_tracking_id on loanops.operation ((operation_type || '|' || id::text));
create index operation_purgeable on loanops.operation (processed_at) where status <> 'processing' and purged_at is null;
-- For readyz, which reports trouble with the ledger.
create index operation_in_trouble on loanops.operation (waiting_for) where status = 'processing' and waiting_for is not null;
-- The few whose outcome is unknown, within a backlog of any size.
create index operation_unknown on loanops.operation (seq) where status = 'processing' and unknown_since is not null;
-- For whoever asks what the unfinished wait for. On the index of all unfinished alone PostgreSQL would rather read the whole
-- index of what is not a payment's than test a few rows in vain.
create index operation_unfinished_of_view on loanops.operation (seq) where status = 'processing' and origin <> 'payment';
create index operation_not_of_payment on loanops.operation (accepted_at) where origin <> 'payment';
-- For lists of callers' own operations, however many repayments and migrated rows lie between them.
create index operation_of_api on loanops.operation (seq) where origin = 'api';
create index operation_of_api_by_type on loanops.operation (operation_type, seq) where origin = 'api';
create index operation_of_api_processing on loanops.operation (seq) where origin = 'api' and status = 'processing';
create index operation_of_api_failed on loanops.operation (seq) where origin = 'api' and status = 'failed';
-- For lists of those that no caller submitted, and of one type among a portfolio's.
create index operation_of_others on loanops.operation (origin, seq) where origin <> 'api';
create index operation_of_migration_by_type on loanops.operation (operation_type, seq) where origin = 'migration';
-- For lists of failures, newest first: of any origin, of one type, with one code, and since a time. Operations that callers
-- submit pay for none of these until they fail.
create index operation_failed on loanops.operation (seq) where status = 'failed';
create index operation_failed_by_type on loanops.operation (operation_type, seq) where status = 'failed';
create index operation_failed_by_code on loanops.operation (
  (coalesce(response #>> '{errors,0,userMessageGlobalisationCode}', response ->> 'userMessageGlobalisationCode')), seq)
  where status = 'failed';
create index operation_failed_at on loanops.operation (processed_at) where status = 'failed';
-- The failures of one loan or client, and the creation of a loan, which names its client: without these two, they are looked
-- for among everything that ever happened to it.
create index operation_failed_of_subject on loanops.operation (external_id, seq) where status = 'failed';
create index operation_loan_create on loanops.operation (external_id, seq) where operation_type = 'LOAN_CREATE';
-- A client's page lists its loans.
create index operation_of_client on loanops.operation (waits_for, seq) where operation_type = 'LOAN_CREATE';
-- A bank reference leads to its operation.
create index operation_utr on loanops.operation ((data ->> 'utr_payment_id')) where data ->> 'utr_payment_id' is not null;
-- Ids in digits that begin with zeros, by what a spreadsheet leaves of them: a file is checked against the loans and clients of
-- ours that it would create once more.
create index operation_zeros_before_id on loanops.operation (ltrim(external_id, '0')) where external_id ~ '^0[0-9]*$';
-- A dry run looks for the clients of ours that have a row's mobile number.
create index operation_mobile_number on loanops.operation ((data->>'mobileNo')) where data->>'mobileNo' is not null;

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
  -- How many attempts in a row ended like this one: an outage of hours is one row, not thousands.
  times integer not null default 1,
  primary key (operation_id, attempt)
);

-- Times in which no process begins a write at the ledger. Past ones stay: they do not count towards any deadline.
create table loanops.ledger_pause (
  id uuid primary key,
  reason text not null,
  since timestamptz not null default clock_timestamp(),
  -- Null until an end is set.
  until timestamptz
);
create index ledger_pause_until on loanops.ledger_pause (until);

-- How many concurrent ledger calls each process may make under LEDGER_CONCURRENCY_TOTAL.
create table loanops.ledger_share (
  process uuid primary key,
  live integer not null,
  bulk integer not null,
  live_wanted integer not null,
  bulk_wanted integer not null,
  live_most integer not null,
  bulk_most integer not null,
  leased_until timestamptz not null
);

-- What the last check of the ledger's set-up found: one row per check, and per lender where it is about one. No lender is ''.
create table loanops.ledger_finding (
  "check" text not null,
  lender text not null default '',
  place integer not null,
  state text not null check (state in ('ok', 'differs', 'breaks', 'unknown')),
  found text not null,
  expected text not null,
  remedy text,
  since timestamptz not null default clock_timestamp(),
  checked_at timestamptz not null,
  primary key ("check", lender)
);
