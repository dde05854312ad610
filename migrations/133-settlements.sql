-- Settlements are looked up by their day, and by the bank's reference of the payout.
create index settlement_row_settled on core.settlement_row (settled_at);
create index settlement_row_utr on core.settlement_row (utr) where utr is not null;
create index statement_settled on core.statement (settled_at) where settlement_id is not null;
create index statement_utr on core.statement (utr) where utr is not null and settlement_id is not null;

-- The file that says it; null for what was fetched.
alter table core.settlement_row add column statement_id uuid;
create index settlement_row_of_file on core.settlement_row (statement_id) where statement_id is not null;
