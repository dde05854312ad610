-- The event types in gateway B's documentation. Those for which base.gateway_b_fact below has no case are ignored.
create or replace function base.gateway_b_types() returns text[] language sql immutable parallel safe as $$
  select array[
    'PAYMENT_SUCCESS_WEBHOOK', 'PAYMENT_FAILED_WEBHOOK', 'PAYMENT_USER_DROPPED_WEBHOOK', 'PAYMENT_CHARGES_WEBHOOK',
    'REFUND_STATUS_WEBHOOK', 'AUTO_REFUND_STATUS_WEBHOOK', 'DISPUTE_CREATED', 'DISPUTE_UPDATED', 'DISPUTE_CLOSED',
    'PAYMENT_LINK_EVENT', 'PAYMENT_FORM_ORDER_WEBHOOK', 'AMOUNT_COLLECTED', 'INTERNATIONAL_PAYMENT_COLLECTED',
    'SUBSCRIPTION_PAYMENT_SUCCESS', 'SUBSCRIPTION_PAYMENT_FAILED', 'SUBSCRIPTION_PAYMENT_CANCELLED',
    'SUBSCRIPTION_PAYMENT_NOTIFICATION_INITIATED', 'SUBSCRIPTION_CONTROLLED_NOTIFICATION_STATUS',
    'SUBSCRIPTION_CONTROLLED_EXECUTION_STATUS', 'SUBSCRIPTION_AUTH_STATUS', 'SUBSCRIPTION_STATUS_CHANGED',
    'SUBSCRIPTION_STATUS_CHANGE', 'SUBSCRIPTION_CARD_EXPIRY_REMINDER', 'SUBSCRIPTION_REFUND_STATUS',
    'SUBSCRIPTION_NEW_PAYMENT', 'SUBSCRIPTION_PAYMENT_DECLINED', 'REFUND_STATUS', 'SUBSCRIPTION_PAYMENT_CONTROLLED_*',
    'SETTLEMENT_INITIATED', 'SETTLEMENT_SUCCESS', 'SETTLEMENT_FAILED', 'SETTLEMENT_REVERSED', 'VENDOR_SETTLEMENT_*',
    'VENDOR_STATUS_UPDATE', 'HEALTH_ALERT', 'INSTRUMENT_ACTIVE_WEBHOOK', 'INSTRUMENT_FAILED_WEBHOOK', 'TERMINAL_STATUS_UPDATE', 'WEBHOOK',
    'LOANOPS_BACKFILL', 'loanops.backfill', 'loanops.unreadable']
$$;

-- The captured amount, which may be a part of the reserved one, but never more: the gateway's own samples state more.
create or replace function base.gateway_b_amount(payment jsonb) returns numeric language sql immutable parallel safe as $$
  select least(case when payment #> '{authorization,action}' = '"CAPTURE"'
                    then nullif(base.number_of(payment #> '{authorization,captured_amount}'), 0) end,
               base.number_of(payment -> 'payment_amount'))
$$;

-- The sum of the discounts that these offers granted. No payment has more offers than this.
create or replace function base.gateway_b_discount(offers jsonb) returns numeric language sql immutable parallel safe as $$
  select coalesce(sum(base.number_of(offer #> '{offer_redemption,discount_amount}')), 0)
    from (select o as offer from jsonb_array_elements(case when jsonb_typeof(offers) = 'array' then offers else '[]' end) o limit 20) stated
   where coalesce(nullif(offer #> '{offer_redemption,redemption_status}', 'null'), '"SUCCESS"') = '"SUCCESS"'
$$;

-- What the payer paid on top of the order's amount, less the offers that were granted.
create or replace function base.gateway_b_payer_fee(event jsonb, payment jsonb) returns jsonb language sql stable parallel safe as $$
  select case when fee > 0 then jsonb_build_object('payer_fee', fee, 'order_amount', ordered,
           'payer_fee_differs', case when (ordered - granted + fee = base.gateway_b_amount(payment)) is not true then true end)
           else '{}' end
    from (select coalesce(base.number_of(payment #> '{payment_surcharge,payment_surcharge_service_charge}'), 0)
                 + coalesce(base.number_of(payment #> '{payment_surcharge,payment_surcharge_service_tax}'), 0),
               base.number_of(coalesce(event #> '{data,order,order_amount}', payment -> 'order_amount')),
               base.gateway_b_discount(coalesce(nullif(event #> '{data,payment_offers}', 'null'), payment -> 'payment_offers')))
         stated (fee, ordered, granted)
$$;

-- Hints about a credit to a virtual account, and about surcharges.
create or replace function base.gateway_b_hints_beside(event jsonb, payment jsonb) returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object(
      'virtual_account', base.text_of(payment #> '{payment_method,vba_transfer,vaccount_id}'),
      'virtual_account_number', base.text_of(payment #> '{payment_method,vba_transfer,vaccount_number}'),
      'utr', nullif(base.text_of(payment #> '{payment_method,vba_transfer,utr}'), 'NA'),
      'remitter_name', base.text_of(payment #> '{payment_method,vba_transfer,remitter_name}'),
      'remitter_account', base.text_of(payment #> '{payment_method,vba_transfer,remitter_account}'),
      'remitter_ifsc', base.text_of(payment #> '{payment_method,vba_transfer,remitter_ifsc}'))
    || base.gateway_b_payer_fee(event, payment)
$$;

create or replace function base.gateway_b_hints(event jsonb, payment jsonb, tags jsonb) returns jsonb
  language sql stable parallel safe as $$
  select jsonb_build_object(
      'order_id', base.text_of(event #> '{data,order,order_id}'),
      'order_amount', base.number_of(event #> '{data,order,order_amount}'),
      -- The link's ids count, even among more tags than are kept.
      'order_tags', coalesce(base.tags_of(tags),
        case when tags ?| '{cf_link_id,link_id}'
             then base.tags_of(jsonb_build_object('cf_link_id', tags -> 'cf_link_id', 'link_id', tags -> 'link_id')) end),
      'customer_id', base.text_of(event #> '{data,customer_details,customer_id}'),
      'bank_reference', nullif(base.text_of(payment -> 'bank_reference'), 'NA'),
      'remitter_vpa', base.text_of(payment #> '{payment_method,upi,upi_id}'))
    || case when payment #> '{payment_method,vba_transfer}' is null and payment -> 'payment_surcharge' is null then '{}'
            else base.gateway_b_hints_beside(event, payment) end
$$;

-- Such a payment is only reserved, perhaps released since, or collected by somebody else on delivery, whatever its status.
create or replace function base.gateway_b_is_uncollected(payment jsonb) returns boolean language sql immutable parallel safe as $$
  select base.is_no(payment -> 'is_captured') or payment #> '{authorization,action}' = '"VOID"'
      or payment -> 'payment_group' in ('"cash_on_delivery"', '"cod"') or payment -> 'payment_method' ?| '{cash_on_delivery,cod}'
$$;

-- What a payment's fields say about its money; null if its status is not known, which is no reason to post it. Batches
-- read it from events; fetches and uploads of reports read it from the fields that they take from an item or a row.
create or replace function base.gateway_b_status(payment jsonb) returns text language sql immutable parallel safe as $$
  select case coalesce(base.text_of(payment -> 'payment_status'), case base.text_of(payment -> 'event_status')
      -- These two statuses occur only in samples of the gateway's reconciliation.
      when 'PAID' then 'SUCCESS'
      when 'CLOSED' then 'SUCCESS'
      else base.text_of(payment -> 'event_status') end)
    when 'SUCCESS' then case when base.gateway_b_is_uncollected(payment) then 'uncollected' else 'captured' end
    when 'FAILED' then 'failed'
    when 'USER_DROPPED' then 'failed'
    when 'CANCELLED' then 'failed'
    when 'VOID' then 'failed'
    when 'PENDING' then 'pending'
    when 'NOT_ATTEMPTED' then 'pending'
    when 'ACTIVE' then 'pending'
    when 'INITIALIZED' then 'pending' end
$$;

create or replace function base.gateway_b_payment(name text, event jsonb, payment jsonb) returns base.fact
  language plpgsql stable parallel safe as $$
declare
  payment_id text := base.text_of(payment -> 'cf_payment_id');
  amount numeric := base.gateway_b_amount(payment);
  currency text := base.text_of(payment -> 'payment_currency');
  paid_at timestamptz := base.iso_time_of(payment -> 'payment_time');
  tags jsonb := event #> '{data,order,order_tags}';
  loan text := base.loan_of(tags);
  status text := base.gateway_b_status(payment);
  hints jsonb := base.without_nulls(base.gateway_b_hints(event, payment, tags));
begin
  if name = 'PAYMENT_SUCCESS_WEBHOOK' and status = 'captured' then
    return base.captured(payment_id, amount, currency, paid_at, loan, hints);
  elsif name = 'PAYMENT_SUCCESS_WEBHOOK' and status = 'uncollected' then
    return null;
  elsif name <> 'PAYMENT_SUCCESS_WEBHOOK' or status = 'failed' then
    return base.failed(payment_id, amount, currency, paid_at, loan, hints);
  end if;
  -- The event's type says that money was captured, but the payment's status does not.
  return base.unreadable(base.without_nulls(jsonb_build_object('payment_id', payment_id)));
end
$$;

-- A mandate debit for an instalment, or the rupee or two that verify the mandate itself.
create or replace function base.gateway_b_subscription(name text, event jsonb, draw jsonb) returns base.fact
  language plpgsql stable parallel safe as $$
declare
  payment_id text := base.text_of(draw -> 'cf_payment_id');
  amount numeric := base.number_of(draw -> 'payment_amount');
  -- Mandates are in rupees; older events do not say so.
  currency text := coalesce(base.text_of(draw -> 'payment_currency'), 'INR');
  -- The time of the debit: other times in the event are those of its order.
  paid_at timestamptz := base.iso_time_of(event -> 'event_time');
  loan text := base.loan_of(draw #> '{subscription_details,subscription_tags}');
  hints jsonb := base.without_nulls(jsonb_build_object(
    'payment_type', base.text_of(draw -> 'payment_type'),
    'subscription_id', coalesce(base.text_of(draw -> 'subscription_id'), base.text_of(draw #> '{subscription_details,subscription_id}')),
    'mandate', coalesce(base.text_of(draw #> '{authorization_details,authorization_reference}'),
      base.text_of(draw #> '{authorization_details,authorizationReference}')),
    'subscription_tags', base.tags_of(draw #> '{subscription_details,subscription_tags}'),
    'cf_txn_id', base.text_of(draw -> 'cf_txn_id'),
    'customer_id', base.text_of(draw #> '{customer_details,customer_id}'),
    'remitter_vpa', base.text_of(draw #> '{authorization_details,payment_method,upi,upi_id}')));
  drawn base.fact;
begin
  if name <> 'SUBSCRIPTION_PAYMENT_SUCCESS' then
    return base.failed(payment_id, amount, currency, paid_at, loan, hints);
  elsif coalesce(base.text_of(draw -> 'payment_status'), 'SUCCESS') <> 'SUCCESS' then
    return base.unreadable(base.without_nulls(jsonb_build_object('payment_id', payment_id)));
  end if;
  drawn := base.captured(payment_id, amount, currency, paid_at, loan, hints);
  -- A draw that is not an instalment verifies the mandate, and may be returned with it.
  if base.text_of(draw -> 'payment_type') is distinct from 'CHARGE' and drawn.problem is null then
    drawn.problem := 'awaiting_review';
  end if;
  return drawn;
end
$$;

-- A refund's id. A row of the gateway's reconciliation has the id that the lender gave the refund, which may be any text.
create or replace function base.gateway_b_refund_id(refund jsonb) returns text language sql stable parallel safe as $$
  select case when refund ? 'is_of_row' then given else base.plain_refund_id(given) end
    from base.text_of(refund -> 'cf_refund_id') given
$$;

-- The facts of a refund's event. One that is under way changes nothing; one that was made may come back from the bank.
create or replace function base.gateway_b_refund(name text, event jsonb, refund jsonb)
  returns base.fact language sql stable parallel safe as $$
  select case when base.text_of(refund -> 'cf_refund_id') is null then base.unreadable(null)
    when base.text_of(refund -> 'refund_status') in ('SUCCESS', 'CANCELLED', 'FAILED')
      then row('refund', base.gateway_b_refund_id(refund), base.text_of(refund -> 'cf_payment_id'),
        case when base.text_of(refund -> 'refund_status') <> 'SUCCESS' then 'undone'
             when name like 'AUTO%' or base.text_of(refund -> 'refund_type') ~ 'AUTO_REFUND$' then 'never_captured' else 'done' end,
        base.number_of(refund -> 'refund_amount'),
        -- Mandates are in rupees; the refund of a debit does not say so.
        coalesce(base.text_of(refund -> 'refund_currency'), case name when 'SUBSCRIPTION_REFUND_STATUS' then 'INR' end),
        coalesce(base.iso_time_of(refund -> 'processed_at'), base.iso_time_of(refund -> 'created_at'),
          base.iso_time_of(event -> 'event_time')), null, null,
        base.without_nulls(jsonb_build_object('order_id', base.text_of(refund -> 'order_id'),
          'refund_id', base.text_of(refund -> 'refund_id'), 'refund_note', base.text_of(refund -> 'refund_note'),
          'refund_reason', base.text_of(refund -> 'refund_reason'),
          'arn', base.text_of(refund -> 'refund_arn'), 'is_of_row', refund -> 'is_of_row')))::base.fact end
$$;

-- The facts of a dispute's event. A retrieval request only asks for information. A won dispute may be claimed again in
-- the next phase, under the same id.
create or replace function base.gateway_b_dispute(dispute jsonb, disputed jsonb) returns base.fact language sql stable parallel safe as $$
  select case
    when 'RETRIEVAL' in (phase, base.text_of(dispute -> 'dispute_type')) then null
    when base.text_of(dispute -> 'dispute_id') is null then base.unreadable(null)
    else row('chargeback', base.text_of(dispute -> 'dispute_id'), base.text_of(disputed -> 'cf_payment_id'),
        case when base.text_of(dispute -> 'dispute_status') ~ '_MERCHANT_(LOST|ACCEPTED)$' then 'done'
             when base.text_of(dispute -> 'dispute_status') ~ '_MERCHANT_WON$' then 'undone'
             else 'open' end,
        base.number_of(dispute -> 'dispute_amount'),
        coalesce(base.text_of(dispute -> 'dispute_amount_currency'), base.text_of(disputed -> 'payment_currency')),
        -- Of a dispute that goes on, the gateway gives a day in the year 9999 as that of its end.
        coalesce(case when base.text_of(dispute -> 'dispute_status') ~ '_MERCHANT_(LOST|ACCEPTED|WON)$'
                        then base.iso_time_of(dispute -> 'resolved_at') end,
          base.iso_time_of(dispute -> 'updated_at'), base.iso_time_of(dispute -> 'created_at')), null, null,
        base.without_nulls(jsonb_build_object('order_id', base.text_of(disputed -> 'order_id'), 'phase', phase,
          'dispute_status', base.text_of(dispute -> 'dispute_status'),
          'reason_code', base.text_of(dispute -> 'reason_code'), 'reason', base.text_of(dispute -> 'reason_description'),
          'respond_by', base.iso_time_of(dispute -> 'respond_by'), 'is_of_row', dispute -> 'is_of_row')))::base.fact end
    from coalesce(substring(base.text_of(dispute -> 'dispute_status') from '^(RETRIEVAL|DISPUTE|CHARGEBACK|PRE_ARBITRATION|ARBITRATION)_'),
           base.text_of(dispute -> 'dispute_type')) phase
$$;

-- Which loan a payment link is for, and the id that the link's maker gave it. The link's payments have events of their
-- own, which may name only the gateway's id of the link.
create or replace function base.gateway_b_link(link jsonb) returns base.fact language sql immutable parallel safe as $$
  select case when id is not null and coalesce(loan, made_as) is not null
    then row('link', id, null, 'named', null, null, null, loan, null,
           base.without_nulls(jsonb_build_object('link_id', made_as)))::base.fact end
    from (select base.text_of(link -> 'cf_link_id'), base.loan_of(link -> 'link_notes'), base.text_of(link -> 'link_id'))
         l (id, loan, made_as)
$$;

-- The facts of an event whose type is not listed, wherever it has an id next to an amount.
create or replace function base.gateway_b_unknown(name text, event jsonb) returns base.fact language sql stable parallel safe
  -- A custom plan would copy the event wherever the query names it: an event of 1 MB took 50 MB more.
  set plan_cache_mode = force_generic_plan as $$
  select f.*
    -- If one part is a payment, the other parts are not looked at.
    from (select event #> '{data,payment}', 1
          union all
          (select value, 2 from jsonb_each(base.object_of(event -> 'data')) where jsonb_typeof(value) = 'object' limit 20)
          union all
          select event -> 'data', 3
          union all
          select event, 4) parts (part, place)
   cross join lateral base.unknown_facts(name, part, place = 1 or part ? 'cf_payment_id',
     base.iso_time_of(coalesce(part -> 'payment_time', event -> 'event_time')), base.loan_of(event #> '{data,order,order_tags}')) f
   where place = 1 or jsonb_typeof(event #> '{data,payment}') is distinct from 'object'
   order by place
   limit 1
$$;

-- The id of a payment in a body that cannot be read.
create or replace function base.gateway_b_id(body bytea) returns text language sql immutable parallel safe as $$
  select base.found_at(body, '{"\"cf_payment_id\"", "\"referenceId\""}', '"\w+"\s*:\s*"?([A-Za-z0-9_]{1,64})["\s,}]')
$$;

-- An event's type. Events of the old virtual accounts have it in `event`, those of old mandates in `cf_event`. A
-- payment_status is not a type: other events have one too.
create or replace function base.gateway_b_type(event jsonb) returns text language sql immutable parallel safe as $$
  select coalesce(base.text_of(event -> 'type'), base.text_of(event -> 'event'), base.text_of(event -> 'cf_event'), '')
$$;

-- The fact of an event by its type.
create or replace function base.gateway_b_fact(event jsonb) returns base.fact language plpgsql stable parallel safe as $$
declare
  name text := base.gateway_b_type(event);
  data jsonb;
begin
  if name = 'LOANOPS_BACKFILL' then
    event := base.gateway_b_fetched(event);
    name := event ->> 'type';
  end if;
  data := event -> 'data';
  return case
    when jsonb_typeof(event) is distinct from 'object' then base.unreadable(null)
    when name = 'loanops.unreadable' then base.set_aside(event)
    when name in ('PAYMENT_SUCCESS_WEBHOOK', 'PAYMENT_FAILED_WEBHOOK', 'PAYMENT_USER_DROPPED_WEBHOOK')
      then base.gateway_b_payment(name, event, data -> 'payment')
    when name in ('REFUND_STATUS_WEBHOOK', 'AUTO_REFUND_STATUS_WEBHOOK')
      then base.gateway_b_refund(name, event, coalesce(nullif(data -> 'refund', 'null'), data -> 'auto_refund'))
    when name = 'SUBSCRIPTION_REFUND_STATUS' then base.gateway_b_refund(name, event, data)
    when name in ('DISPUTE_CREATED', 'DISPUTE_UPDATED', 'DISPUTE_CLOSED')
      then base.gateway_b_dispute(data -> 'dispute', data -> 'order_details')
    when name in ('SUBSCRIPTION_PAYMENT_SUCCESS', 'SUBSCRIPTION_PAYMENT_FAILED', 'SUBSCRIPTION_PAYMENT_CANCELLED')
      then base.gateway_b_subscription(name, event, data)
    when name = 'AMOUNT_COLLECTED' then base.gateway_b_collected(event)
    when name in ('SUBSCRIPTION_NEW_PAYMENT', 'SUBSCRIPTION_PAYMENT_DECLINED') then base.gateway_b_debited(name, event)
    when name = 'REFUND_STATUS' then base.gateway_b_debit_refunded(event)
    when name = 'PAYMENT_LINK_EVENT' then base.gateway_b_link(data)
    when not base.is_listed(name, base.gateway_b_types()) then base.gateway_b_unknown(name, event) end;
end
$$;

-- The fact as a list; null if the event's type is not listed and it says nothing.
create or replace function base.gateway_b_facts(event jsonb) returns base.fact[] language plpgsql stable parallel safe as $$
declare
  said base.fact := base.gateway_b_fact(event);
begin
  -- `WEBHOOK`, which is listed, may also be what a relay calls any event.
  return case when said.kind is not null or base.is_listed(base.gateway_b_type(event), base.gateway_b_types())
                   and base.form_of(event -> 'data') is null
              then array[said] end;
end
$$;

select base.add_gateway('gateway_b', base.gateway_b_types());
