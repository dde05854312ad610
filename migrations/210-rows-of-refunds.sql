-- The refunds and disputes that a row of gateway B's reconciliation states, of which a payment has few.
create index transaction_of_row on core.transaction (of_payment_id, gateway) where hints ? 'is_of_row';
