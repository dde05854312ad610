insert into core.gateway (name) values ('gateway_b') on conflict do nothing;

create or replace function base.gateway_b_refund(name text, refund jsonb, loan text, hints jsonb)
  returns base.fact language sql stable parallel safe as $$
  select case
    when base.text_of(refund -> 'cf_refund_id') is null then base.unreadable(hints)
    else row('refund', base.text_of(refund -> 'cf_refund_id'), base.text_of(refund -> 'cf_payment_id'),
        case when refund ->> 'refund_status' in ('CANCELLED', 'FAILED') then 'undone'
             when name like 'AUTO%' or refund ->> 'refund_type' = 'PAYMENT_AUTO_REFUND' then 'never_captured'
             when refund ->> 'refund_status' = 'SUCCESS' then 'done'
             else 'open' end,
        base.number_of(refund -> 'refund_amount'), base.text_of(refund -> 'refund_currency'),
        base.iso_time_of(refund -> 'processed_at'), loan, null,
        base.without_nulls(jsonb_build_object('order_id', base.text_of(refund -> 'order_id'),
          'refund_note', base.text_of(refund -> 'refund_note'), 'arn', base.text_of(refund -> 'refund_arn'))))::base.fact end
$$;

-- What an event of gateway B says of payments and refunds. No body makes it raise an error.
create or replace function base.gateway_b(body bytea) returns setof base.fact language plpgsql stable parallel safe as $$
declare
  event jsonb;
  name text;
  payment jsonb;
  refund jsonb;
  loan text;
  hints jsonb;
  facts base.fact[] := '{}';
begin
  begin
    event := convert_from(body, 'UTF8')::jsonb;
    name := coalesce(event ->> 'type', '');
    payment := event #> '{data,payment}';
    refund := coalesce(nullif(event #> '{data,refund}', 'null'), event #> '{data,auto_refund}');
    loan := base.loan_of(event #> '{data,order,order_tags}');
    hints := base.without_nulls(jsonb_build_object(
      'order_id', base.text_of(event #> '{data,order,order_id}'),
      'order_amount', base.number_of(event #> '{data,order,order_amount}'),
      'customer_id', base.text_of(event #> '{data,customer_details,customer_id}'),
      'bank_reference', nullif(base.text_of(payment -> 'bank_reference'), 'NA'),
      'utr', base.text_of(payment #> '{payment_method,vba_transfer,utr}')));

    if jsonb_typeof(event) is distinct from 'object' then
      facts := facts || base.unreadable(null);
    elsif name = 'PAYMENT_SUCCESS_WEBHOOK' and payment ->> 'payment_status' = 'SUCCESS' then
      facts := facts || base.captured(base.text_of(payment -> 'cf_payment_id'), base.number_of(payment -> 'payment_amount'),
        base.text_of(payment -> 'payment_currency'), base.iso_time_of(payment -> 'payment_time'), loan, hints);
    elsif name like 'PAYMENT\_%' and payment ->> 'payment_status' in ('FAILED', 'USER_DROPPED', 'CANCELLED', 'VOID')
          and base.text_of(payment -> 'cf_payment_id') is not null then
      facts := facts || row('payment', base.text_of(payment -> 'cf_payment_id'), null, 'failed',
        base.number_of(payment -> 'payment_amount'), base.text_of(payment -> 'payment_currency'),
        base.iso_time_of(payment -> 'payment_time'), loan, null, hints)::base.fact;
    elsif name = 'PAYMENT_SUCCESS_WEBHOOK' then
      -- Its type says that money was captured, and its status does not.
      facts := facts || base.unreadable(base.without_nulls(jsonb_build_object('payment_id', base.text_of(payment -> 'cf_payment_id'))));
    end if;

    if name in ('REFUND_STATUS_WEBHOOK', 'AUTO_REFUND_STATUS_WEBHOOK') then
      facts := facts || base.gateway_b_refund(name, refund, loan, hints);
    end if;
  exception
    when insufficient_resources then
      -- Not caused by the body, which is read again later.
      raise;
    when others then
      facts := array[base.unreadable(null)];
  end;
  return query select * from unnest(facts);
end
$$;
