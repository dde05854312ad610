-- Today's tables, as the migrations leave them: to be read, never to be run. "npm run types" writes this file, and
-- "npm run check" compares it. Views and functions are in views/.

create table core.allowed_network (
  lender text not null,
  product text not null,
  gateway text not null,
  network inet not null,
  constraint allowed_network_pkey PRIMARY KEY (lender, product, gateway, network)
);

create table core.backfill (
  id uuid not null,
  trigger text not null,
  gateway text not null,
  account text not null,
  lender text,
  window_from timestamp with time zone not null,
  window_to timestamp with time zone not null,
  status text default 'running'::text not null,
  fetch_from timestamp with time zone not null,
  done_until timestamp with time zone not null,
  fetched bigint default 0 not null,
  fetched_before bigint default 0 not null,
  missed bigint default 0 not null,
  requested_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  last_error text,
  attempt integer default 0 not null,
  claimed_until timestamp with time zone,
  constraint backfill_check CHECK ((window_from <= window_to)),
  constraint backfill_pkey PRIMARY KEY (id),
  constraint backfill_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text]))),
  constraint backfill_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'request'::text])))
);
CREATE INDEX backfill_account ON core.backfill USING btree (gateway, account, id);
CREATE INDEX backfill_running ON core.backfill USING btree (gateway, account, id) WHERE (status = 'running'::text);
CREATE INDEX backfill_scheduled ON core.backfill USING btree (gateway, account, window_to) WHERE ((trigger = 'schedule'::text) AND (status = 'completed'::text));
CREATE UNIQUE INDEX backfill_one_scheduled ON core.backfill USING btree (gateway, account) WHERE ((trigger = 'schedule'::text) AND (status = 'running'::text));

create table core.backfill_pending (
  backfill_id uuid not null,
  source text not null,
  raw_id uuid not null,
  payment_id text,
  is_verified boolean not null
);
CREATE INDEX backfill_pending_event ON core.backfill_pending USING btree (backfill_id, source, raw_id);
CREATE INDEX backfill_pending_payment ON core.backfill_pending USING btree (backfill_id, payment_id) WHERE (payment_id IS NOT NULL);
alter table core.backfill_pending replica identity full;

create table core.balanced_day (
  day date not null,
  lender text not null,
  gateway text not null,
  currency text not null,
  balanced_at timestamp with time zone default now() not null,
  lost_at timestamp with time zone,
  constraint balanced_day_pkey PRIMARY KEY (day, lender, gateway, currency)
);
CREATE INDEX balanced_day_lost ON core.balanced_day USING btree (lost_at) WHERE (lost_at IS NOT NULL);

create table core.batch_run (
  id uuid not null,
  trigger text not null,
  status text default 'waiting'::text not null,
  requested_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  attempt integer default 0 not null,
  claimed_until timestamp with time zone,
  discovered integer default 0 not null,
  transformed bigint default 0 not null,
  posted bigint default 0 not null,
  suspended bigint default 0 not null,
  failed bigint default 0 not null,
  discover_seconds numeric,
  transform_seconds numeric,
  post_seconds numeric,
  last_error text,
  constraint batch_run_pkey PRIMARY KEY (id),
  constraint batch_run_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'running'::text, 'completed'::text]))),
  constraint batch_run_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'request'::text])))
);
CREATE UNIQUE INDEX batch_run_one_running ON core.batch_run USING btree (status) WHERE (status = 'running'::text);
CREATE UNIQUE INDEX batch_run_one_waiting ON core.batch_run USING btree (status) WHERE (status = 'waiting'::text);

create table core.changed_day (
  day date not null
);
CREATE INDEX changed_day_day ON core.changed_day USING btree (day);
alter table core.changed_day replica identity full;

create table core.changed_reference (
  id bigint generated always as identity not null,
  gateway text not null,
  key text,
  constraint changed_reference_pkey PRIMARY KEY (id)
);

create table core.confirming (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  constraint confirming_pkey PRIMARY KEY (lender, product, gateway)
);

create table core.day_figure (
  day date not null,
  lender text not null,
  gateway text not null,
  currency text not null,
  bucket text not null,
  payments bigint not null,
  amount numeric not null,
  constraint day_figure_bucket_check CHECK ((bucket = ANY (ARRAY['captured'::text, 'partial'::text, 'posted'::text, 'unchecked'::text, 'waiting'::text, 'suspense'::text, 'handled'::text, 'dismissed'::text, 'returned'::text, 'missing'::text, 'not_at_gateway'::text]))),
  constraint day_figure_pkey PRIMARY KEY (day, lender, gateway, currency, bucket)
);

create table core.day_zone (
  only_one boolean default true not null,
  time_zone text not null,
  constraint day_zone_only_one_check CHECK (only_one),
  constraint day_zone_pkey PRIMARY KEY (only_one)
);

create table core.event (
  source text not null,
  raw_id uuid not null,
  gateway text not null,
  kind text not null,
  gateway_payment_id text not null,
  of_payment_id text,
  status text not null,
  amount numeric,
  currency text,
  paid_at timestamp with time zone,
  external_loan_id text,
  problem text,
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamp with time zone not null,
  hints jsonb,
  is_outside boolean default false not null,
  set_aside text,
  is_unproved boolean default false not null,
  is_foreign boolean default false not null,
  constraint event_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'refund'::text, 'chargeback'::text]))),
  constraint event_pkey PRIMARY KEY (source, raw_id, kind, gateway_payment_id),
  constraint event_problem_check CHECK ((problem = ANY (ARRAY['unreadable'::text, 'amount_invalid'::text, 'unknown_event'::text, 'awaiting_review'::text]))) NOT VALID,
  constraint event_set_aside_check CHECK ((set_aside = ANY (ARRAY['repeat'::text, 'too_many'::text]))),
  constraint event_status_check CHECK ((status = ANY (ARRAY['captured'::text, 'failed'::text, 'named'::text, 'open'::text, 'done'::text, 'undone'::text, 'never_captured'::text, 'unknown'::text]))) NOT VALID
);
CREATE INDEX event_foreign ON core.event USING btree (gateway_payment_id) WHERE is_foreign;
CREATE INDEX event_of_link ON core.event USING btree (((hints #>> '{order_tags,cf_link_id}'::text[])), gateway) WHERE (((hints #>> '{order_tags,cf_link_id}'::text[]) IS NOT NULL) AND (set_aside IS NULL));
CREATE INDEX event_of_payment ON core.event USING btree (of_payment_id, gateway) WHERE ((of_payment_id IS NOT NULL) AND (set_aside IS NULL));
CREATE INDEX event_outside ON core.event USING btree (gateway_payment_id) WHERE is_outside;
CREATE INDEX event_payment ON core.event USING btree (gateway_payment_id, gateway) WHERE (set_aside IS NULL);
CREATE INDEX event_set_aside ON core.event USING btree (gateway_payment_id, gateway, kind, received_at, raw_id, source) WHERE (set_aside IS NOT NULL);
CREATE INDEX event_too_many ON core.event USING btree (gateway_payment_id) WHERE (set_aside = 'too_many'::text);
CREATE INDEX event_unproved ON core.event USING btree (gateway_payment_id) WHERE is_unproved;

create table core.event_type (
  source text not null,
  event_type text not null,
  taken text not null,
  events bigint not null,
  last_at timestamp with time zone,
  constraint event_type_pkey PRIMARY KEY (source, event_type),
  constraint event_type_taken_check CHECK ((taken = ANY (ARRAY['payment'::text, 'refund'::text, 'chargeback'::text, 'ignored'::text, 'unknown'::text])))
);

create table core.gateway (
  name text not null,
  known_types text[] default '{}'::text[] not null,
  constraint gateway_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,21}$'::text)),
  constraint gateway_pkey PRIMARY KEY (name)
);

create table core.gateway_account (
  gateway text not null,
  account text not null,
  constraint gateway_account_pkey PRIMARY KEY (gateway, account)
);
CREATE TRIGGER note_accounts AFTER INSERT OR DELETE ON core.gateway_account FOR EACH ROW EXECUTE FUNCTION core.note_all_days();

create table core.gateway_missed (
  gateway text not null,
  lender text not null,
  missed bigint not null,
  constraint gateway_missed_pkey PRIMARY KEY (gateway, lender)
);

create table core.gateway_window (
  gateway text not null,
  lender text,
  source text not null,
  covers tstzrange not null,
  completed_at timestamp with time zone default now() not null,
  statement_id uuid,
  is_partial boolean default false not null,
  constraint gateway_window_source_check CHECK ((source = ANY (ARRAY['api'::text, 'file'::text])))
);
CREATE INDEX gateway_window_covers ON core.gateway_window USING gist (covers);
CREATE INDEX gateway_window_of_file ON core.gateway_window USING btree (statement_id) WHERE (statement_id IS NOT NULL);
alter table core.gateway_window replica identity full;

create table core.lender (
  code text not null,
  constraint lender_code_check CHECK ((code ~ '^[A-Z][A-Z0-9_]{0,39}$'::text)),
  constraint lender_pkey PRIMARY KEY (code)
);

create table core.link_event (
  gateway text not null,
  link_id text not null,
  source text not null,
  raw_id uuid not null,
  external_loan_id text,
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamp with time zone not null,
  hints jsonb,
  constraint link_event_pkey PRIMARY KEY (gateway, link_id, source, raw_id)
);

create table core.loan_product (
  external_loan_id text not null,
  product text not null,
  learned_at timestamp with time zone default now() not null,
  constraint loan_product_pkey PRIMARY KEY (external_loan_id)
);

create table core.lost_part (
  gateway text not null,
  settlement_id text not null,
  kind text not null,
  id text not null,
  lender text,
  settled_at timestamp with time zone,
  utr text,
  files uuid[] not null,
  is_moved boolean default false not null,
  constraint lost_part_pkey PRIMARY KEY (settlement_id, gateway, kind, id)
);
CREATE INDEX lost_part_files ON core.lost_part USING gin (files);
CREATE INDEX lost_part_settled ON core.lost_part USING btree (settled_at);
CREATE INDEX lost_part_utr ON core.lost_part USING btree (utr) WHERE (utr IS NOT NULL);

create table core.pending_event (
  source text not null,
  raw_id uuid not null,
  received_at timestamp with time zone not null,
  again boolean default false not null,
  constraint pending_event_pkey PRIMARY KEY (source, raw_id)
);

create table core.posting (
  transaction_id uuid not null,
  operation_id uuid not null,
  constraint posting_pkey PRIMARY KEY (transaction_id, operation_id),
  constraint posting_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES core.transaction(id)
);

create table core.question (
  gateway text not null,
  kind text not null,
  gateway_payment_id text not null,
  account text not null,
  next_ask_at timestamp with time zone default now(),
  said text,
  asked text[] default '{}'::text[] not null,
  tries integer default 0 not null,
  denied_at timestamp with time zone,
  batch_id uuid,
  constraint question_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'refund'::text, 'chargeback'::text]))),
  constraint question_pkey PRIMARY KEY (gateway_payment_id, gateway, kind, account)
);
CREATE INDEX question_due ON core.question USING btree (gateway, account, next_ask_at);
CREATE INDEX question_unanswered ON core.question USING btree (gateway) WHERE (said IS NULL);

create table core.readback_run (
  id uuid not null,
  trigger text not null,
  status text default 'waiting'::text not null,
  requested_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  attempt integer default 0 not null,
  claimed_until timestamp with time zone,
  read_to_posted_at timestamp with time zone,
  read_to_id uuid,
  loans bigint default 0 not null,
  payments bigint default 0 not null,
  reversed bigint default 0 not null,
  missing bigint default 0 not null,
  differing bigint default 0 not null,
  failed bigint default 0 not null,
  last_error text,
  constraint readback_run_pkey PRIMARY KEY (id),
  constraint readback_run_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'running'::text, 'completed'::text]))),
  constraint readback_run_trigger_check CHECK ((trigger = 'schedule'::text))
);
CREATE UNIQUE INDEX readback_run_one_running ON core.readback_run USING btree (status) WHERE (status = 'running'::text);
CREATE UNIQUE INDEX readback_run_one_waiting ON core.readback_run USING btree (status) WHERE (status = 'waiting'::text);

create table core.reference (
  id uuid default raw.new_id() not null,
  gateway text not null,
  kind text not null,
  value text not null,
  key text default ((kind || ':'::text) ||
CASE
    WHEN ((kind = ANY (ARRAY['payer'::text, 'virtual_account'::text])) AND (strpos(value, '@'::text) > 0)) THEN lower(value)
    ELSE value
END) not null,
  external_loan_id text not null,
  valid_from date,
  valid_until date,
  created_by text not null,
  created_at timestamp with time zone default now() not null,
  constraint reference_check CHECK ((valid_until >= valid_from)),
  constraint reference_kind_check CHECK ((kind = ANY (ARRAY['virtual_account'::text, 'mandate'::text, 'order'::text, 'payment_link'::text, 'customer'::text, 'payer'::text]))),
  constraint reference_pkey PRIMARY KEY (id)
);
CREATE INDEX reference_kind ON core.reference USING btree (gateway, kind, id);
CREATE INDEX reference_loan ON core.reference USING btree (external_loan_id, id);
CREATE UNIQUE INDEX reference_value ON core.reference USING btree (key, gateway, external_loan_id);

create table core.reversing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  constraint reversing_pkey PRIMARY KEY (product, gateway, lender)
);

create table core.settlement_row (
  gateway text not null,
  settlement_id text not null,
  kind text not null,
  id text not null,
  payment_id text,
  lender text,
  settled_at timestamp with time zone,
  utr text,
  amount numeric not null,
  fee numeric not null,
  tax numeric not null,
  paid_out numeric,
  statement_id uuid,
  earlier_files uuid[] default '{}'::uuid[] not null,
  constraint settlement_row_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'refund'::text, 'other'::text, 'payout'::text]))) NOT VALID,
  constraint settlement_row_pkey PRIMARY KEY (settlement_id, gateway, kind, id)
);
CREATE INDEX settlement_row_of_file ON core.settlement_row USING btree (statement_id) WHERE (statement_id IS NOT NULL);
CREATE INDEX settlement_row_of_payment ON core.settlement_row USING btree (id, gateway) WHERE (kind = 'payment'::text);
CREATE INDEX settlement_row_of_refund ON core.settlement_row USING btree (id, gateway) WHERE (kind = 'refund'::text);
CREATE INDEX settlement_row_settled ON core.settlement_row USING btree (settled_at);
CREATE INDEX settlement_row_utr ON core.settlement_row USING btree (utr) WHERE (utr IS NOT NULL);

create table core.signing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  validates boolean not null,
  constraint signing_pkey PRIMARY KEY (product, gateway, lender)
);

create table core.signing_change (
  changed_at timestamp with time zone not null
);
alter table core.signing_change replica identity full;

create table core.source (
  name text not null,
  lender text not null,
  gateway text not null,
  registered_at timestamp with time zone default now() not null,
  events bigint default 0 not null,
  last_event_at timestamp with time zone,
  constraint source_pkey PRIMARY KEY (name)
);

create table core.statement (
  gateway text not null,
  gateway_payment_id text not null,
  lender text not null,
  amount numeric not null,
  currency text not null,
  status text not null,
  captured_at timestamp with time zone not null,
  fee numeric,
  tax numeric,
  settlement_id text,
  settled_at timestamp with time zone,
  utr text,
  fetched_at timestamp with time zone default now() not null,
  source text not null,
  statement_id uuid,
  has_replaced boolean default false not null,
  earlier_files uuid[] default '{}'::uuid[] not null,
  settled_by uuid[] default '{}'::uuid[] not null,
  constraint statement_pkey PRIMARY KEY (gateway_payment_id, gateway),
  constraint statement_source_check CHECK ((source = ANY (ARRAY['api'::text, 'file'::text]))),
  constraint statement_status_check CHECK ((status = ANY (ARRAY['captured'::text, 'refunded'::text, 'failed'::text])))
);
CREATE INDEX statement_captured ON core.statement USING btree (captured_at, gateway);
CREATE INDEX statement_of_file ON core.statement USING btree (statement_id) WHERE (statement_id IS NOT NULL);
CREATE INDEX statement_settled ON core.statement USING btree (settled_at) WHERE (settlement_id IS NOT NULL);
CREATE INDEX statement_settled_by ON core.statement USING gin (settled_by) WHERE (settled_by <> '{}'::uuid[]);
CREATE INDEX statement_settlement ON core.statement USING btree (settlement_id, gateway) WHERE (settlement_id IS NOT NULL);
CREATE INDEX statement_utr ON core.statement USING btree (utr) WHERE ((utr IS NOT NULL) AND (settlement_id IS NOT NULL));
CREATE TRIGGER note_before AFTER UPDATE ON core.statement REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_statements();
CREATE TRIGGER note_changed AFTER UPDATE ON core.statement REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_statements();
CREATE TRIGGER note_gone AFTER DELETE ON core.statement REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_statements();
CREATE TRIGGER note_new AFTER INSERT ON core.statement REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_statements();
CREATE TRIGGER note_twins_of_changed AFTER UPDATE ON core.statement REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_twins_of_statements();
CREATE TRIGGER note_twins_of_gone AFTER DELETE ON core.statement REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_twins_of_statements();
CREATE TRIGGER note_twins_of_new AFTER INSERT ON core.statement REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_twins_of_statements();

create table core.statement_file (
  id uuid not null,
  gateway text not null,
  lender text not null,
  file_name text,
  rows bigint not null,
  valid_rows bigint not null,
  uploaded_by text not null,
  uploaded_at timestamp with time zone default clock_timestamp() not null,
  withdrawn_by text,
  withdrawn_at timestamp with time zone,
  file_sha256 bytea,
  errors json,
  ignored_columns text[],
  constraint statement_file_pkey PRIMARY KEY (id)
);
CREATE INDEX statement_file_bytes ON core.statement_file USING btree (file_sha256, id) WHERE (file_sha256 IS NOT NULL);
CREATE INDEX statement_file_gateway ON core.statement_file USING btree (gateway, id);
CREATE INDEX statement_file_withdrawn ON core.statement_file USING btree (id) WHERE (withdrawn_at IS NOT NULL);

create table core.transaction (
  id uuid default raw.new_id() not null,
  gateway text not null,
  kind text not null,
  gateway_payment_id text not null,
  of_payment_id text,
  lender text not null,
  named_loan_id text,
  assigned_loan_id text,
  external_loan_id text default COALESCE(assigned_loan_id, named_loan_id),
  amount numeric,
  currency text,
  paid_at timestamp with time zone,
  is_captured boolean not null,
  is_verified boolean not null,
  state text not null,
  reason text,
  source text not null,
  raw_id uuid not null,
  received_at timestamp with time zone not null,
  hints jsonb,
  refused_reason text,
  refused_detail text,
  refused_at timestamp with time zone,
  tries integer default 0 not null,
  next_try_at timestamp with time zone,
  overruled text[] default '{}'::text[] not null,
  posting_number integer default 1 not null,
  operation_id uuid,
  batch_id uuid,
  ledger_transaction_id bigint,
  posted_at timestamp with time zone,
  objection text,
  problem text,
  disagreement text,
  decision text,
  decided_amount numeric,
  decided_day date,
  cleared_facts text[],
  difference text,
  read_back_at timestamp with time zone,
  note text,
  noted_by text,
  suspended_at timestamp with time zone,
  reported text,
  ledger_amount numeric,
  unconfirmed text,
  decided_over jsonb,
  booked_as text,
  payer_fee numeric,
  refs text[],
  matched_by text,
  suggested_loan text,
  returned_amount numeric,
  waiting_since timestamp with time zone,
  may_be_booked boolean default false not null,
  assigned_over jsonb,
  is_stale boolean default false not null,
  constraint report_new_payment TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint report_payment TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint transaction_check CHECK (((state = 'suspense'::text) <= (reason IS NOT NULL))),
  constraint transaction_check1 CHECK (((state = 'posted'::text) = (posted_at IS NOT NULL))),
  constraint transaction_decision_check CHECK ((decision = ANY (ARRAY['post'::text, 'handled'::text, 'dismiss'::text, 'restore'::text]))) NOT VALID,
  constraint transaction_disagreement_check CHECK ((disagreement = ANY (ARRAY['money'::text, 'loan'::text, 'assignment'::text]))) NOT VALID,
  constraint transaction_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'refund'::text, 'chargeback'::text]))),
  constraint transaction_objection_check CHECK ((objection = ANY (ARRAY['refund'::text, 'chargeback'::text, 'events_disagree'::text, 'differs_at_ledger'::text, 'taken_back'::text]))) NOT VALID,
  constraint transaction_pkey PRIMARY KEY (id),
  constraint transaction_problem_check CHECK ((problem = ANY (ARRAY['unreadable'::text, 'amount_invalid'::text, 'unknown_event'::text, 'awaiting_review'::text]))) NOT VALID,
  constraint transaction_reason_check CHECK ((reason = ANY (ARRAY['no_loan_named'::text, 'loan_unknown'::text, 'loan_not_active'::text, 'currency_mismatch'::text, 'lender_mismatch'::text, 'signature_not_verified'::text, 'sender_not_allowed'::text, 'events_disagree'::text, 'refund'::text, 'chargeback'::text, 'amount_invalid'::text, 'unreadable'::text, 'ledger_refused'::text, 'unknown_event'::text, 'awaiting_review'::text, 'not_at_gateway'::text, 'missing_at_ledger'::text, 'reversed_at_ledger'::text, 'overpaid'::text, 'reversal_refused'::text]))) NOT VALID,
  constraint transaction_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'posting'::text, 'posted'::text, 'suspense'::text, 'failed'::text, 'returned'::text, 'handled'::text, 'dismissed'::text]))) NOT VALID,
  constraint transaction_unconfirmed_check CHECK ((unconfirmed = ANY (ARRAY['unasked'::text, 'denied'::text])))
);
CREATE INDEX transaction_bank_reference ON core.transaction USING btree (COALESCE((hints ->> 'utr'::text), (hints ->> 'bank_reference'::text))) WHERE (COALESCE((hints ->> 'utr'::text), (hints ->> 'bank_reference'::text)) IS NOT NULL);
CREATE INDEX transaction_batch ON core.transaction USING btree (batch_id, state) WHERE (batch_id IS NOT NULL);
CREATE INDEX transaction_debit ON core.transaction USING btree (((hints ->> 'cf_txn_id'::text))) WHERE ((hints ->> 'cf_txn_id'::text) IS NOT NULL);
CREATE INDEX transaction_decided_unreadable ON core.transaction USING btree (decided_day) WHERE ((problem = 'unreadable'::text) AND (decided_day IS NOT NULL));
CREATE INDEX transaction_lender ON core.transaction USING btree (lender, id);
CREATE INDEX transaction_loan ON core.transaction USING btree (external_loan_id, id) WHERE (external_loan_id IS NOT NULL);
CREATE INDEX transaction_not_payment ON core.transaction USING btree (kind, id) WHERE (kind <> 'payment'::text);
CREATE INDEX transaction_not_posted ON core.transaction USING btree (state, paid_at, id) WHERE (state = ANY (ARRAY['suspense'::text, 'failed'::text, 'returned'::text, 'handled'::text, 'dismissed'::text]));
CREATE INDEX transaction_objection ON core.transaction USING btree (objection) WHERE (objection IS NOT NULL);
CREATE INDEX transaction_of_payment ON core.transaction USING btree (of_payment_id, gateway) WHERE (kind <> 'payment'::text);
CREATE INDEX transaction_paid ON core.transaction USING btree (paid_at, id);
CREATE INDEX transaction_posted ON core.transaction USING btree (posted_at, id) WHERE (state = 'posted'::text);
CREATE INDEX transaction_reason ON core.transaction USING btree (reason, id) WHERE (reason IS NOT NULL);
CREATE INDEX transaction_received ON core.transaction USING brin (received_at);
CREATE INDEX transaction_refs ON core.transaction USING gin (refs) WITH (fastupdate=off) WHERE (state = 'suspense'::text);
CREATE INDEX transaction_retry ON core.transaction USING btree (next_try_at) WHERE ((state = 'suspense'::text) AND (reason = refused_reason) AND (next_try_at IS NOT NULL));
CREATE INDEX transaction_spelt_id ON core.transaction USING btree (ltrim(lower("left"(gateway_payment_id, 50)), '+0'::text)) WHERE (kind = 'payment'::text);
CREATE INDEX transaction_state ON core.transaction USING btree (state, id);
CREATE INDEX transaction_suspense ON core.transaction USING btree (reason) WHERE (state = 'suspense'::text);
CREATE INDEX transaction_transfer ON core.transaction USING btree (lower(COALESCE((hints ->> 'utr'::text), (hints ->> 'bank_reference'::text))), ((hints ? 'reported_by'::text)), amount, state, id) WHERE ((gateway = 'gateway_b'::text) AND (kind = 'payment'::text) AND (COALESCE((hints ->> 'utr'::text), (hints ->> 'bank_reference'::text)) ~ '[1-9]'::text));
CREATE INDEX transaction_undated ON core.transaction USING btree (received_at) WHERE (paid_at IS NULL);
CREATE INDEX transaction_unreadable ON core.transaction USING btree (((hints ->> 'payment_id'::text))) WHERE (problem = 'unreadable'::text);
CREATE INDEX transaction_verified_of_payment ON core.transaction USING btree (of_payment_id, gateway) WHERE (is_verified AND (kind <> 'payment'::text));
CREATE INDEX transaction_waiting ON core.transaction USING btree (paid_at, id) WHERE ((state = 'waiting'::text) AND (unconfirmed IS NULL));
CREATE UNIQUE INDEX transaction_payment ON core.transaction USING btree (gateway_payment_id, gateway, kind);
CREATE CONSTRAINT TRIGGER report_new_payment AFTER INSERT ON core.transaction DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.state = ANY (ARRAY['suspense'::text, 'returned'::text]))) EXECUTE FUNCTION core.report_payment();
CREATE CONSTRAINT TRIGGER report_payment AFTER UPDATE ON core.transaction DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.state = ANY (ARRAY['posted'::text, 'suspense'::text, 'returned'::text, 'handled'::text, 'dismissed'::text])) AND ((old.state IS DISTINCT FROM new.state) OR (old.reason IS DISTINCT FROM new.reason) OR (old.objection IS DISTINCT FROM new.objection) OR (old.returned_amount IS DISTINCT FROM new.returned_amount)))) EXECUTE FUNCTION core.report_payment();
CREATE TRIGGER note_changed AFTER UPDATE ON core.transaction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_payments();
CREATE TRIGGER note_gone AFTER DELETE ON core.transaction REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_payments();
CREATE TRIGGER note_left AFTER UPDATE ON core.transaction REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_left_days();
CREATE TRIGGER note_new AFTER INSERT ON core.transaction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_changed_payments();
CREATE TRIGGER note_twins_of_changed AFTER UPDATE ON core.transaction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_twins_of_payments();
CREATE TRIGGER note_twins_of_new AFTER INSERT ON core.transaction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_twins_of_payments();
CREATE TRIGGER note_waiting BEFORE UPDATE OF state ON core.transaction FOR EACH ROW WHEN (((new.state = 'waiting'::text) AND (old.state <> ALL (ARRAY['waiting'::text, 'posting'::text])))) EXECUTE FUNCTION core.note_waiting();

create table core.unjudged_payment (
  gateway text not null,
  gateway_payment_id text not null,
  may_wait boolean default false not null,
  noted_at timestamp with time zone default clock_timestamp() not null,
  constraint unjudged_payment_pkey PRIMARY KEY (gateway_payment_id, gateway)
);
CREATE INDEX unjudged_payment_noted ON core.unjudged_payment USING btree (may_wait, noted_at);

create table core.unreadable_item (
  gateway text not null,
  lender text,
  key text not null,
  id text,
  reason text not null,
  is_payment boolean not null,
  times tstzrange not null,
  backfill_id uuid not null,
  constraint unreadable_item_gateway_lender_key_key UNIQUE NULLS NOT DISTINCT (gateway, lender, key)
);
CREATE INDEX unreadable_item_backfill ON core.unreadable_item USING btree (backfill_id);
CREATE INDEX unreadable_item_times ON core.unreadable_item USING gist (times) WHERE is_payment;
alter table core.unreadable_item replica identity full;

create table loanops.account (
  id uuid not null,
  username text not null,
  password_hash text,
  role text not null,
  token_generation integer default 1 not null,
  kept_token uuid,
  created_at timestamp with time zone default now() not null,
  disabled_at timestamp with time zone,
  must_change_password boolean default false not null,
  oidc_issuer text,
  oidc_subject text,
  made_by_command boolean default false not null,
  constraint account_pkey PRIMARY KEY (id),
  constraint account_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'operator'::text, 'viewer'::text])))
);
CREATE UNIQUE INDEX account_of_person ON loanops.account USING btree (oidc_issuer, oidc_subject);
CREATE UNIQUE INDEX account_username ON loanops.account USING btree (lower(username));

create table loanops.approval (
  id uuid not null,
  call text not null,
  act text not null,
  subject text not null,
  amount numeric,
  currency text,
  request jsonb not null,
  facts jsonb not null,
  fingerprint bytea not null,
  state text default 'proposed'::text not null,
  proposed_by text not null,
  caller text,
  address inet,
  request_id text,
  proposed_at timestamp with time zone default now() not null,
  note text,
  decided_by text,
  decided_at timestamp with time zone,
  decision_note text,
  expires_at timestamp with time zone not null,
  constraint approval_pkey PRIMARY KEY (id),
  constraint approval_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'approved'::text, 'rejected'::text, 'withdrawn'::text, 'expired'::text, 'stale'::text])))
);
CREATE UNIQUE INDEX approval_open ON loanops.approval USING btree (act, subject, COALESCE((facts ->> 'kind'::text), ''::text)) WHERE (state = 'proposed'::text);

create table loanops.audit (
  id uuid not null,
  at timestamp with time zone default now() not null,
  actor text not null,
  action text not null,
  subject text not null,
  address inet,
  request_id text,
  detail jsonb default '{}'::jsonb not null,
  caller text,
  session_role text,
  constraint audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_action ON loanops.audit USING btree (action, at);
CREATE INDEX audit_actor ON loanops.audit USING btree (actor, at);
CREATE INDEX audit_at ON loanops.audit USING btree (at);
CREATE INDEX audit_subject ON loanops.audit USING btree (subject, at);
CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON loanops.audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_await_seal AFTER INSERT ON loanops.audit FOR EACH ROW EXECUTE FUNCTION await_seal();
CREATE TRIGGER audit_stamp BEFORE INSERT ON loanops.audit FOR EACH ROW EXECUTE FUNCTION stamp_audit();

create table loanops.audit_seal (
  "position" bigint not null,
  audit_id uuid not null,
  inserted_at timestamp with time zone not null,
  chain bytea not null,
  constraint audit_seal_audit_id_key UNIQUE (audit_id),
  constraint audit_seal_pkey PRIMARY KEY ("position")
);
CREATE TRIGGER audit_seal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON loanops.audit_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table loanops.audit_unsealed (
  id uuid not null,
  inserted_at timestamp with time zone not null,
  constraint audit_unsealed_pkey PRIMARY KEY (id)
);

create table loanops.bulk (
  id uuid not null,
  decision text not null,
  filter jsonb not null,
  note text,
  actor text not null,
  address inet,
  request_id text,
  status text default 'running'::text not null,
  created_at timestamp with time zone default now() not null,
  ended_at timestamp with time zone,
  approval jsonb,
  constraint bulk_pkey PRIMARY KEY (id),
  constraint bulk_status_check CHECK ((status = ANY (ARRAY['running'::text, 'stopped'::text, 'completed'::text])))
);
CREATE INDEX bulk_running ON loanops.bulk USING btree (id) WHERE (status = 'running'::text);

create table loanops.bulk_item (
  bulk_id uuid not null,
  number integer not null,
  item jsonb not null,
  outcome text,
  reason text,
  constraint bulk_item_bulk_id_fkey FOREIGN KEY (bulk_id) REFERENCES bulk(id),
  constraint bulk_item_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text]))),
  constraint bulk_item_pkey PRIMARY KEY (bulk_id, number)
);
CREATE INDEX bulk_item_left ON loanops.bulk_item USING btree (bulk_id, number) WHERE (outcome IS NULL);

create table loanops.callback (
  id uuid default raw.new_id() not null,
  seq bigint generated always as identity not null,
  type text not null,
  subject text not null,
  about uuid not null,
  occurred_at timestamp with time zone not null,
  snapshot json,
  sequence bigint,
  body text,
  state text default 'pending'::text not null,
  is_next boolean default false not null,
  attempts integer default 0 not null,
  retries integer default 0 not null,
  next_try_at timestamp with time zone default clock_timestamp() not null,
  claim integer default 0 not null,
  last_status integer,
  last_error text,
  created_at timestamp with time zone default clock_timestamp() not null,
  delivered_at timestamp with time zone,
  constraint callback_check CHECK (((sequence IS NULL) = (body IS NULL))),
  constraint callback_pkey PRIMARY KEY (id),
  constraint callback_seq_key UNIQUE (seq),
  constraint callback_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX callback_again ON loanops.callback USING btree (next_try_at) WHERE ((state = 'pending'::text) AND is_next AND (attempts > 0));
CREATE INDEX callback_behind ON loanops.callback USING btree (about, seq) WHERE (((state || ''::text) = 'pending'::text) AND (type ~~ 'payment.%'::text));
CREATE INDEX callback_created ON loanops.callback USING btree (created_at);
CREATE INDEX callback_failed ON loanops.callback USING btree (seq) WHERE (state = 'failed'::text);
CREATE INDEX callback_first ON loanops.callback USING btree (next_try_at) WHERE ((state = 'pending'::text) AND is_next AND (attempts = 0));
CREATE INDEX callback_of_rare_type ON loanops.callback USING btree (type, seq) WHERE (type <> ALL (ARRAY['operation.succeeded'::text, 'payment.posted'::text]));
CREATE INDEX callback_of_subject ON loanops.callback USING btree (subject, seq);
CREATE INDEX callback_pending ON loanops.callback USING btree (subject, sequence) WHERE (state = 'pending'::text);
CREATE INDEX callback_pending_newest ON loanops.callback USING btree (created_at, seq) WHERE ((state || ''::text) = 'pending'::text);
CREATE INDEX callback_unnumbered ON loanops.callback USING btree (seq) WHERE (body IS NULL);

create table loanops.callback_attempt (
  callback_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  http_status integer,
  error text,
  answer text,
  constraint callback_attempt_callback_id_fkey FOREIGN KEY (callback_id) REFERENCES callback(id) ON DELETE CASCADE,
  constraint callback_attempt_pkey PRIMARY KEY (callback_id, attempt)
);

create table loanops.callback_receiver (
  is_only boolean default true not null,
  types text[] default '{}'::text[] not null,
  failures integer default 0 not null,
  next_probe_at timestamp with time zone default now() not null,
  stopped_at timestamp with time zone,
  first_sequence bigint default 0 not null,
  constraint callback_receiver_is_only_check CHECK (is_only),
  constraint callback_receiver_pkey PRIMARY KEY (is_only)
);

create table loanops.callback_subject (
  subject text not null,
  sequence bigint not null,
  constraint callback_subject_pkey PRIMARY KEY (subject)
);

create table loanops.ended_login (
  id uuid not null,
  forget_at timestamp with time zone not null,
  constraint ended_login_pkey PRIMARY KEY (id)
);

create table loanops.ledger_finding (
  "check" text not null,
  lender text default ''::text not null,
  place integer not null,
  state text not null,
  found text not null,
  expected text not null,
  remedy text,
  since timestamp with time zone default clock_timestamp() not null,
  checked_at timestamp with time zone not null,
  constraint ledger_finding_pkey PRIMARY KEY ("check", lender),
  constraint ledger_finding_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'differs'::text, 'breaks'::text, 'unknown'::text])))
);

create table loanops.ledger_pause (
  id uuid not null,
  reason text not null,
  since timestamp with time zone default clock_timestamp() not null,
  until timestamp with time zone,
  constraint ledger_pause_pkey PRIMARY KEY (id)
);
CREATE INDEX ledger_pause_until ON loanops.ledger_pause USING btree (until);

create table loanops.ledger_share (
  process uuid not null,
  live integer not null,
  bulk integer not null,
  live_wanted integer not null,
  bulk_wanted integer not null,
  live_most integer not null,
  bulk_most integer not null,
  leased_until timestamp with time zone not null,
  constraint ledger_share_pkey PRIMARY KEY (process)
);

create table loanops.login_attempt (
  key text not null,
  points integer default 0 not null,
  expire bigint,
  constraint login_attempt_pkey PRIMARY KEY (key)
);

create table loanops.migration (
  id uuid not null,
  type text not null,
  status text default 'uploading'::text not null,
  columns text[] not null,
  delimiter text not null,
  rows integer default 0 not null,
  valid_rows integer default 0 not null,
  invalid_rows integer default 0 not null,
  done integer default 0 not null,
  failed integer default 0 not null,
  stopped integer default 0 not null,
  run integer default 0 not null,
  ended_before integer default 0 not null,
  is_dry_run boolean default false not null,
  dry_run json,
  looked_up_to text,
  uploaded_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  worked_by uuid,
  worked_until timestamp with time zone,
  looked_at integer default 0 not null,
  marked_at timestamp with time zone,
  marked_rows integer,
  marked_before_at timestamp with time zone,
  marked_before_rows integer,
  dry_run_after uuid[] default '{}'::uuid[] not null,
  file_name text,
  file_sha256 bytea,
  constraint migration_pkey PRIMARY KEY (id),
  constraint migration_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'uploaded'::text, 'running'::text, 'completed'::text, 'cancelled'::text])))
);
CREATE INDEX migration_file ON loanops.migration USING btree (file_sha256, id) WHERE (file_sha256 IS NOT NULL);
CREATE INDEX migration_running ON loanops.migration USING btree (id) WHERE (status = 'running'::text);
CREATE TRIGGER report_migration AFTER UPDATE OF status ON loanops.migration FOR EACH ROW WHEN (((old.status = 'running'::text) AND (new.status = ANY (ARRAY['completed'::text, 'cancelled'::text])))) EXECUTE FUNCTION report_migration();

create table loanops.migration_applied (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_applied_pkey PRIMARY KEY (name)
);

create table loanops.migration_row (
  migration_id uuid not null,
  line integer not null,
  state text not null,
  cells text not null,
  loan_external_id text,
  client_external_id text,
  client_fields text[],
  payment_key text,
  on_date date,
  disbursed_on date,
  reason text,
  finding text,
  finding_reason text,
  receipt_number text,
  constraint migration_row_pkey PRIMARY KEY (migration_id, line),
  constraint migration_row_state_check CHECK ((state = ANY (ARRAY['invalid'::text, 'valid'::text, 'running'::text, 'done'::text, 'failed'::text, 'stopped'::text])))
);
CREATE INDEX migration_row_bad ON loanops.migration_row USING btree (migration_id, line) WHERE (state = ANY (ARRAY['invalid'::text, 'failed'::text, 'stopped'::text]));
CREATE INDEX migration_row_client ON loanops.migration_row USING btree (migration_id, client_external_id) WHERE (client_external_id IS NOT NULL);
CREATE INDEX migration_row_next ON loanops.migration_row USING btree (migration_id, loan_external_id, on_date, line) WHERE (state = 'valid'::text);
CREATE INDEX migration_row_running ON loanops.migration_row USING btree (migration_id, line) WHERE (state = 'running'::text);

create table loanops.migration_step (
  operation_id uuid not null,
  migration_id uuid not null,
  line integer not null,
  is_last boolean not null,
  constraint migration_step_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE,
  constraint migration_step_pkey PRIMARY KEY (operation_id)
);
CREATE INDEX migration_step_row ON loanops.migration_step USING btree (migration_id, line);

create table loanops.operation (
  id uuid not null,
  seq bigint generated always as identity not null,
  operation_type text not null,
  origin text not null,
  subject text not null,
  waits_for text,
  external_id text not null,
  data json not null,
  idempotency_key text,
  request_sha256 bytea,
  status text default 'processing'::text not null,
  attempt integer default 0 not null,
  attempts integer default 0 not null,
  claimed_by uuid,
  claimed_at timestamp with time zone,
  claimed_until timestamp with time zone,
  next_try_at timestamp with time zone default now() not null,
  waiting_for text,
  last_error text,
  look_first boolean default false not null,
  unknown_since timestamp with time zone,
  key_generation integer default 1 not null,
  resolution text,
  seen json,
  response json,
  error_message text,
  accepted_at timestamp with time zone default now() not null,
  processed_at timestamp with time zone,
  purged_at timestamp with time zone,
  unstarted_attempt integer,
  caller text,
  request_id text,
  traceparent text,
  sent_attempt integer,
  may_still_run boolean default false not null,
  kept json,
  actor text,
  address inet,
  ignored text[],
  constraint operation_check CHECK (((status = 'processing'::text) = (processed_at IS NULL))),
  constraint operation_check1 CHECK (((claimed_by IS NULL) = (claimed_until IS NULL))),
  constraint operation_origin_check CHECK ((origin = ANY (ARRAY['api'::text, 'payment'::text, 'migration'::text]))),
  constraint operation_pkey PRIMARY KEY (id),
  constraint operation_resolution_check CHECK ((resolution = ANY (ARRAY['retry'::text, 'failed'::text]))),
  constraint operation_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'success'::text, 'failed'::text]))),
  constraint operation_waiting_for_check CHECK ((waiting_for = ANY (ARRAY['ledger_unavailable'::text, 'ledger_busy'::text, 'ledger_credentials'::text, 'ledger_approval'::text, 'outcome_unknown'::text])))
);
CREATE INDEX operation_external_id ON loanops.operation USING btree (external_id, seq);
CREATE INDEX operation_failed ON loanops.operation USING btree (seq) WHERE (status = 'failed'::text);
CREATE INDEX operation_failed_at ON loanops.operation USING btree (processed_at) WHERE (status = 'failed'::text);
CREATE INDEX operation_failed_by_code ON loanops.operation USING btree (COALESCE((response #>> '{errors,0,userMessageGlobalisationCode}'::text[]), (response ->> 'userMessageGlobalisationCode'::text)), seq) WHERE (status = 'failed'::text);
CREATE INDEX operation_failed_by_type ON loanops.operation USING btree (operation_type, seq) WHERE (status = 'failed'::text);
CREATE INDEX operation_failed_of_subject ON loanops.operation USING btree (external_id, seq) WHERE (status = 'failed'::text);
CREATE INDEX operation_in_trouble ON loanops.operation USING btree (waiting_for) WHERE ((status = 'processing'::text) AND (waiting_for IS NOT NULL));
CREATE INDEX operation_loan_create ON loanops.operation USING btree (external_id, seq) WHERE (operation_type = 'LOAN_CREATE'::text);
CREATE INDEX operation_mobile_number ON loanops.operation USING btree (((data ->> 'mobileNo'::text))) WHERE ((data ->> 'mobileNo'::text) IS NOT NULL);
CREATE INDEX operation_not_of_payment ON loanops.operation USING btree (accepted_at) WHERE (origin <> 'payment'::text);
CREATE INDEX operation_of_api ON loanops.operation USING btree (seq) WHERE (origin = 'api'::text);
CREATE INDEX operation_of_api_by_type ON loanops.operation USING btree (operation_type, seq) WHERE (origin = 'api'::text);
CREATE INDEX operation_of_api_failed ON loanops.operation USING btree (seq) WHERE ((origin = 'api'::text) AND (status = 'failed'::text));
CREATE INDEX operation_of_api_processing ON loanops.operation USING btree (seq) WHERE ((origin = 'api'::text) AND (status = 'processing'::text));
CREATE INDEX operation_of_client ON loanops.operation USING btree (waits_for, seq) WHERE (operation_type = 'LOAN_CREATE'::text);
CREATE INDEX operation_of_migration_by_type ON loanops.operation USING btree (operation_type, seq) WHERE (origin = 'migration'::text);
CREATE INDEX operation_of_others ON loanops.operation USING btree (origin, seq) WHERE (origin <> 'api'::text);
CREATE INDEX operation_of_payment_by_type ON loanops.operation USING btree (operation_type, seq) WHERE ((origin = 'payment'::text) AND (operation_type <> 'REPAYMENT'::text));
CREATE INDEX operation_purgeable ON loanops.operation USING btree (processed_at) WHERE ((status <> 'processing'::text) AND (purged_at IS NULL));
CREATE INDEX operation_tracking_id ON loanops.operation USING btree ((((operation_type || '|'::text) || (id)::text)));
CREATE INDEX operation_unfinished ON loanops.operation USING btree (subject, seq) WHERE (status = 'processing'::text);
CREATE INDEX operation_unfinished_of_view ON loanops.operation USING btree (seq) WHERE ((status = 'processing'::text) AND (origin <> 'payment'::text));
CREATE INDEX operation_unknown ON loanops.operation USING btree (seq) WHERE ((status = 'processing'::text) AND (unknown_since IS NOT NULL));
CREATE INDEX operation_utr ON loanops.operation USING btree (((data ->> 'utr_payment_id'::text))) WHERE ((data ->> 'utr_payment_id'::text) IS NOT NULL);
CREATE INDEX operation_waits_for ON loanops.operation USING btree (waits_for, seq) WHERE ((status = 'processing'::text) AND (waits_for IS NOT NULL));
CREATE INDEX operation_zeros_before_id ON loanops.operation USING btree (ltrim(external_id, '0'::text)) WHERE (external_id ~ '^0[0-9]*$'::text);
CREATE UNIQUE INDEX operation_idempotency_key ON loanops.operation USING btree (idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE TRIGGER report_operation AFTER UPDATE OF status ON loanops.operation FOR EACH ROW WHEN (((new.origin = 'api'::text) AND (old.status = 'processing'::text) AND (new.status <> 'processing'::text))) EXECUTE FUNCTION report_operation();

create table loanops.operation_attempt (
  operation_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  method text,
  path text,
  http_status integer,
  outcome text not null,
  idempotency_key text,
  times integer default 1 not null,
  constraint operation_attempt_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE,
  constraint operation_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'not_now'::text, 'not_arrived'::text, 'unknown'::text, 'misconfigured'::text]))),
  constraint operation_attempt_pkey PRIMARY KEY (operation_id, attempt)
);

create table loanops.sent_form (
  sha256 bytea not null,
  sent_at timestamp with time zone default now() not null,
  location text,
  constraint sent_form_pkey PRIMARY KEY (sha256)
);
comment on table loanops.sent_form is 'Forms of the console that were sent within a day, and where each led.';

create table loanops.views_applied (
  name text not null,
  sha256 text not null,
  first_applied_at timestamp with time zone default now() not null,
  constraint views_applied_pkey PRIMARY KEY (name, sha256)
);

create table loanops.webhook_call (
  id uuid default gen_random_uuid() not null,
  gateway text not null,
  at timestamp with time zone not null,
  address inet,
  status integer not null,
  event_type text,
  lender text not null,
  reason text,
  constraint webhook_call_pkey PRIMARY KEY (id)
);

create table raw.template (
  id uuid default raw.new_id() not null,
  received_at timestamp with time zone default now() not null,
  event_id text,
  event_type text,
  body bytea not null,
  body_sha256 bytea default sha256(body) not null,
  headers jsonb default '{}'::jsonb not null,
  address inet,
  verified_by text,
  constraint template_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX template_repeat ON raw.template USING btree (body_sha256, md5(COALESCE(event_id, ''::text)));
comment on table raw.template is 'The pattern of every raw table: create table raw.<lender>_<gateway> (like raw.template including all)';
