-- What a payment's events say of its fate beside money and loan, so that it can be decided again without reading them.
alter table core.transaction add column problem text check (problem in ('unreadable', 'amount_invalid'));
-- 'loan': they name different loans or lenders, which an operator decides by assigning one.
alter table core.transaction add column disagreement text check (disagreement in ('money', 'loan'));

-- The gateways whose raw tables become sources. The file with a gateway's function base.<name> adds its row.
create table core.gateway (
  -- Part of the names of its raw tables, beside a lender's code of up to forty characters.
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,21}$')
);
