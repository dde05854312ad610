-- One uploaded CSV file and its run.
create table loanops.migration (
  id uuid primary key,
  -- The service's own list of kinds says which types there are, so that another kind of file needs no change of a table.
  -- A process knows the types of its version, and leaves the runs of others alone.
  type text not null,
  -- No answer shows an 'uploading' file, and one whose upload is interrupted is deleted.
  status text not null default 'uploading' check (status in ('uploading', 'uploaded', 'running', 'completed', 'cancelled')),
  -- The header and the delimiter as they came: errors.csv is written the same way.
  columns text[] not null,
  delimiter text not null,
  rows integer not null default 0,
  valid_rows integer not null default 0,
  invalid_rows integer not null default 0,
  done integer not null default 0,
  failed integer not null default 0,
  stopped integer not null default 0,
  -- Counts the runs. The ids of a run's operations are made from it, so that a row that is run again gets new ones.
  run integer not null default 0,
  -- The rows that had ended before this run: its rate does not count them.
  ended_before integer not null default 0,
  is_dry_run boolean not null default false,
  dry_run json,
  -- The loan up to which a dry run has looked, in the order of their ids.
  looked_up_to text,
  uploaded_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- One worker at a time makes a dry run; where it dies, another goes on after the lease.
  worked_by uuid,
  worked_until timestamptz,
  -- Rows that the dry run has checked.
  looked_at integer not null default 0,
  -- How many rows had ended at the last two marks of a run: its rate is that since the older one, whatever was before.
  marked_at timestamptz,
  marked_rows integer,
  marked_before_at timestamptz,
  marked_before_rows integer,
  -- The files that are to run before this one: its dry run counts their loans as created.
  dry_run_after uuid[] not null default '{}',
  -- What tells uploaded files apart: the name that the uploader gave each, and its bytes. Null where they were not kept yet.
  file_name text,
  file_sha256 bytea
);
create index migration_running on loanops.migration (id) where status = 'running';
create index migration_file on loanops.migration (file_sha256, id) where file_sha256 is not null;

-- No foreign key: checking it costs as much as the insert, a million times, and only the upload that made the
-- migration writes rows of it.
create table loanops.migration_row (
  migration_id uuid not null,
  line integer not null,
  state text not null check (state in ('invalid', 'valid', 'running', 'done', 'failed', 'stopped')),
  -- The row as it was uploaded, as a JSON array: the errors file gives it back, and the run reads it again.
  cells text not null,
  -- Compared by bytes, which sorts faster than by a language: ids are ASCII.
  loan_external_id text collate "C",
  client_external_id text,
  -- What a loans row says of its client, in the order of the template: all rows of a client have to say the same.
  client_fields text[],
  -- The same text for all rows of one payment in a repayments file. Only a row that names a gateway has it, whose payments are
  -- unique across loans.
  payment_key text collate "C",
  -- Gives the order of a loan's repayments.
  on_date date,
  disbursed_on date,
  reason text,
  -- What the last dry run found.
  finding text,
  finding_reason text,
  -- What the ledger keeps of a repayment's reference: unique per loan, whatever gateway the row names.
  receipt_number text collate "C",
  primary key (migration_id, line)
) with (fillfactor = 90);
-- Statistics of quiet times say that hardly any row is left to do. In a backlog, PostgreSQL would then plan to read all of it
-- for each row.
alter table loanops.migration_row alter column state set statistics 0;

-- A loan's rows in their order, and the next loans of a run: every index more makes a million rows slower.
create index migration_row_next on loanops.migration_row (migration_id, loan_external_id, on_date, line) where state = 'valid';
create index migration_row_running on loanops.migration_row (migration_id, line) where state = 'running';
create index migration_row_bad on loanops.migration_row (migration_id, line) where state in ('invalid', 'failed', 'stopped');
create index migration_row_client on loanops.migration_row (migration_id, client_external_id) where client_external_id is not null;

-- The operation created for each row.
create table loanops.migration_step (
  operation_id uuid primary key references loanops.operation on delete cascade,
  migration_id uuid not null,
  line integer not null,
  -- The row succeeds when this operation does.
  is_last boolean not null
);
create index migration_step_row on loanops.migration_step (migration_id, line);
