-- Gateway B's transfers by the bank's reference, for the same one in the other of its formats; and its mandate debits by the
-- payment that they name.
create index transaction_transfer on core.transaction (
  lower(coalesce(hints ->> 'utr', hints ->> 'bank_reference')), (hints ? 'reported_by'), amount, state, id)
  where gateway = 'gateway_b' and kind = 'payment' and coalesce(hints ->> 'utr', hints ->> 'bank_reference') ~ '[1-9]';
create index transaction_debit on core.transaction ((hints ->> 'cf_txn_id')) where hints ->> 'cf_txn_id' is not null;
