-- Takes the mark of the older format off transfers that came in the newer one: the gateway may leave out one of its members,
-- but the older one has none of these.
update core.event
   set hints = hints - 'reported_by'
 where gateway = 'gateway_b' and kind = 'payment' and hints ? 'reported_by'
   and hints ?| array['order_id', 'order_amount', 'order_tags', 'customer_id', 'bank_reference', 'remitter_ifsc', 'payer_fee'];

update core.transaction
   set hints = hints - 'reported_by'
 where coalesce(hints ->> 'utr', hints ->> 'bank_reference') is not null
   and gateway = 'gateway_b' and kind = 'payment' and hints ? 'reported_by'
   and hints ?| array['order_id', 'order_amount', 'order_tags', 'customer_id', 'bank_reference', 'remitter_ifsc', 'payer_fee'];
