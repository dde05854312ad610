-- What was left out of a payment's posting as the fee of its payer; null if nothing was.
alter table core.transaction add column payer_fee numeric;
