-- Marks the transfers that came in gateway B's older format: its events have neither of the newer one's members.
update core.event
   set hints = hints || '{"reported_by": "AMOUNT_COLLECTED"}'
 where gateway = 'gateway_b' and kind = 'payment' and hints ? 'utr' and not hints ?| array['order_id', 'bank_reference', 'remitter_ifsc'];

update core.transaction
   set hints = hints || '{"reported_by": "AMOUNT_COLLECTED"}'
 where coalesce(hints ->> 'utr', hints ->> 'bank_reference') is not null
   and gateway = 'gateway_b' and kind = 'payment' and hints ? 'utr' and not hints ?| array['order_id', 'bank_reference', 'remitter_ifsc'];

-- The days of events that came to the other gateway's URL and that a person posted: they are in their own gateway's books now.
insert into core.changed_day (day)
select distinct decided_day from core.transaction
 where problem = 'unreadable' and decided_day is not null and hints ->> 'gateway' <> gateway;
