-- A publication of all tables, as for a copy of the database by logical replication, makes PostgreSQL refuse every update and
-- delete in a table whose rows it cannot name. These have no key: their whole rows name them.
alter table core.backfill_pending replica identity full;
alter table core.changed_day replica identity full;
alter table core.gateway_window replica identity full;
alter table core.signing_change replica identity full;
alter table core.unreadable_item replica identity full;
