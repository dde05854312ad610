-- What speaks against a payment that is posted or on its way: a refund, a chargeback, or events that say something else.
alter table core.transaction add column objection text
  check (objection in ('events_disagree', 'refund', 'chargeback'));
create index transaction_objection on core.transaction (objection) where objection is not null;

-- For the gauge of what is in suspense.
create index transaction_suspense on core.transaction (reason) where state = 'suspense';
