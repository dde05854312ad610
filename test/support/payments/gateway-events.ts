import { createHmac } from 'node:crypto'

/** 5 February 2026, 10:00 in India. */
export const PAID_AT = 1_770_265_800
export const PAID_AT_ISO = '2026-02-05T10:00:00+05:30'

type A = {
  id?: unknown
  /** The amount in paise. */
  amount?: unknown
  currency?: unknown
  status?: string
  loan?: string
  notes?: unknown
  payment?: object
  payload?: object
  account?: string
}

/** An event of gateway A with a payment entity. */
export function eventA(event: string, { id, amount, currency, status, loan, ...more }: A = {}) {
  const { notes, payment, payload, account = 'acc_1' } = more
  return {
    entity: 'event',
    account_id: account,
    event,
    contains: ['payment'],
    payload: {
      payment: {
        entity: {
          id: id === undefined ? 'pay_1' : id,
          entity: 'payment',
          amount: amount === undefined ? 100_000 : amount,
          currency: currency === undefined ? 'INR' : currency,
          status: status ?? 'captured',
          captured: (status ?? 'captured') === 'captured',
          notes: notes ?? (loan === undefined ? [] : { external_loan_id: loan }),
          created_at: PAID_AT,
          ...payment,
        },
      },
      ...payload,
    },
    created_at: PAID_AT + 5,
  }
}

export const capturedA = (facts: A = {}) => eventA('payment.captured', facts)

/** A refund event of gateway A, with a payment entity only if `payment` is given. */
export function refundA(
  facts: { id?: string; of?: string; status?: string; payment?: A | null } = {},
) {
  const { id = 'rfnd_1', of = 'pay_1', status = 'processed', payment = null } = facts
  const refund = {
    id,
    entity: 'refund',
    amount: 100_000,
    currency: 'INR',
    payment_id: of,
    notes: [],
    created_at: PAID_AT + 600,
    // The documentation calls a refund processed that is only created.
    status: status === 'created' ? 'processed' : status,
  }
  const event = eventA(`refund.${status}`, { id: of, ...payment })
  const parts = payment === null ? {} : event.payload
  return { ...event, payload: { ...parts, refund: { entity: refund } } }
}

/** A dispute event of gateway A about a captured payment. */
export function disputeA(status: string, payment: A = {}, disputeId = 'disp_1') {
  const { id = 'pay_1' } = payment
  const dispute = {
    id: disputeId,
    entity: 'dispute',
    payment_id: id,
    amount: 100_000,
    currency: 'INR',
    status,
    phase: 'chargeback',
    created_at: PAID_AT + 900,
  }
  return eventA(`payment.dispute.${status}`, {
    ...payment,
    payload: { dispute: { entity: dispute } },
  })
}

type B = {
  id?: unknown
  /** The amount in rupees. */
  amount?: unknown
  currency?: unknown
  status?: string
  loan?: string
  tags?: unknown
  time?: unknown
}

/** A payment event of gateway B. */
export function eventB(type: string, { id, amount, currency, status, loan, tags, time }: B = {}) {
  return {
    type,
    event_time: '2026-02-05T10:00:05+05:30',
    data: {
      order: {
        order_id: 'order-1',
        order_amount: 2,
        order_currency: 'INR',
        order_tags: tags ?? (loan === undefined ? null : { external_loan_id: loan }),
      },
      payment: {
        cf_payment_id: id === undefined ? 1_453_002_795 : id,
        payment_status: status ?? 'SUCCESS',
        payment_amount: amount === undefined ? 1000 : amount,
        payment_currency: currency === undefined ? 'INR' : currency,
        payment_time: time === undefined ? PAID_AT_ISO : time,
        bank_reference: 'NA',
        auth_id: 'null',
      },
      customer_details: { customer_id: 'cust-7', customer_email: 'a@example.in' },
    },
  }
}

export const successB = (facts: B = {}) => eventB('PAYMENT_SUCCESS_WEBHOOK', facts)

export function refundB(
  facts: { id?: unknown; of?: unknown; status?: string; type?: string } = {},
) {
  const { id = 11_325_632, of = 1_453_002_795, status = 'SUCCESS', type } = facts
  return {
    type: type === 'PAYMENT_AUTO_REFUND' ? 'AUTO_REFUND_STATUS_WEBHOOK' : 'REFUND_STATUS_WEBHOOK',
    event_time: '2026-02-06T10:00:00+05:30',
    data: {
      [type === 'PAYMENT_AUTO_REFUND' ? 'auto_refund' : 'refund']: {
        cf_refund_id: id,
        cf_payment_id: of,
        order_id: 'order-1',
        refund_amount: 1000,
        refund_currency: 'INR',
        refund_status: status,
        refund_type: type ?? 'MERCHANT_INITIATED',
        processed_at: '2026-02-06T09:59:00+05:30',
        refund_arn: 'ARN1',
      },
    },
  }
}

export const signedA = (secret: string, body: string | Buffer) => ({
  'x-gatewaya-signature': createHmac('sha256', secret).update(body).digest('hex'),
})

export const signedB = (secret: string, body: string | Buffer, time = '1770265805000') => ({
  'x-webhook-timestamp': time,
  'x-webhook-signature': createHmac('sha256', secret).update(time).update(body).digest('base64'),
})

/** A mandate debit. */
export const drawB = (type: string, more: object = {}, tags: unknown = null) => ({
  type,
  event_time: PAID_AT_ISO,
  data: {
    payment_id: 'x-1',
    cf_payment_id: '49914526',
    cf_txn_id: '4212435861',
    subscription_id: 'sub-1',
    payment_type: 'CHARGE',
    payment_amount: 399.0,
    payment_currency: 'INR',
    payment_status: 'SUCCESS',
    payment_initiated_date: '2026-02-03T05:52:21+05:30',
    subscription_details: { subscription_tags: tags },
    ...more,
  },
})

/** An event of a payment link of gateway B, whose payments have events of their own. */
export const linkB = (id: unknown, loan: string, more: object = {}) => ({
  type: 'PAYMENT_LINK_EVENT',
  version: 1,
  event_time: PAID_AT_ISO,
  data: {
    cf_link_id: id,
    link_id: 'payment_ps11',
    link_status: 'PARTIALLY_PAID',
    link_currency: 'INR',
    link_amount: '12000.00',
    link_amount_paid: '1000.00',
    link_notes: { external_loan_id: loan },
    order: {
      order_amount: '1000.00',
      order_id: 'CFPay_1',
      transaction_id: 1_021_206,
      transaction_status: 'SUCCESS',
    },
    ...more,
  },
})
