-- Settling reads the events of a payment that state different facts; of the others it knows enough. 'repeat': an earlier
-- event states the same facts. 'too_many': beyond core.most_facts().
alter table core.event add column set_aside text check (set_aside in ('repeat', 'too_many'));

-- Two partial indexes instead of a whole one: an ordinary event is in one of them, and a list in order costs it nothing.
drop index core.event_payment;
create index event_payment on core.event (gateway_payment_id, gateway) where set_aside is null;
create index event_set_aside on core.event (gateway_payment_id, gateway, kind, received_at, raw_id, source)
 where set_aside is not null;
create index event_too_many on core.event (gateway_payment_id) where set_aside = 'too_many';

-- The refunds that name a payment, whichever payment they are taken to be of.
create index event_of_payment on core.event (of_payment_id, gateway) where of_payment_id is not null and set_aside is null;

-- They return something else from now on, or are part of another.
drop function if exists core.record_summaries(text, text[], boolean);
drop function if exists core.summarize(text, text[]);
drop function if exists core.disagreement_of(text, text, boolean, boolean, boolean, boolean, numeric, text);
