-- The files that are to run before this one: its dry run counts their loans as created.
alter table loanops.migration add column dry_run_after uuid[] not null default '{}';
