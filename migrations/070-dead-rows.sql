-- Rows that each operation or payment updates, in tables that keep them for years. By default, autovacuum lets the dead ones
-- become a fifth of the table, and until then every look for unfinished work reads their index entries: twelve pages per
-- thousand. One per fifty is still cheap, because a vacuum with fewer leaves the indexes alone.
alter table loanops.operation set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table loanops.callback set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table core.transaction set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
