create or replace view ops.migration as
select id as migration_id, type, status, rows, valid_rows, invalid_rows, done, failed, started_at, ended_at,
       stopped, is_dry_run, uploaded_at, looked_at, file_name, encode(file_sha256, 'hex') as file_sha256,
       -- Ids start with the time of the upload.
       (select earlier.id from loanops.migration earlier
         where earlier.file_sha256 = m.file_sha256 and earlier.id < m.id order by earlier.id desc limit 1) as same_as
  from loanops.migration m
 where status <> 'uploading';
comment on view ops.migration is 'Uploaded files and the progress of their runs';

create or replace view ops.migration_row as
select migration_id, line, loan_external_id as external_loan_id, state, reason, finding, finding_reason
  from loanops.migration_row;
comment on view ops.migration_row is 'The state of each uploaded row, with the reason';

-- Runs as the owner, because before PostgreSQL 17 only an owner may analyze. A concurrent analyze sees the new rows too,
-- so it need not be waited for.
create or replace function loanops.analyze_migration_rows() returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  analyze (skip_locked) loanops.migration_row;
end
$$;
