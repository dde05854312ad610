-- Since when it has been in suspense. Batches that try it again in vain do not change it.
alter table core.transaction add column suspended_at timestamptz;
update core.transaction set suspended_at = coalesce(refused_at, received_at) where state = 'suspense';

-- Lists by the day of payment, of one lender, of refunds or chargebacks alone, and by reason.
create index transaction_paid on core.transaction (paid_at, id);
create index transaction_lender on core.transaction (lender, id);
create index transaction_not_payment on core.transaction (kind, id) where kind <> 'payment';
create index transaction_reason on core.transaction (reason, id) where reason is not null;
