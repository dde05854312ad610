-- Marks the transfers that came in gateway B's older format: its events have neither of the newer one's members.
update core.event
   set hints = hints || '{"reported_by": "AMOUNT_COLLECTED"}'
 where gateway = 'gateway_b' and kind = 'payment' and hints ? 'utr' and not hints ?| array['bank_reference', 'remitter_ifsc'];

update core.transaction
   set hints = hints || '{"reported_by": "AMOUNT_COLLECTED"}'
 where coalesce(hints ->> 'utr', hints ->> 'bank_reference') is not null
   and gateway = 'gateway_b' and kind = 'payment' and hints ? 'utr' and not hints ?| array['bank_reference', 'remitter_ifsc'];
