-- When an operation's personal data was removed from it.
alter table loanops.operation add column purged_at timestamptz;
create index operation_purgeable on loanops.operation (processed_at) where status <> 'processing' and purged_at is null;
