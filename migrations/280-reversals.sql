-- What went back to the payer: of a payment, all of it; of a refund or chargeback, what it took out of its payment. Null for nothing.
alter table core.transaction add column returned_amount numeric;

-- The lenders whose proved refunds and lost chargebacks batches book by themselves, as core.confirming names those that confirm.
-- Written by each worker that starts.
create table core.reversing (
  lender text not null,
  product text not null,
  gateway text not null,
  account text not null,
  proved_by text[] not null,
  primary key (product, gateway, lender)
);

alter table core.transaction drop constraint transaction_reason_check;
alter table core.transaction add constraint transaction_reason_check check (reason in ('no_loan_named', 'loan_unknown',
  'loan_not_active', 'currency_mismatch', 'lender_mismatch', 'signature_not_verified', 'sender_not_allowed', 'events_disagree',
  'refund', 'chargeback', 'amount_invalid', 'unreadable', 'ledger_refused', 'unknown_event', 'awaiting_review',
  'not_at_gateway', 'missing_at_ledger', 'reversed_at_ledger', 'overpaid', 'reversal_refused')) not valid;
alter table core.transaction drop constraint transaction_objection_check;
alter table core.transaction add constraint transaction_objection_check
  check (objection in ('refund', 'chargeback', 'events_disagree', 'differs_at_ledger', 'taken_back')) not valid;
alter table core.transaction drop constraint transaction_decision_check;
alter table core.transaction add constraint transaction_decision_check
  check (decision in ('post', 'handled', 'dismiss', 'restore')) not valid;

-- What is returned is reported too.
drop trigger report_payment on core.transaction;
create constraint trigger report_payment after update on core.transaction deferrable initially deferred for each row
  when (new.state in ('posted', 'suspense', 'returned', 'handled', 'dismissed')
        and (old.state is distinct from new.state or old.reason is distinct from new.reason
             or old.objection is distinct from new.objection or old.returned_amount is distinct from new.returned_amount))
  execute function core.report_payment();

-- Their parameters or columns change here.
drop view if exists ops.suspense;
drop function if exists core.fate_of_refund(text, boolean, boolean, boolean, boolean, boolean, text);
drop function if exists core.fate_of(text, boolean, text, text, text, boolean, text, text, text, text, text, text, text, text,
  boolean, boolean, boolean, boolean, boolean);
