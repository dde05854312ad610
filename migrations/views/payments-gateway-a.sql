insert into core.gateway (name) values ('gateway_a') on conflict do nothing;

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

-- What may help a person find the loan of a payment that names none.
create or replace function base.gateway_a_hints(event jsonb, payment jsonb) returns jsonb language sql stable parallel safe as $$
  select base.without_nulls(jsonb_build_object(
    'description', base.text_of(payment -> 'description'),
    'order_id', base.text_of(payment -> 'order_id'),
    'receipt', base.text_of(event #> '{payload,order,entity,receipt}'),
    'reference_id', base.text_of(event #> '{payload,payment_link,entity,reference_id}'),
    'virtual_account', base.text_of(event #> '{payload,virtual_account,entity,id}'),
    'account_number', base.text_of(event #> '{payload,virtual_account,entity,receivers,0,account_number}'),
    'bank_reference', coalesce(
      base.text_of(event #> '{payload,bank_transfer,entity,bank_reference}'),
      base.text_of(event #> '{payload,upi_transfer,entity,rrn}'),
      base.text_of(payment #> '{acquirer_data,rrn}'),
      base.text_of(payment #> '{acquirer_data,bank_transaction_id}')),
    'base_amount', base.number_of(payment -> 'base_amount') * 0.01))
$$;

create or replace function base.gateway_a_refund(name text, refund jsonb, payment jsonb, loan text, hints jsonb)
  returns base.fact language sql stable parallel safe as $$
  select case
    when base.text_of(refund -> 'id') is null then base.unreadable(hints)
    else row('refund', base.text_of(refund -> 'id'),
        coalesce(base.text_of(refund -> 'payment_id'), base.text_of(payment -> 'id')),
        case when refund ->> 'status' = 'failed' or name = 'refund.failed' then 'undone'
             when payment ->> 'captured' = 'false' then 'never_captured'
             -- A refund that is created as "processed", as in the documentation, may still fail.
             when name = 'refund.processed' and refund ->> 'status' = 'processed' then 'done'
             else 'open' end,
        base.number_of(refund -> 'amount') * 0.01, base.text_of(refund -> 'currency'),
        base.unix_time_of(refund -> 'created_at'), coalesce(base.loan_of(refund -> 'notes'), loan), null,
        base.without_nulls(jsonb_build_object('arn', base.text_of(refund #> '{acquirer_data,arn}'))))::base.fact end
$$;

create or replace function base.gateway_a_dispute(dispute jsonb, payment jsonb, loan text, hints jsonb)
  returns base.fact language sql stable parallel safe as $$
  select case
    when base.text_of(dispute -> 'id') is null then base.unreadable(hints)
    else row('chargeback', base.text_of(dispute -> 'id'),
        coalesce(base.text_of(dispute -> 'payment_id'), base.text_of(payment -> 'id')),
        case when dispute ->> 'status' = 'lost' then 'done'
             when dispute ->> 'status' in ('won', 'closed') then 'undone'
             else 'open' end,
        base.number_of(dispute -> 'amount') * 0.01, base.text_of(dispute -> 'currency'),
        base.unix_time_of(dispute -> 'created_at'), loan, null,
        base.without_nulls(jsonb_build_object('phase', base.text_of(dispute -> 'phase'),
          'reason_code', base.text_of(dispute -> 'reason_code'), 'respond_by', base.unix_time_of(dispute -> 'respond_by'))))::base.fact end
$$;

-- What an event of gateway A says of payments, refunds and chargebacks. No body makes it raise an error.
create or replace function base.gateway_a(body bytea) returns setof base.fact language plpgsql stable parallel safe as $$
declare
  event jsonb;
  name text;
  payment jsonb;
  refund jsonb;
  dispute jsonb;
  loan text;
  hints jsonb;
  facts base.fact[] := '{}';
begin
  begin
    event := convert_from(body, 'UTF8')::jsonb;
    name := coalesce(event ->> 'event', '');
    payment := event #> '{payload,payment,entity}';
    refund := event #> '{payload,refund,entity}';
    dispute := event #> '{payload,dispute,entity}';
    loan := base.gateway_a_loan(event, payment);
    hints := base.gateway_a_hints(event, payment);

    -- A fully refunded payment was captured before, unless its flag says that it never was. In a refund's event, that flag
    -- takes precedence over the status.
    if jsonb_typeof(event) is distinct from 'object' then
      facts := facts || base.unreadable(null);
    elsif payment ->> 'status' = 'captured' and not (name like 'refund.%' and payment ->> 'captured' is not distinct from 'false')
          or payment ->> 'status' = 'refunded' and payment ->> 'captured' is distinct from 'false' then
      facts := facts || base.captured(base.text_of(payment -> 'id'), base.number_of(payment -> 'amount') * 0.01,
        base.text_of(payment -> 'currency'), base.unix_time_of(payment -> 'created_at'), loan, hints);
    elsif payment ->> 'status' = 'failed' and base.text_of(payment -> 'id') is not null then
      facts := facts || row('payment', base.text_of(payment -> 'id'), null, 'failed', base.number_of(payment -> 'amount') * 0.01,
        base.text_of(payment -> 'currency'), base.unix_time_of(payment -> 'created_at'), loan, null, hints)::base.fact;
    elsif name in ('payment.captured', 'order.paid', 'payment_link.paid', 'payment_link.partially_paid',
                   'virtual_account.credited', 'qr_code.credited', 'invoice.paid', 'subscription.charged') then
      -- Its type says that money was captured, and its status does not.
      facts := facts || base.unreadable(base.without_nulls(jsonb_build_object('payment_id', base.text_of(payment -> 'id'))));
    end if;

    if name like 'refund.%' then
      facts := facts || base.gateway_a_refund(name, refund, payment, loan, hints);
    end if;

    if name like 'payment.dispute.%' then
      facts := facts || base.gateway_a_dispute(dispute, payment, loan, hints);
    end if;
  exception
    when insufficient_resources then
      -- Not caused by the body, which is read again later.
      raise;
    when others then
      -- Not JSON that PostgreSQL can store: invalid UTF-8, a NUL, a number too large for numeric, nesting too deep for the stack.
      facts := array[base.unreadable(null)];
  end;
  return query select * from unnest(facts);
end
$$;
