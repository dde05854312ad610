alter table loanops.account validate constraint account_role_check;

-- A bank reference leads to its operation.
create index operation_utr on loanops.operation ((data ->> 'utr_payment_id')) where data ->> 'utr_payment_id' is not null;
-- Failures of any origin, newest first.
create index operation_failed on loanops.operation (seq) where status = 'failed';
-- Those that no caller submitted, newest first; for callers' own, other indexes have this order.
create index operation_of_others on loanops.operation (origin, seq) where origin <> 'api';
