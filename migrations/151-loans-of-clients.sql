-- A client's page lists its loans.
create index operation_of_client on loanops.operation (waits_for, seq) where operation_type = 'LOAN_CREATE';
