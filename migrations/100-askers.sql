-- Who submitted an operation and from where, as the audit names them; null for those of batches and migrations.
alter table loanops.operation add column actor text;
alter table loanops.operation add column address inet;
