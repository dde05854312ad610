-- What the console's lists filter by, where few of many rows match: a type among a portfolio's operations, and a type or a reason
-- among failures. Operations that callers submit pay for none of them until they fail.
create index operation_of_migration_by_type on loanops.operation (operation_type, seq) where origin = 'migration';
create index operation_failed_by_type on loanops.operation (operation_type, seq) where status = 'failed';
create index operation_failed_by_code on loanops.operation (
  (coalesce(response #>> '{errors,0,userMessageGlobalisationCode}', response ->> 'userMessageGlobalisationCode')), seq)
  where status = 'failed';
-- For the audit of one action, whoever took it.
create index audit_action on loanops.audit (action, at);
