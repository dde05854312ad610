-- Which settlement has a payment: each fetch looks this up for the payments that it lists.
create index settlement_row_of_payment on core.settlement_row (id, gateway) where kind = 'payment';
