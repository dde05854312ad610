-- An objection to a payment that is posted or being posted: a refund, a chargeback, or contradicting events.
alter table core.transaction add column objection text
  check (objection in ('events_disagree', 'refund', 'chargeback'));
create index transaction_objection on core.transaction (objection) where objection is not null;

-- For the gauge of payments in suspense.
create index transaction_suspense on core.transaction (reason) where state = 'suspense';
