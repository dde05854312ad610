-- Payments by their ids, whatever capitals and zeros before digits a file or the ledger has them with, which keeps 50 characters.
create index transaction_spelt_id on core.transaction (ltrim(lower(left(gateway_payment_id, 50)), '+0')) where kind = 'payment';
