-- What an operator decided over, so that the payment can be reopened; null for what was decided before this migration.
alter table core.transaction add column decided_over jsonb;
