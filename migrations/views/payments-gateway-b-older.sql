-- A credit to a virtual account in the older format, which is flat, in rupees and in India's time.
create or replace function base.gateway_b_collected(event jsonb) returns base.fact language sql stable parallel safe as $$
  select base.captured(base.text_of(event -> 'referenceId'), base.number_of(event -> 'amount'), 'INR',
    base.iso_time_of(event -> 'paymentTime'), null, base.without_nulls(jsonb_build_object(
      'virtual_account', base.text_of(event -> 'vAccountId'),
      'virtual_account_number', base.text_of(event -> 'vAccountNumber'),
      'virtual_vpa', base.text_of(event -> 'virtualVpaId'),
      'utr', nullif(base.text_of(event -> 'utr'), 'NA'),
      'reported_by', 'AMOUNT_COLLECTED',
      'remitter_name', base.text_of(event -> 'remitterName'),
      'remitter_account', base.text_of(event -> 'remitterAccount'),
      'remitter_vpa', base.text_of(event -> 'remitterVpa'))))
$$;

-- A mandate debit in the older format, which is flat, in rupees and in India's time, and does not say whether it is an
-- instalment or verifies the mandate.
create or replace function base.gateway_b_debited(name text, event jsonb) returns base.fact language sql stable parallel safe as $$
  select case
    when name = 'SUBSCRIPTION_PAYMENT_DECLINED' then base.failed(id, amount, 'INR', at, null, hints)
    when base.is_no_money(amount) is not false or id is null or at is null then base.captured(id, amount, 'INR', at, null, hints)
    else row('payment', id, null, 'captured', amount, 'INR', at, null, 'awaiting_review', hints)::base.fact end
    from (select base.text_of(event -> 'cf_paymentId'), base.number_of(event -> 'cf_amount'), base.iso_time_of(event -> 'cf_eventTime'),
                 base.without_nulls(jsonb_build_object(
                   'subscription_id', base.text_of(event -> 'cf_subscriptionId'),
                   'mandate', base.text_of(event -> 'cf_subReferenceId'),
                   'cf_txn_id', base.text_of(event -> 'cf_referenceId')))) debit (id, amount, at, hints)
$$;

-- A refund of such a debit. The gateway does not document whether it was made, so it is open until a person decides.
create or replace function base.gateway_b_debit_refunded(event jsonb) returns base.fact language sql stable parallel safe as $$
  select case
    when id is null then base.unreadable(base.without_nulls(jsonb_build_object('kind', 'refund', 'of_payment_id', of_payment)))
    else row('refund', id, of_payment, 'open', base.number_of(event -> 'cf_amount'), 'INR', base.iso_time_of(event -> 'cf_eventTime'),
             null, null, null)::base.fact end
    from (select base.plain_refund_id(base.text_of(event -> 'cf_refundId')), base.text_of(event -> 'cf_paymentId')) refund (id, of_payment)
$$;
