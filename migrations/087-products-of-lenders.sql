-- A lender may have several products. Both tables have a row per setting of LENDERS_FILE.
alter table core.allowed_network drop constraint allowed_network_pkey;
-- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
alter table core.allowed_network add primary key (lender, product, gateway, network);
alter table core.confirming drop constraint confirming_pkey;
-- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
alter table core.confirming add primary key (lender, product, gateway);
-- What was learned before this migration may be out of date.
alter table core.loan_product add column learned_at timestamptz not null default '-infinity';
alter table core.loan_product alter column learned_at set default now();
