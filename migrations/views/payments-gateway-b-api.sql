-- A payment in a row of the gateway's reconciliation, whose members are nested since version 2026-01-01 and flat before.
-- `is_of_row`: a refund or dispute that comes from such a row, in which it may have another id or amount than in its webhooks.
create or replace function base.gateway_b_row(event jsonb, item jsonb) returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object(
      'payment', jsonb_build_object(
        'cf_payment_id', paid -> 'cf_payment_id', 'payment_status', 'SUCCESS', 'payment_time', paid -> 'payment_time',
        'payment_amount', paid_amount,
        -- A row does not state the surcharge, but nothing else makes a payment greater than its order.
        'payment_surcharge', case when above_order > 0 then jsonb_build_object('payment_surcharge_service_charge', above_order) end,
        'payment_currency', paid_currency,
        'bank_reference', coalesce(paid -> 'bank_reference', paid -> 'payment_utr'),
        'is_captured', paid -> 'is_captured', 'payment_group', paid -> 'payment_group'),
      'order', jsonb_build_object(
        'order_id', ordered -> 'order_id', 'order_amount', ordered -> 'order_amount',
        'order_tags', coalesce(nullif(ordered -> 'order_tags', 'null'), event #> '{order,order_tags}')),
      'customer_details', jsonb_build_object('customer_id', base.text_of(item #> '{customer_details,customer_id}')),
      'refund', jsonb_build_object(
        'cf_refund_id', refunded -> 'refund_id', 'cf_payment_id', paid -> 'cf_payment_id', 'order_id', ordered -> 'order_id',
        'refund_amount', happened -> 'event_amount', 'refund_currency', happened -> 'event_currency',
        'refund_status', case when is_back then '"CANCELLED"' else happened -> 'event_status' end,
        'processed_at', happened -> 'event_time', 'is_of_row', true),
      'dispute', jsonb_build_object(
        'dispute_id', happened -> 'event_id', 'dispute_amount', happened -> 'event_amount',
        'dispute_amount_currency', happened -> 'event_currency', 'created_at', happened -> 'event_time', 'is_of_row', true,
        'dispute_status', case
          coalesce(base.text_of(item #> '{dispute_details,closed_in_favor_of}'), base.text_of(item -> 'closed_in_favor_of'))
          when 'MERCHANT' then 'DISPUTE_MERCHANT_WON' when 'CUSTOMER' then 'DISPUTE_MERCHANT_LOST'
          else case when is_back then 'DISPUTE_MERCHANT_WON' end end),
      'order_details', jsonb_build_object('order_id', ordered -> 'order_id', 'cf_payment_id', paid -> 'cf_payment_id'))
    from (select coalesce(item -> 'event_details', item), coalesce(item -> 'payment_details', item),
                 coalesce(item -> 'order_details', item),
                 -- The details are a list since version 2026-01-01, in one of the two reconciliations.
                 coalesce(item #> '{refund_details,0}', item -> 'refund_details', item) offset 0) parts (happened, paid, ordered, refunded)
   -- Some rows of payments lack their own amount.
   cross join lateral (select coalesce(base.text_of(paid -> 'payment_amount'), base.text_of(happened -> 'event_amount')),
                              coalesce(base.text_of(paid -> 'payment_currency'), base.text_of(happened -> 'event_currency')))
         money (paid_amount, paid_currency)
   cross join lateral (select case when coalesce(base.text_of(ordered -> 'order_currency'), paid_currency) = paid_currency
                                   then base.number_of(to_jsonb(paid_amount)) - base.number_of(ordered -> 'order_amount') end)
         surplus (above_order)
   -- In a row of such a type, the money that was refunded or claimed came back.
   cross join lateral (select base.text_of(happened -> 'event_type') ~ '_REVERSAL$') returned (is_back)
$$;

-- The event in which the gateway would have sent what was fetched from its API. Its members may be as large as a webhook:
-- `offset 0` has each copied once, and not wherever it is read.
create or replace function base.gateway_b_fetched(event jsonb) returns jsonb language sql stable parallel safe as $$
  select case
    when item ? 'cf_refund_id' then jsonb_build_object('type', 'REFUND_STATUS_WEBHOOK', 'data', jsonb_build_object('refund', item))
    when item ? 'dispute_id' then jsonb_build_object('type', 'DISPUTE_CREATED', 'data',
      jsonb_build_object('dispute', item, 'order_details', item -> 'order_details'))
    when item ? 'payment_status' then jsonb_build_object(
      'type', case base.text_of(item -> 'payment_status') when 'SUCCESS' then 'PAYMENT_SUCCESS_WEBHOOK' else 'PAYMENT_FAILED_WEBHOOK' end,
      'data', jsonb_build_object('payment', item, 'order', event -> 'order'))
    else jsonb_build_object(
      'type', case substring(coalesce(base.text_of(item #> '{event_details,event_type}'), base.text_of(item -> 'event_type'))
          from '^(REFUND|DISPUTE|CHARGEBACK)(_REVERSAL)?$')
        when 'REFUND' then 'REFUND_STATUS_WEBHOOK' when 'DISPUTE' then 'DISPUTE_CREATED'
        when 'CHARGEBACK' then 'DISPUTE_CREATED' else 'PAYMENT_SUCCESS_WEBHOOK' end,
      'data', base.gateway_b_row(event, item)) end
    from (select event -> 'data' offset 0) fetched (item)
$$;
