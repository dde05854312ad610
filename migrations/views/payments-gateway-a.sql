-- The event types that say that money was captured.
create or replace function base.gateway_a_paid_types() returns text[] language sql immutable parallel safe as $$
  select array['payment.captured', 'order.paid', 'payment_link.paid', 'payment_link.partially_paid', 'virtual_account.credited',
    'qr_code.credited', 'invoice.paid', 'invoice.partially_paid', 'subscription.charged']
$$;

create or replace function base.gateway_a_refund_types() returns text[] language sql immutable parallel safe as $$
  select array['refund.created', 'refund.processed', 'refund.failed', 'refund.speed_changed', 'refund.arn_updated']
$$;

-- The event types in gateway A's documentation. Those from which base.gateway_a_facts below takes nothing are ignored.
create or replace function base.gateway_a_types() returns text[] language sql immutable parallel safe as $$
  select base.gateway_a_paid_types() || base.gateway_a_refund_types() || array[
    'payment.authorized', 'payment.failed', 'payment.pending', 'payment.dispute.created', 'payment.dispute.under_review',
    'payment.dispute.action_required', 'payment.dispute.lost', 'payment.dispute.won', 'payment.dispute.closed',
    'subscription.activated', 'subscription.completed', 'subscription.authenticated', 'subscription.updated',
    'subscription.pending', 'subscription.halted', 'subscription.paused', 'subscription.resumed', 'subscription.cancelled',
    'payment_link.cancelled', 'payment_link.expired', 'invoice.expired', 'qr_code.created', 'qr_code.closed',
    'virtual_account.created', 'virtual_account.closed', 'settlement.processed', 'transfer.processed', 'transfer.failed',
    'payout.*', 'payout_link.*', 'transaction.created', 'fund_account.validation.*',
    'token.*', 'order.notification.*', 'payment.downtime.*', 'account.*', 'product.*', 'loanops.backfill', 'loanops.unreadable']
$$;

-- The loan that the event names. An entity's notes are [], an object, null or a string.
create or replace function base.gateway_a_loan(event jsonb, payment jsonb) returns text language sql stable parallel safe as $$
  select coalesce(
    base.loan_of(payment -> 'notes'),
    base.loan_of(event #> '{payload,order,entity,notes}'),
    base.loan_of(event #> '{payload,payment_link,entity,notes}'),
    base.loan_of(event #> '{payload,virtual_account,entity,notes}'),
    base.loan_of(event #> '{payload,qr_code,entity,notes}'),
    base.loan_of(event #> '{payload,invoice,entity,notes}'),
    base.loan_of(event #> '{payload,subscription,entity,notes}'))
$$;

-- The hints in the entities next to the payment: order, link, invoice, mandate, virtual account, QR code and transfer.
create or replace function base.gateway_a_hints_beside(payload jsonb) returns jsonb language sql stable parallel safe as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'receipt', base.text_of(payload #> '{order,entity,receipt}'),
    'order_notes', base.tags_of(payload #> '{order,entity,notes}'),
    'link', base.text_of(payload #> '{payment_link,entity,id}'),
    'reference_id', base.text_of(payload #> '{payment_link,entity,reference_id}'),
    'link_notes', base.tags_of(payload #> '{payment_link,entity,notes}'),
    'invoice', base.text_of(payload #> '{invoice,entity,id}'),
    'invoice_receipt', base.text_of(payload #> '{invoice,entity,receipt}'),
    'subscription_id', base.text_of(payload #> '{subscription,entity,id}'),
    'subscription_notes', base.tags_of(payload #> '{subscription,entity,notes}'),
    'virtual_account', coalesce(base.text_of(payload #> '{virtual_account,entity,id}'),
      base.text_of(payload #> '{bank_transfer,entity,virtual_account_id}'),
      base.text_of(payload #> '{upi_transfer,entity,virtual_account_id}')),
    'virtual_account_notes', base.tags_of(payload #> '{virtual_account,entity,notes}'),
    -- A virtual account may have two receivers: a bank account and a UPI address.
    'account_number', base.text_of(jsonb_path_query_first(payload, '$.virtual_account.entity.receivers[*].account_number')),
    'account_address', base.text_of(jsonb_path_query_first(payload, '$.virtual_account.entity.receivers[*].address')),
    'qr_code', base.text_of(payload #> '{qr_code,entity,id}'),
    'qr_code_notes', base.tags_of(payload #> '{qr_code,entity,notes}'),
    'bank_reference', coalesce(base.text_of(payload #> '{bank_transfer,entity,bank_reference}'),
      base.text_of(payload #> '{upi_transfer,entity,rrn}')),
    'remitter_name', base.text_of(payload #> '{bank_transfer,entity,payer_bank_account,name}'),
    'remitter_account', coalesce(base.text_of(payload #> '{bank_transfer,entity,payer_bank_account,account_number}'),
      base.text_of(payload #> '{upi_transfer,entity,payer_account}')),
    'remitter_ifsc', coalesce(base.text_of(payload #> '{bank_transfer,entity,payer_bank_account,ifsc}'),
      base.text_of(payload #> '{upi_transfer,entity,payer_ifsc}')),
    'remitter_vpa', base.text_of(payload #> '{upi_transfer,entity,payer_vpa}')))
$$;

-- What one minor unit is of a currency: a hundredth, under the empty name, except of these (ISO 4217). Fetches and
-- batches read the same list, so that no payment has two amounts.
create or replace function base.minor_units() returns jsonb language sql immutable parallel safe as $$
  select '{"": 0.01,
      "BIF": 1, "CLP": 1, "DJF": 1, "GNF": 1, "ISK": 1, "JPY": 1, "KMF": 1, "KRW": 1, "PYG": 1, "RWF": 1, "UGX": 1, "UYI": 1,
      "VND": 1, "VUV": 1, "XAF": 1, "XOF": 1, "XPF": 1,
      "BHD": 0.001, "IQD": 0.001, "JOD": 0.001, "KWD": 0.001, "LYD": 0.001, "OMR": 0.001, "TND": 0.001,
      "CLF": 0.0001, "UYW": 0.0001}'::jsonb
$$;

-- An amount in minor units as one in major units. The function names each argument once, so that PostgreSQL can inline it.
create or replace function base.major_units(minor numeric, currency text) returns numeric language sql immutable parallel safe as $$
  select minor * coalesce((base.minor_units() -> currency)::numeric, (base.minor_units() -> '')::numeric)
$$;

create or replace function base.gateway_a_is_payable_in_parts(payload jsonb) returns boolean language sql immutable parallel safe as $$
  select ('true' in (payload #> '{order,entity,partial_payment}', payload #> '{payment_link,entity,accept_partial}',
                     payload #> '{invoice,entity,partial_payment}')) is true
      or (base.number_of(payload #> '{order,entity,amount_due}') > 0) is true
$$;

-- What the payer paid on top of the order's amount: the fee if it is the payer's, or the part of it that is. The fee includes
-- its tax. Without the order, and where this payment is a part of it, the order's amount is what is left of the payment.
create or replace function base.gateway_a_payer_fee(event jsonb, payment jsonb) returns jsonb language sql stable parallel safe as $$
  select case when fee > 0 then jsonb_build_object('payer_fee', fee, 'order_amount', coalesce(ordered, amount - fee),
           'payer_fee_differs', case when ordered + fee <> amount then true end) else '{}' end
    from (select base.text_of(payment -> 'currency') as currency) p
   cross join lateral (
     select base.major_units(coalesce(
              nullif(base.number_of(payment -> 'customer_fee') + coalesce(base.number_of(payment -> 'customer_fee_gst'), 0), 0),
              base.number_of(payment -> 'fee')), currency),
            base.major_units(base.number_of(payment -> 'amount'), currency),
            base.major_units(base.number_of(event #> '{payload,order,entity,amount}'), currency)) stated (fee, amount, whole)
   cross join lateral (
     select case when amount - fee < whole and base.gateway_a_is_payable_in_parts(event -> 'payload') then null else whole end) o (ordered)
$$;

-- Hints for finding the loan of a payment that names none.
create or replace function base.gateway_a_hints(event jsonb, payment jsonb) returns jsonb language sql stable parallel safe as $$
  select base.without_nulls(jsonb_build_object(
    'description', base.text_of(payment -> 'description'),
    'order_id', base.text_of(payment -> 'order_id'),
    'customer_id', base.text_of(payment -> 'customer_id'),
    'notes', base.tags_of(payment -> 'notes'),
    'remitter_vpa', base.text_of(payment -> 'vpa'),
    'mandate', base.text_of(payment -> 'token_id'),
    'bank_reference', coalesce(base.text_of(payment #> '{acquirer_data,rrn}'),
      base.text_of(payment #> '{acquirer_data,bank_transaction_id}')),
    -- This amount is in rupees, whatever the payment's currency.
    'base_amount', base.major_units(base.number_of(payment -> 'base_amount'), 'INR'))
    -- Most events hold a payment alone.
    || case when event -> 'payload' ?| '{order,payment_link,invoice,subscription,virtual_account,qr_code,bank_transfer,upi_transfer}'
            then base.gateway_a_hints_beside(event -> 'payload') else '{}' end
    -- A payment of which the payer bears a part of the fee names another bearer.
    || case when payment -> 'fee_bearer' = '"customer"' or base.number_of(payment -> 'customer_fee') > 0
            then base.gateway_a_payer_fee(event, payment) else '{}' end)
$$;

-- The facts of a refund's event. A refund that is only requested changes nothing yet. Older events have no status.
create or replace function base.gateway_a_refund(name text, refund jsonb, payment jsonb, loan text)
  returns base.fact language sql stable parallel safe as $$
  select case
    when base.text_of(refund -> 'id') is null then base.unreadable(null)
    when name = 'refund.failed'
        or coalesce(base.text_of(refund -> 'status'), substring(name from '[.](processed)$')) in ('failed', 'processed')
      then row('refund', base.text_of(refund -> 'id'),
        coalesce(base.text_of(refund -> 'payment_id'), base.text_of(payment -> 'id')),
        case when base.text_of(refund -> 'status') = 'failed' or name = 'refund.failed' then 'undone'
             when base.is_no(payment -> 'captured') then 'never_captured'
             -- A refund that is created as "processed", as in the documentation, may still fail.
             when name = 'refund.created' then 'open'
             else 'done' end,
        base.major_units(base.number_of(refund -> 'amount'), base.text_of(refund -> 'currency')), base.text_of(refund -> 'currency'),
        base.unix_time_of(refund -> 'created_at'), coalesce(base.loan_of(refund -> 'notes'), loan), null,
        base.without_nulls(jsonb_build_object('arn', base.text_of(refund #> '{acquirer_data,arn}'))))::base.fact end
$$;

create or replace function base.gateway_a_dispute(name text, event jsonb, dispute jsonb, payment jsonb, loan text)
  returns base.fact language sql stable parallel safe as $$
  select case
    when base.text_of(dispute -> 'id') is null then base.unreadable(null)
    else row('chargeback', base.text_of(dispute -> 'id'),
        coalesce(base.text_of(dispute -> 'payment_id'), base.text_of(payment -> 'id')),
        case when is_lost then 'done'
             when name like '%.won' or base.text_of(dispute -> 'status') = 'won' then 'undone'
             -- A dispute may be closed while its money stays deducted: a person looks at it.
             when (name like '%.closed' or base.text_of(dispute -> 'status') = 'closed')
               and base.number_of(dispute -> 'amount_deducted') > 0 is not true then 'undone'
             else 'open' end,
        base.major_units(coalesce(case when is_lost then nullif(base.number_of(dispute -> 'amount_deducted'), 0) end,
          base.number_of(dispute -> 'amount')), base.text_of(dispute -> 'currency')), base.text_of(dispute -> 'currency'),
        -- A fetched dispute does not say when it was lost.
        coalesce(case when is_lost then base.unix_time_of(event -> 'created_at') end, base.unix_time_of(dispute -> 'created_at')),
        loan, null,
        base.without_nulls(jsonb_build_object('phase', base.text_of(dispute -> 'phase'),
          'reason_code', base.text_of(dispute -> 'reason_code'), 'respond_by', base.unix_time_of(dispute -> 'respond_by'))))::base.fact end
    from (values (name like '%.lost' or base.text_of(dispute -> 'status') = 'lost')) said (is_lost)
$$;

-- The facts of an event whose type is not listed: those of its payment if it has one.
create or replace function base.gateway_a_unknown(name text, event jsonb, loan text) returns base.fact
  language sql stable parallel safe as $$
  select f.kind, f.payment_id, f.of_payment_id, f.status, base.major_units(f.amount, f.currency), f.currency, f.paid_at,
         f.external_loan_id, f.problem, f.hints
    -- If one part is a payment, the other parts are not looked at. No gateway's event has more than five parts.
    from (select key, value -> 'entity'
            from jsonb_each(base.object_of(event -> 'payload'))
           where jsonb_typeof(value) = 'object' and (
             key = 'payment' or jsonb_typeof(event #> '{payload,payment,entity}') is distinct from 'object')
           limit 20) part (key, entity)
   cross join lateral base.unknown_facts(name, part.entity, part.key = 'payment', base.unix_time_of(part.entity -> 'created_at'), loan) f
   order by part.key
   limit 1
$$;

-- The event type in which the gateway would have sent what was fetched from its API.
create or replace function base.gateway_a_fetched(payload jsonb) returns text language sql stable parallel safe as $$
  select case
    when payload -> 'refund' is not null then 'refund.processed'
    when payload -> 'dispute' is not null then 'payment.dispute.created'
    else 'loanops.backfill' end
$$;

-- What a payment's fields say about its money; null if its status is not known. Batches read it from events; fetches
-- and uploads of reports read it from the fields that they take from an item or a row.
create or replace function base.gateway_a_status(payment jsonb) returns text language sql immutable parallel safe as $$
  select case
    -- Somebody else collects cash on delivery.
    when payment -> 'method' in ('"cod"', '"cash_on_delivery"') then 'uncollected'
    else case base.text_of(payment -> 'status')
      when 'captured' then 'captured'
      -- A fully refunded payment was captured before, unless its flag says that it never was. If the flag is a text, it
      -- is "1" or "0".
      when 'refunded' then case when base.is_no(payment -> 'captured') then 'never_captured' else 'refunded' end
      when 'failed' then 'failed'
      when 'created' then 'pending'
      when 'authorized' then 'pending'
      when 'pending' then 'pending' end end
$$;

create or replace function base.gateway_a_payment(name text, event jsonb, payment jsonb, loan text) returns base.fact
  language plpgsql stable parallel safe as $$
declare
  payment_id text := base.text_of(payment -> 'id');
  currency text := base.text_of(payment -> 'currency');
  amount numeric := base.major_units(base.number_of(payment -> 'amount'), currency);
  paid_at timestamptz := base.unix_time_of(payment -> 'created_at');
  status text := base.gateway_a_status(payment);
  hints jsonb := base.gateway_a_hints(event, payment);
begin
  if status = 'uncollected' then
    return null;
  end if;
  -- In a refund's event, the payment's flag takes precedence over its status.
  if status = 'captured' and not (name like 'refund.%' and base.is_no(payment -> 'captured')) or status = 'refunded' then
    return base.captured(payment_id, amount, currency, paid_at, loan, hints);
  elsif name = any(base.gateway_a_paid_types()) and status is distinct from 'failed' then
    -- The event's type says that money was captured, but the payment's status does not.
    return base.unreadable(base.without_nulls(jsonb_build_object('payment_id', payment_id)));
  elsif name = 'payment.failed' or name = any(base.gateway_a_paid_types()) then
    return base.failed(payment_id, amount, currency, paid_at, loan, hints);
  elsif not base.is_listed(name, base.gateway_a_types()) then
    return base.gateway_a_unknown(name, event, loan);
  end if;
  return null;
end
$$;

-- The id of a payment in a body that cannot be read.
create or replace function base.gateway_a_id(body bytea) returns text language sql immutable parallel safe as $$
  select base.found_at(body, '{"\"pay_"}', '"(pay_[A-Za-z0-9_]{1,60})"')
$$;

-- The facts of an event by its type; null if the type is not listed and the event says nothing.
create or replace function base.gateway_a_facts(event jsonb) returns base.fact[] language plpgsql stable parallel safe as $$
declare
  name text := coalesce(base.text_of(event -> 'event'), '');
  payment jsonb := event #> '{payload,payment,entity}';
  loan text := base.gateway_a_loan(event, payment);
  facts base.fact[];
begin
  if name = 'loanops.backfill' then
    name := base.gateway_a_fetched(event -> 'payload');
  end if;
  facts := array[case when name = 'loanops.unreadable' then base.set_aside(event)
    when jsonb_typeof(event) = 'object' then base.gateway_a_payment(name, event, payment, loan)
    else base.unreadable(null) end];
  if name = any(base.gateway_a_refund_types()) then
    facts := facts || base.gateway_a_refund(name, event #> '{payload,refund,entity}', payment, loan);
  elsif name like 'payment.dispute.%' and name = any(base.gateway_a_types()) then
    facts := facts || base.gateway_a_dispute(name, event, event #> '{payload,dispute,entity}', payment, loan);
  end if;
  return case when (facts[1]).kind is not null or base.is_listed(name, base.gateway_a_types()) then facts end;
end
$$;

select base.add_gateway('gateway_a', base.gateway_a_types());
