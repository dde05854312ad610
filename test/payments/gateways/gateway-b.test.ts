import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { factReader } from '../../support/payments/facts.ts'
import { drawB, eventB, refundB, successB } from '../../support/payments/gateway-events.ts'

const factsOf = await factReader(t, 'gateway_b')

const paid = {
  kind: 'payment',
  payment_id: '1453002795',
  status: 'captured',
  amount: '1000',
  currency: 'INR',
  paid_at: new Date('2026-02-05T10:00:00+05:30'),
  problem: null,
}

t.test('PAYMENT_SUCCESS_WEBHOOK says who paid what, in rupees, whatever was ordered', async t => {
  matchEach(t, await factsOf(successB({ loan: 'L-1' })), [{ ...paid, external_loan_id: 'L-1' }])
  const paise = JSON.stringify(successB({ amount: 1 })).replace(
    '"payment_amount":1',
    '"payment_amount":170.00',
  )
  matchEach(t, await factsOf(paise), [{ amount: '170.00' }])
})

t.test('a payment’s id is a number or a text, and keeps every digit', async t => {
  matchEach(t, await factsOf(successB({ id: '5114910634577' })), [{ payment_id: '5114910634577' }])
  const big = JSON.stringify(successB({ id: 2 })).replace('_id":2,', '_id":90071992547409931,')
  matchEach(t, await factsOf(big), [{ payment_id: '90071992547409931' }])
})

t.test('a body that cannot be read shows the id of its payment, of either format', async t => {
  for (const known of [
    '"cf_payment_id": 17, "referenceId": 18',
    '"referenceId": "17", "a": "pay_1"',
  ])
    matchEach(t, await factsOf(`{"event": "pay_2", ${known}, `), [
      { problem: 'unreadable', hints: { payment_id: '17' } },
    ])
})

t.test('only external_loan_id and loan_id in the tags name a loan; the rest is a hint', async t => {
  matchEach(t, await factsOf(successB({ tags: { loan_id: 'L-2' } })), [{ external_loan_id: 'L-2' }])
  const [said] = await factsOf(successB())
  t.equal(said?.external_loan_id, null)
  t.same(said?.hints, { order_id: 'order-1', order_amount: 2, customer_id: 'cust-7' })
})

t.test('money that is only reserved, or is collected on delivery, is not captured', async t => {
  for (const more of [
    { is_captured: false },
    { is_captured: 'false' },
    // Programs in Python write it like this into a text.
    { is_captured: 'False' },
    { payment_group: 'cash_on_delivery' },
    { payment_method: { cod: {} } },
  ]) {
    const event: any = successB({ loan: 'L-1' })
    Object.assign(event.data.payment, more)
    t.same(await factsOf(event), [], JSON.stringify(more))
    const { payment: item } = event.data
    t.same(await factsOf({ type: 'LOANOPS_BACKFILL', data: item }), [], JSON.stringify(more))
  }
})

t.test('of a reserved payment, no more than was paid is captured', async t => {
  for (const [captured_amount, amount] of [
    [600, '600'],
    // The gateway's own sample of a payment of 10.01 has a captured amount of 100.
    [5_000, '1000'],
    [0, '1000'],
  ] as const) {
    const event: any = successB()
    event.data.payment.authorization = { action: 'CAPTURE', status: 'PENDING', captured_amount }
    matchEach(t, await factsOf(event), [{ ...paid, amount }])
    const { payment: item } = event.data
    matchEach(t, await factsOf({ type: 'LOANOPS_BACKFILL', data: item }), [{ ...paid, amount }])
  }
})

t.test('a failed or abandoned payment is read as failed', async t => {
  for (const [type, status] of [
    ['PAYMENT_FAILED_WEBHOOK', 'FAILED'],
    ['PAYMENT_USER_DROPPED_WEBHOOK', 'USER_DROPPED'],
  ] as const) {
    matchEach(t, await factsOf(eventB(type, { status })), [{ kind: 'payment', status: 'failed' }])
  }
})

t.test('events without loan money, or about another event, are ignored', async t => {
  const order = { order_amount: '22.12', order_id: 'o', transaction_status: 'SUCCESS' }
  t.same(await factsOf({ type: 'PAYMENT_LINK_EVENT', data: { link_status: 'PAID', order } }), [])
  t.same(await factsOf({ type: 'PAYMENT_FORM_ORDER_WEBHOOK', data: { order } }), [])
  const charges = { charges_details: { service_charge: 2, settlement_amount: 998 } }
  for (const status of ['SUCCESS', 'FAILED']) {
    const event: any = eventB('PAYMENT_CHARGES_WEBHOOK', { status, loan: 'L-1' })
    Object.assign(event.data, charges)
    t.same(await factsOf(event), [])
  }
  const abroad = { event: 'INTERNATIONAL_PAYMENT_COLLECTED', amount: '100', referenceId: 7 }
  t.same(await factsOf({ ...abroad, currency: 'USD', paymentTime: '2026-02-05 10:00:00' }), [])
  for (const type of ['VENDOR_SETTLEMENT_SUCCESS', 'SUBSCRIPTION_STATUS_CHANGE', 'HEALTH_ALERT'])
    t.same(await factsOf({ type, data: { cf_payment_id: 1, payment_amount: 5 } }), [], type)
  t.same(await factsOf({ type: 'WEBHOOK', data: { test_object: { test_key: 'x' } } }), [])
})

t.test('AMOUNT_COLLECTED, which is flat, is a payment in rupees at India’s time', async t => {
  const flat = {
    event: 'AMOUNT_COLLECTED',
    amount: '1000.50',
    referenceId: 90071992,
    paymentTime: '2026-02-05 10:00:00',
    vAccountId: 'USER09',
    utr: 'U1',
    remitterName: 'Asha Rao',
    remitterAccount: '123',
  }
  matchEach(t, await factsOf(flat), [
    {
      ...paid,
      payment_id: '90071992',
      amount: '1000.50',
      external_loan_id: null,
      hints: {
        virtual_account: 'USER09',
        utr: 'U1',
        remitter_name: 'Asha Rao',
        remitter_account: '123',
      },
    },
  ])
})

t.test('a debit of an old mandate, which is flat, waits for review', async t => {
  const flat = {
    cf_event: 'SUBSCRIPTION_NEW_PAYMENT',
    cf_merchantId: '37030',
    cf_subReferenceId: '44075',
    cf_paymentId: '49914526',
    cf_amount: '399.50',
    cf_eventTime: '2026-02-05 10:00:00',
    cf_referenceId: '4212435861',
  }
  const debit = { ...paid, payment_id: '49914526', amount: '399.50' }
  const hints = { mandate: '44075', cf_txn_id: '4212435861' }
  matchEach(t, await factsOf(flat), [{ ...debit, problem: 'awaiting_review', hints }])
  const declined = { ...flat, cf_event: 'SUBSCRIPTION_PAYMENT_DECLINED', cf_reasons: 'Funds' }
  matchEach(t, await factsOf(declined), [{ ...debit, status: 'failed' }])
  matchEach(t, await factsOf({ ...flat, cf_amount: 'much' }), [{ problem: 'unreadable' }])
})

t.test('a refund of an old mandate’s debit, which is flat, is open', async t => {
  const flat = {
    cf_event: 'REFUND_STATUS',
    cf_paymentId: '49914526',
    cf_refundId: '88',
    cf_amount: '399.50',
    cf_eventTime: '2026-02-06 10:00:00',
  }
  const refund = { kind: 'refund', payment_id: '88', of_payment_id: '49914526', status: 'open' }
  matchEach(t, await factsOf(flat), [{ ...refund, amount: '399.50', currency: 'INR' }])
  const hints = { kind: 'refund', of_payment_id: '49914526' }
  matchEach(t, await factsOf({ ...flat, cf_refundId: null }), [{ problem: 'unreadable', hints }])
})

const drawn = { ...paid, payment_id: '49914526', amount: '399' }

t.test('an instalment drawn by mandate is a payment of the day of its event', async t => {
  const type = 'SUBSCRIPTION_PAYMENT_SUCCESS'
  matchEach(t, await factsOf(drawB(type, {}, { loan_id: 'L-1', plan: 'gold' })), [
    {
      ...drawn,
      external_loan_id: 'L-1',
      hints: { subscription_id: 'sub-1', subscription_tags: { plan: 'gold' } },
    },
  ])
  matchEach(t, await factsOf(drawB(type, { payment_currency: undefined })), [drawn])
  for (const name of ['authorization_reference', 'authorizationReference']) {
    const [said] = await factsOf(drawB(type, { authorization_details: { [name]: 'M-1' } }))
    t.match(said?.hints, { mandate: 'M-1' }, name)
  }
  matchEach(t, await factsOf(drawB(type, { cf_payment_id: 49914526, payment_amount: '399' })), [
    drawn,
  ])
})

t.test('a mandate’s own charge is held for review', async t => {
  for (const payment_type of ['AUTH', 'DEBIT_CARD', null]) {
    const event = drawB('SUBSCRIPTION_PAYMENT_SUCCESS', { payment_type }, { loan_id: 'L-1' })
    matchEach(
      t,
      await factsOf(event),
      [{ ...drawn, external_loan_id: 'L-1', problem: 'awaiting_review' }],
      String(payment_type),
    )
  }
})

t.test('an instalment not drawn is failed, and a mandate’s other events are ignored', async t => {
  for (const [name, payment_status] of [
    ['SUBSCRIPTION_PAYMENT_FAILED', 'FAILED'],
    ['SUBSCRIPTION_PAYMENT_CANCELLED', 'CANCELLED'],
  ] as const)
    matchEach(t, await factsOf(drawB(name, { payment_status })), [{ ...drawn, status: 'failed' }])
  for (const name of [
    'SUBSCRIPTION_PAYMENT_NOTIFICATION_INITIATED',
    'SUBSCRIPTION_CONTROLLED_NOTIFICATION_STATUS',
    'SUBSCRIPTION_CONTROLLED_EXECUTION_STATUS',
    'SUBSCRIPTION_PAYMENT_CONTROLLED_NOTIFICATION_STATUS',
    'SUBSCRIPTION_PAYMENT_CONTROLLED_EXECUTION_STATUS',
    'SUBSCRIPTION_AUTH_STATUS',
    'SUBSCRIPTION_STATUS_CHANGED',
    'SUBSCRIPTION_CARD_EXPIRY_REMINDER',
  ])
    t.same(await factsOf(drawB(name)), [], name)
})

t.test('a refund counts once made, an automatic one even of an uncaptured payment', async t => {
  const refund = { kind: 'refund', payment_id: '11325632', of_payment_id: '1453002795' }
  matchEach(t, await factsOf(refundB()), [{ ...refund, status: 'done', amount: '1000' }])
  for (const status of ['PENDING', 'ONHOLD']) t.same(await factsOf(refundB({ status })), [], status)
  for (const status of ['CANCELLED', 'FAILED'])
    matchEach(t, await factsOf(refundB({ status })), [{ ...refund, status: 'undone' }])
  for (const type of ['PAYMENT_AUTO_REFUND', 'UNRECONCILED_AUTO_REFUND'])
    matchEach(t, await factsOf(refundB({ type })), [{ ...refund, status: 'never_captured' }])
  const initiated = refundB({ type: 'PAYMENT_AUTO_REFUND', status: 'INITIATED' })
  t.same(await factsOf(initiated), [])
  const ofMandate = {
    type: 'SUBSCRIPTION_REFUND_STATUS',
    event_time: '2026-02-05T10:00:00+05:30',
    data: { cf_payment_id: 7, cf_refund_id: 'SUB_1', refund_amount: 10, refund_status: 'SUCCESS' },
  }
  matchEach(t, await factsOf(ofMandate), [
    {
      kind: 'refund',
      payment_id: 'SUB_1',
      of_payment_id: '7',
      status: 'done',
      amount: '10',
      currency: 'INR',
    },
  ])
})

t.test('a refund with an impossible date still counts', async t => {
  const odd = JSON.stringify(refundB()).replace('2026-02-06T09:59', '2026-02-30T09:59')
  matchEach(t, await factsOf(odd), [
    { kind: 'refund', payment_id: '11325632', of_payment_id: '1453002795', status: 'done' },
  ])
})

t.test('times are strict, and India’s where they name no zone', async t => {
  matchEach(t, await factsOf(successB({ time: '2026-02-05 10:00:00' })), [paid])
  matchEach(t, await factsOf(successB({ time: '2026-02-05T04:30:00.000Z' })), [paid])
  const leapDay = { paid_at: new Date('2024-02-29T23:59:59Z') }
  matchEach(t, await factsOf(successB({ time: '2024-02-29T23:59:59+00' })), [leapDay])
  for (const time of [
    'now',
    'infinity',
    '2026-02-31T10:00:00Z',
    '2025-02-29T10:00:00Z',
    '2026-04-31T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-02-00T10:00:00Z',
    '2026-02-05T24:00:00Z',
    '2026-02-05T10:60:00Z',
    '2026-02-05T10:00:00+99:00',
    '0000-02-05T10:00:00Z',
    '05/02/2026',
    7,
    null,
    '',
  ]) {
    const unreadable = { payment_id: null, amount: '1000', problem: 'unreadable' }
    matchEach(t, await factsOf(successB({ time })), [unreadable], String(time))
  }
})

t.test(
  'a malformed event is unreadable, one with an invalid amount amount_invalid, and neither is an error',
  async t => {
    for (const amount of ['many', null, {}, '1e5']) {
      matchEach(t, await factsOf(successB({ amount })), [{ problem: 'unreadable' }], String(amount))
    }
    for (const amount of [0, -1, 0.001, '10.005']) {
      matchEach(
        t,
        await factsOf(successB({ amount })),
        [{ problem: 'amount_invalid' }],
        String(amount),
      )
    }
    matchEach(t, await factsOf(successB({ id: null })), [{ problem: 'unreadable' }])
    matchEach(t, await factsOf({ type: 'REFUND_STATUS_WEBHOOK', data: {} }), [
      { problem: 'unreadable' },
    ])
    const cut = JSON.stringify(successB({ id: 7 })).slice(0, -1)
    matchEach(t, await factsOf(cut), [{ problem: 'unreadable', hints: { payment_id: '7' } }])
  },
)

t.test('a text that PostgreSQL cannot store does not hide the payment', async t => {
  const event = JSON.stringify(successB({ id: '7', loan: 'L-1' }))
  for (const odd of ['\\ud83d', 'RAMESH\\u0000\\u0000', 'RAM\xff', 'RAM\x00', 'RAM\n'])
    matchEach(t, await factsOf(Buffer.from(event.replace('cust-7', odd), 'latin1')), [
      { payment_id: '7', external_loan_id: 'L-1', problem: null },
    ])
  matchEach(t, await factsOf(`\ufeff${event}`), [{ payment_id: '7', problem: null }])
})

const dispute = (type: string, status: string, more: object = {}) => ({
  type,
  data: {
    dispute: {
      dispute_id: '433475257',
      dispute_type: status.replace(/_(CREATED|MERCHANT_.*|INSUFFICIENT_EVIDENCE)$/, ''),
      dispute_amount: 40.5,
      created_at: '2026-02-05T10:00:00+05:30',
      dispute_status: status,
      ...more,
    },
    order_details: { order_id: 'o-1', cf_payment_id: 885457437, payment_currency: 'INR' },
  },
})

t.test('a dispute is a chargeback: open, lost or won; a retrieval is only a question', async t => {
  const charged = {
    kind: 'chargeback',
    payment_id: '433475257',
    of_payment_id: '885457437',
    amount: '40.5',
    currency: 'INR',
    external_loan_id: null,
    hints: { order_id: 'o-1' },
  }
  for (const [type, status, said] of [
    ['DISPUTE_CREATED', 'DISPUTE_CREATED', 'open'],
    ['DISPUTE_UPDATED', 'PRE_ARBITRATION_CREATED', 'open'],
    ['DISPUTE_CLOSED', 'CHARGEBACK_MERCHANT_LOST', 'done'],
    ['DISPUTE_CLOSED', 'DISPUTE_MERCHANT_ACCEPTED', 'done'],
    ['DISPUTE_CLOSED', 'CHARGEBACK_MERCHANT_WON', 'undone'],
    ['DISPUTE_CLOSED', 'CHARGEBACK_INSUFFICIENT_EVIDENCE', 'open'],
  ] as const)
    matchEach(t, await factsOf(dispute(type, status)), [{ ...charged, status: said }], status)
  t.same(await factsOf(dispute('DISPUTE_CREATED', 'RETRIEVAL_CREATED')), [])
  const abroad = dispute('DISPUTE_CREATED', 'DISPUTE_CREATED', { dispute_amount_currency: 'USD' })
  matchEach(t, await factsOf(abroad), [{ ...charged, currency: 'USD' }])
})
