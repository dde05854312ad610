-- What the ledger keeps of a repayment's reference: unique per loan, whatever gateway the row names. payment_key is
-- filled where a row names a gateway, whose payments are unique across loans too.
alter table loanops.migration_row add column receipt_number text collate "C";
