create table core.transaction (
  id uuid primary key default raw.new_id(),
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  of_payment_id text,
  lender text not null,
  -- The loan that the events name, and the one that an operator assigned, who takes precedence.
  named_loan_id text,
  assigned_loan_id text,
  external_loan_id text generated always as (coalesce(assigned_loan_id, named_loan_id)) stored,
  amount numeric,
  currency text,
  paid_at timestamptz,
  is_captured boolean not null,
  is_verified boolean not null,
  -- Without statistics, like the status of an operation.
  state text not null,
  -- Why the payment is in suspense.
  reason text,
  -- The event that supplied the payment's facts.
  source text not null,
  raw_id uuid not null,
  received_at timestamptz not null,
  hints jsonb,
  -- Why the last attempt did not post the payment; since when, how often it was tried, and when the next attempt is due.
  refused_reason text,
  refused_detail text,
  refused_at timestamptz,
  tries integer not null default 0,
  next_try_at timestamptz,
  -- Reasons of suspense that an operator has set aside.
  overruled text[] not null default '{}',
  -- A repayment that was undone keeps its external id at the ledger, so the next one needs another.
  posting_number integer not null default 1,
  operation_id uuid,
  batch_id uuid,
  ledger_transaction_id bigint,
  posted_at timestamptz,
  -- An objection to a payment that is posted or being posted.
  objection text,
  -- What the payment's events say of its fate beside money and loan, so that it can be decided again without reading them.
  -- Disagreement 'loan': they name different loans or lenders, which an operator decides by assigning one. 'assignment': they state
  -- something else than what the loan was chosen over.
  problem text,
  disagreement text,
  -- What an operator decided about a payment, a refund or a chargeback: later events do not change it.
  decision text,
  -- Of decision 'post': the amount to post, where it differs from the captured one, and the day to post it as of.
  decided_amount numeric,
  decided_day date,
  -- Objections that an operator has cleared, each as core.objections_to names it: the same facts do not raise it again.
  cleared_facts text[],
  -- How the repayment differed when it was last read back from the ledger; null if it did not, and when that was.
  difference text,
  read_back_at timestamptz,
  -- Operators' notes to each other.
  note text,
  noted_by text,
  -- Since when the payment has been in suspense. Batches that try it again in vain do not change the time.
  suspended_at timestamptz,
  -- What was last reported about the payment: one suspended again for the same reason is not reported again.
  reported text,
  -- What the ledger holds of a posted payment, if it differs from the amount sent.
  ledger_amount numeric,
  -- No event that counts reports the payment: the gateway has yet to be asked, or has not confirmed it.
  unconfirmed text check (unconfirmed in ('unasked', 'denied')),
  -- What an operator decided over, so that the payment can be reopened; null where that was not kept yet.
  decided_over jsonb,
  -- The payment's id with which an operator's posting of an unreadable event is booked, if the event shows one: the ledger then
  -- refuses the same payment's own posting. Null for all others, which are booked with their own gateway_payment_id.
  booked_as text,
  -- What was left out of a payment's posting as the fee of its payer; null if nothing was.
  payer_fee numeric,
  -- The references in those of the payment's events that count, each as kind:value; which of them named the loan; and the loan
  -- that one only suggests.
  refs text[],
  matched_by text,
  suggested_loan text,
  -- What went back to the payer: of a payment, all of it; of a refund or chargeback, what it took out of its payment. Null for nothing.
  returned_amount numeric,
  -- Since when a payment waits to be posted that did not wait from the beginning: before, it lay in suspense, or was posted and
  -- undone. A batch that tries it in vain does not change the time.
  waiting_since timestamptz,
  -- Whether a payment's repayment was refused because the ledger may have its money already.
  may_be_booked boolean not null default false,
  -- What an operator chose the payment's loan over: amount, currency, whether that was verified, and the loans and references that
  -- its events named. What they state afterwards was not part of the decision. Null where nobody chose one, or where that was not
  -- kept yet.
  assigned_over jsonb,
  -- Whether other events count than when the payment was sent on its way.
  is_stale boolean not null default false,
  check ((state = 'suspense') <= (reason is not null)),
  check ((state = 'posted') = (posted_at is not null))
) with (
  fillfactor = 85,
  -- The dead rows of a payment's updates are vacuumed early, like those of an operation's.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table core.transaction alter column state set statistics 0;
-- "not valid", as in core.event.
alter table core.transaction
  add constraint transaction_state_check check (state in ('waiting', 'posting', 'posted', 'suspense', 'failed', 'returned',
    'handled', 'dismissed')) not valid,
  add constraint transaction_reason_check check (reason in ('no_loan_named', 'loan_unknown', 'loan_not_active',
    'currency_mismatch', 'lender_mismatch', 'signature_not_verified', 'sender_not_allowed', 'events_disagree', 'refund',
    'chargeback', 'amount_invalid', 'unreadable', 'ledger_refused', 'unknown_event', 'awaiting_review', 'not_at_gateway',
    'missing_at_ledger', 'reversed_at_ledger', 'overpaid', 'reversal_refused')) not valid,
  add constraint transaction_objection_check check (objection in ('refund', 'chargeback', 'events_disagree',
    'differs_at_ledger', 'taken_back')) not valid,
  add constraint transaction_problem_check check (problem in ('unreadable', 'amount_invalid', 'unknown_event',
    'awaiting_review')) not valid,
  add constraint transaction_decision_check check (decision in ('post', 'handled', 'dismiss', 'restore')) not valid,
  add constraint transaction_disagreement_check check (disagreement in ('money', 'loan', 'assignment')) not valid;

-- No index begins with the gateway: on a small table, PostgreSQL would use it to find one payment and read them all.
create unique index transaction_payment on core.transaction (gateway_payment_id, gateway, kind);
create index transaction_of_payment on core.transaction (of_payment_id, gateway) where kind <> 'payment';
create index transaction_loan on core.transaction (external_loan_id, id) where external_loan_id is not null;
create index transaction_waiting on core.transaction (paid_at, id) where state = 'waiting' and unconfirmed is null;
-- A refused payment keeps the time of its next try while something else holds it, and is tried only once nothing does.
create index transaction_retry on core.transaction (next_try_at)
  where state = 'suspense' and reason = refused_reason and next_try_at is not null;
create index transaction_state on core.transaction (state, id);
create index transaction_batch on core.transaction (batch_id, state) where batch_id is not null;
create index transaction_objection on core.transaction (objection) where objection is not null;
-- For the gauge of payments in suspense.
create index transaction_suspense on core.transaction (reason) where state = 'suspense';
-- For rows received since a day: they lie roughly in order of arrival, so a few pages are enough.
create index transaction_received on core.transaction using brin (received_at);
-- Read-back begins with the payments of some weeks ago, however many were posted before.
create index transaction_posted on core.transaction (posted_at, id) where state = 'posted';
-- For lists by the day of payment, of one lender, of refunds or chargebacks alone, and by reason.
create index transaction_paid on core.transaction (paid_at, id);
create index transaction_lender on core.transaction (lender, id);
create index transaction_not_payment on core.transaction (kind, id) where kind <> 'payment';
create index transaction_reason on core.transaction (reason, id) where reason is not null;
-- Payments that ended otherwise than posted, by the day on which they were paid: among a month of posted ones they are few. What
-- is posted, as nearly all are, pays for none of it.
create index transaction_not_posted on core.transaction (state, paid_at, id)
  where state in ('suspense', 'failed', 'returned', 'handled', 'dismissed');
-- A payment without a time belongs to the day on which it arrived.
create index transaction_undated on core.transaction (received_at) where paid_at is null;
-- Unreadable events by the payment that they are about, if that much can be read.
create index transaction_unreadable on core.transaction ((hints ->> 'payment_id')) where problem = 'unreadable';
-- Without a pending list, which each look-up would read as a whole.
create index transaction_refs on core.transaction using gin (refs) with (fastupdate = off) where state = 'suspense';
-- A payer who asks where the money went knows only the bank's reference of it.
create index transaction_bank_reference on core.transaction ((coalesce(hints ->> 'utr', hints ->> 'bank_reference')))
  where coalesce(hints ->> 'utr', hints ->> 'bank_reference') is not null;
-- Where refunds and disputes are not signed, a stranger may send any number of them; the verified ones of a payment are few.
create index transaction_verified_of_payment on core.transaction (of_payment_id, gateway) where is_verified and kind <> 'payment';
-- What an operator posted for an event that could not be read, by the day as of which it was posted.
create index transaction_decided_unreadable on core.transaction (decided_day) where problem = 'unreadable' and decided_day is not null;
-- Gateway B's transfers by the bank's reference, for the same one in the other of its formats; and its mandate debits by the
-- payment that they name.
create index transaction_transfer on core.transaction (
  lower(coalesce(hints ->> 'utr', hints ->> 'bank_reference')), (hints ? 'reported_by'), amount, state, id)
  where gateway = 'gateway_b' and kind = 'payment' and coalesce(hints ->> 'utr', hints ->> 'bank_reference') ~ '[1-9]';
create index transaction_debit on core.transaction ((hints ->> 'cf_txn_id')) where hints ->> 'cf_txn_id' is not null;
-- Payments by their ids, whatever capitals and zeros before digits a file or the ledger has them with, which keeps 50 characters.
create index transaction_spelt_id on core.transaction (ltrim(lower(left(gateway_payment_id, 50)), '+0')) where kind = 'payment';

create function core.note_waiting() returns trigger language plpgsql as $$
begin
  new.waiting_since := now();
  return new;
end
$$;
create trigger note_waiting before update of state on core.transaction
  for each row when (new.state = 'waiting' and old.state not in ('waiting', 'posting'))
  execute function core.note_waiting();

-- The operations by which a payment was sent to the ledger, the latest included.
create table core.posting (
  transaction_id uuid not null references core.transaction,
  operation_id uuid not null,
  primary key (transaction_id, operation_id)
);

-- One pass of raw → base → core → ledger.
create table core.batch_run (
  id uuid primary key,
  trigger text not null check (trigger in ('schedule', 'request')),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'completed')),
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Counts the workers that have claimed it, and so fences their writes.
  attempt integer not null default 0,
  claimed_until timestamptz,
  discovered integer not null default 0,
  transformed bigint not null default 0,
  posted bigint not null default 0,
  suspended bigint not null default 0,
  failed bigint not null default 0,
  discover_seconds numeric,
  transform_seconds numeric,
  post_seconds numeric,
  last_error text
);
create unique index batch_run_one_running on core.batch_run (status) where status = 'running';
create unique index batch_run_one_waiting on core.batch_run (status) where status = 'waiting';

-- Which loan a payment belongs to that names none: by the id of its virtual account, its mandate, its order, its link or its payer.
-- A loan has one period per value.
create table core.reference (
  id uuid primary key default raw.new_id(),
  gateway text not null,
  kind text not null check (kind in ('virtual_account', 'mandate', 'order', 'payment_link', 'customer', 'payer')),
  value text not null,
  -- The kind and value as in core.transaction.refs: UPI ids ignore case.
  key text not null generated always as (
    kind || ':' || case when kind in ('payer', 'virtual_account') and strpos(value, '@') > 0 then lower(value) else value end) stored,
  external_loan_id text not null,
  -- Both days are included; null where the period has no such end.
  valid_from date,
  valid_until date check (valid_until >= valid_from),
  created_by text not null,
  created_at timestamptz not null default now()
);
create unique index reference_value on core.reference (key, gateway, external_loan_id);
create index reference_loan on core.reference (external_loan_id, id);
create index reference_kind on core.reference (gateway, kind, id);

-- What the next batch looks at again. A list without a key of its own, so that whoever writes to it never waits for a batch.
-- Where `key` is null: payments in suspense whose events' references nobody has collected yet.
create table core.changed_reference (
  id bigint generated always as identity primary key,
  gateway text not null,
  key text
);

-- The lenders whose events of a gateway count only once a signature proves them or the gateway itself confirms them. Written by
-- each worker that starts: one row per setting, because a lender may have several products.
create table core.confirming (
  lender text not null,
  product text not null,
  gateway text not null,
  -- Whose credentials the gateway is asked with, as in core.gateway_account.
  account text not null,
  -- The lenders with the same secrets: what one of these verified needs no confirmation.
  proved_by text[] not null,
  primary key (lender, product, gateway)
);

-- What a gateway is to be asked about, and what it answered.
create table core.question (
  gateway text not null,
  kind text not null check (kind in ('payment', 'refund', 'chargeback')),
  gateway_payment_id text not null,
  account text not null,
  -- When the gateway is asked next. Null: only once there are new events.
  next_ask_at timestamptz default now(),
  -- Why the payment is not confirmed; null until the gateway has answered.
  said text,
  -- What the events name, such as orders, under which the payment was looked for in vain.
  asked text[] not null default '{}',
  tries integer not null default 0,
  denied_at timestamptz,
  -- The batch that asked last.
  batch_id uuid,
  primary key (gateway_payment_id, gateway, kind, account)
);
create index question_due on core.question (gateway, account, next_ask_at);
create index question_unanswered on core.question (gateway) where said is null;

-- The lenders whose proved refunds and lost chargebacks batches book by themselves, named as in core.confirming and written by
-- each worker that starts.
create table core.reversing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  primary key (product, gateway, lender)
);

-- Which lenders' secrets and credentials prove events to the lenders of which products, named as in core.confirming and written
-- by each worker that starts. No rows of a gateway whose secrets all lenders share.
create table core.signing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  -- Whether the lender validates signatures, so that what others sign does not count as verified for it.
  validates boolean not null,
  primary key (product, gateway, lender)
);

-- When that was last changed: what came before is no other lender's by settings that came later. One row.
create table core.signing_change (
  changed_at timestamptz not null
);
