create or replace view ops.migration as
select id as migration_id, type, status, rows, valid_rows, invalid_rows, done, failed, started_at, ended_at,
       stopped, is_dry_run, uploaded_at, looked_at
  from loanops.migration
 where status <> 'uploading';
comment on view ops.migration is 'Uploaded portfolios and how far their runs are';

create or replace view ops.migration_row as
select migration_id, line, loan_external_id as external_loan_id, state, reason, finding, finding_reason
  from loanops.migration_row;
comment on view ops.migration_row is 'What became of each uploaded row, and why';

-- Only an owner may, before PostgreSQL 17. Where somebody else analyzes at this moment, that one sees the new rows too.
create or replace function loanops.analyze_migration_rows() returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  analyze (skip_locked) loanops.migration_row;
end
$$;
