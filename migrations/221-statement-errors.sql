-- What the upload of a file found, so that its page can show it: the first invalid rows, and the columns that were ignored.
alter table core.statement_file add column errors json, add column ignored_columns text[];
