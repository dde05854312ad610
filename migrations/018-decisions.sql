-- What an operator decided about a payment, a refund or a chargeback: later events do not change it.
alter table core.transaction add column decision text check (decision in ('post', 'handled', 'dismiss'));
-- Of decision 'post': the amount to post, where it differs from the captured one, and the day to post it as of.
alter table core.transaction add column decided_amount numeric;
alter table core.transaction add column decided_day date;
-- Objections that an operator has cleared, each as core.objections_to names it: the same facts do not raise it again.
alter table core.transaction add column cleared_facts text[];

-- How the repayment differed when it was last read back from the ledger; null if it did not, and when that was.
alter table core.transaction add column difference text;
alter table core.transaction add column read_back_at timestamptz;

-- Operators' notes to each other.
alter table core.transaction add column note text;
alter table core.transaction add column noted_by text;

-- The checks below only allow more than before. Not valid, so that the rows that are there, which satisfy them, are not read.
alter table core.transaction drop constraint transaction_state_check;
alter table core.transaction add constraint transaction_state_check
  check (state in ('waiting', 'posting', 'posted', 'suspense', 'failed', 'returned', 'handled', 'dismissed')) not valid;
alter table core.transaction drop constraint transaction_reason_check;
alter table core.transaction add constraint transaction_reason_check
  check (reason in ('no_loan_named', 'loan_unknown', 'loan_not_active', 'currency_mismatch', 'lender_mismatch',
    'signature_not_verified', 'sender_not_allowed', 'events_disagree', 'refund', 'chargeback', 'amount_invalid', 'unreadable',
    'ledger_refused', 'unknown_event', 'awaiting_review', 'not_at_gateway', 'missing_at_ledger', 'reversed_at_ledger',
    'overpaid')) not valid;
alter table core.transaction drop constraint transaction_objection_check;
alter table core.transaction add constraint transaction_objection_check
  check (objection in ('refund', 'chargeback', 'events_disagree', 'differs_at_ledger')) not valid;
alter table core.transaction drop constraint transaction_problem_check;
alter table core.transaction add constraint transaction_problem_check
  check (problem in ('unreadable', 'amount_invalid', 'unknown_event')) not valid;
alter table core.event drop constraint event_problem_check;
alter table core.event add constraint event_problem_check
  check (problem in ('unreadable', 'amount_invalid', 'unknown_event')) not valid;
