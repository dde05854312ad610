-- Statistics of quiet times say that hardly any row is left to do. In a backlog, PostgreSQL would then plan to read all of it
-- for each row.
alter table loanops.callback alter column state set statistics 0;
alter table loanops.migration_row alter column state set statistics 0;
alter table loanops.bulk_item alter column outcome set statistics 0;
