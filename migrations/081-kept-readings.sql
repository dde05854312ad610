-- What the last attempt that may have been sent had read for its write: the product, the payment type, the office. Another
-- attempt under the same key writes the same, and a look compares with it, whatever has been renamed since.
alter table loanops.operation add column kept json;
