-- The service's own list of kinds says which types there are, so that another kind of file needs no change of a table.
-- A process knows the types of its version, and leaves the runs of others alone.
alter table loanops.migration drop constraint migration_type_check;
