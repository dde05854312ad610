-- What a payment's events say of its fate beside money and loan, so that it can be decided again without reading them.
alter table core.transaction add column problem text check (problem in ('unreadable', 'amount_invalid'));
-- 'loan': they name different loans or lenders, which an operator decides by assigning one.
alter table core.transaction add column disagreement text check (disagreement in ('money', 'loan'));
