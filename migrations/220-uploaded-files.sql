-- What tells uploaded files apart: the name that the uploader gave each, and its bytes. Null for those of before.
alter table loanops.migration add column file_name text, add column file_sha256 bytea;
create index migration_file on loanops.migration (file_sha256, id) where file_sha256 is not null;

-- Null also for one whose upload was interrupted.
alter table core.statement_file add column file_sha256 bytea;
create index statement_file_bytes on core.statement_file (file_sha256, id) where file_sha256 is not null;
