-- The files that stated the fee, the tax or the settlement of a row that a fetch or another file has since taken over.
alter table core.statement add column settled_by uuid[] not null default '{}';
create index statement_settled_by on core.statement using gin (settled_by) where settled_by <> '{}';
create index lost_part_files on core.lost_part using gin (files);
