-- The files that would be run before this one, whose loans its dry run counts as made.
alter table loanops.migration add column dry_run_after uuid[] not null default '{}';
