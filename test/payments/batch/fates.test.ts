import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { control } from '../../support/ledger/loans.ts'
import { matchEach } from '../../support/match-each.ts'
import {
  capturedA,
  disputeA,
  eventA,
  eventB,
  refundA,
  refundB,
  signedA,
  successB,
} from '../../support/payments/gateway-events.ts'
import {
  disburse,
  LENDER,
  ownIds,
  ownLoan,
  type PaymentService,
  paymentService,
  sent,
} from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

/**
 * All tests share this service but those that need other settings, another day at the ledger, its faults, or a counter
 * from its start.
 */
const service = await paymentService(t)

t.test('a captured payment is posted to its loan with its day, amount and receipt', async t => {
  const one = await ownLoan(service)
  const payment = await sent(service, [capturedA({ ...one, amount: 100_050 })], one.id)
  t.match(payment, {
    state: 'posted',
    reason: null,
    kind: 'payment',
    lender: 'LENDER_02',
    external_loan_id: one.loan,
    amount: '1000.50',
    currency: 'INR',
    paid_at: '2026-02-05T04:30:00.000Z',
    verified: false,
    raw_table: 'raw.lender_02_gateway_a',
  })
  matchEach(t, await service.repayments(one.loan), [
    {
      id: Number(payment.ledger_transaction_id),
      loanExternalId: one.loan,
      externalId: `gateway_a-${one.id}`,
      amount: '1000.50',
      date: '2026-02-05',
      receiptNumber: one.id,
      reversed: false,
    },
  ])
})

t.test('a repayment has its payment’s day in the ledger’s time zone', async t => {
  const one = await ownLoan(service)
  const late = { created_at: Date.parse('2026-02-05T23:30:00Z') / 1000 }
  await sent(service, [capturedA({ ...one, payment: late })], one.id)
  matchEach(t, await service.repayments(one.loan), [{ date: '2026-02-06' }])
})

t.test(
  'an id with special characters becomes its SHA-256 in the external id, and is cut in the receipt',
  async t => {
    const one = await ownLoan(service)
    const id = `pay/1?ü-${'x'.repeat(60)}`
    t.match(await sent(service, [capturedA({ ...one, id })], id), { state: 'posted' })
    const [repayment] = await service.repayments(one.loan)
    t.match(repayment?.externalId, /^gateway_a-[0-9a-f]{32}$/)
    t.equal(repayment?.receiptNumber, id.slice(0, 50))
  },
)

t.test('a payment of gateway B is posted in rupees, and none whose amount has a comma', async t => {
  const one = await ownLoan(service)
  await service.webhook('gateway_b', successB({ id: 6, loan: one.loan, amount: '1,5' }), LENDER)
  await service.webhook('gateway_b', successB({ id: 7, loan: one.loan, amount: 999.5 }), LENDER)
  await service.batch()
  matchEach(t, await service.repayments(one.loan), [
    { externalId: 'gateway_b-7', amount: '999.50' },
  ])
})

t.test('a payment for a closed loan is posted and reported as overpaid', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const whole = capturedA({ loan: 'L-1', amount: 1_200_000 })
  t.match(await sent(service, [whole]), { state: 'posted', reason: null })
  const more = capturedA({ loan: 'L-1', id: 'pay_2' })
  t.match(await sent(service, [more], 'pay_2'), { state: 'posted', reason: 'overpaid' })
  const { body: metrics } = await service.call('GET', '/metrics')
  t.match(metrics, /loanops_overpaid_repayments_total 1/)
})

t.test('a payment that names no loan is suspended as no_loan_named until assigned', async t => {
  const one = await ownLoan(service)
  t.match(await sent(service, [capturedA({ id: one.id })], one.id), {
    state: 'suspense',
    reason: 'no_loan_named',
  })
  const assigned = await service.assign(one.id, one.loan)
  t.match(assigned, {
    status: 200,
    body: { state: 'waiting', reason: null, external_loan_id: one.loan },
  })
  t.match(await sent(service, [], one.id), { state: 'posted', external_loan_id: one.loan })
  const subject = `gateway_a/${one.id}`
  const { rows } = await sql`
      select actor, action, subject, detail from ops.audit
       where subject = ${subject}`.execute(service.db)
  matchEach(t, rows, [
    {
      actor: 'internal-token',
      action: 'payment.assign',
      subject,
      detail: { external_loan_id: one.loan, reason: 'no_loan_named' },
    },
  ])
})

t.test(
  'a payment whose loan does not exist is suspended as loan_unknown, and posted once it does',
  async t => {
    const one = ownIds()
    const payment = await sent(service, [capturedA(one)], one.id)
    t.match(payment, { state: 'suspense', reason: 'loan_unknown' })
    t.ok(payment.next_try_at)
    t.equal((await service.repayments(one.loan)).length, 0)
    await service.loan(one.loan)
    t.match(await sent(service, [], one.id), { state: 'posted', next_try_at: null })
  },
)

t.test(
  'a loan’s name that the ledger cannot have is loan_unknown without asking, and can be assigned',
  async t => {
    const one = await ownLoan(service)
    const payment = await sent(service, [capturedA({ ...one, loan: '..' })], one.id)
    t.match(payment, { state: 'suspense', reason: 'loan_unknown', next_try_at: null })
    await service.assign(one.id, one.loan)
    t.match(await sent(service, [], one.id), { state: 'posted' })
  },
)

t.test(
  'a payment whose loan is not disbursed is suspended as loan_not_active, and posted once it is',
  async t => {
    const one = await ownLoan(service, { until: 'approved' })
    t.match(await sent(service, [capturedA(one)], one.id), {
      state: 'suspense',
      reason: 'loan_not_active',
    })
    await disburse(service, one.loan)
    t.match(await sent(service, [], one.id), { state: 'posted' })
  },
)

t.test('a payment waits for the setting while the ledger lacks the payment type', async t => {
  const service = await paymentService(t, { LEDGER_PAYMENT_TYPE: 'Nobody made it' })
  await service.loan('L-1')
  t.match(await sent(service, [capturedA({ loan: 'L-1' })]), {
    state: 'waiting',
    waiting_for: 'ledger_credentials',
    detail: /Nobody made it/,
  })
})

t.test('a locked refused payment does not keep others from being retried', async t => {
  const one = ownIds()
  const other = { ...ownIds(), loan: one.loan }
  await sent(service, [capturedA(one), capturedA(other)])
  await service.loan(one.loan)
  await service.db.transaction().execute(async trx => {
    await sql`
      select from core.transaction where gateway_payment_id = ${one.id} for update`.execute(trx)
    await service.batch()
    t.match((await service.payment(other.id)).payment, { state: 'posted' })
  })
  t.match(await sent(service, [], one.id), { state: 'posted' })
})

t.test('a refused payment is retried at growing intervals, after 7 days only by hand', async t => {
  const one = ownIds()
  const minutes: number[] = []
  await sent(service, [capturedA(one)], one.id)
  for (let i = 0; i < 4; i++) {
    await sql`
        update core.transaction set next_try_at = now()
         where gateway_payment_id = ${one.id}`.execute(service.db)
    await service.batch()
    const { rows } = await sql<{ minutes: number }>`
      select round(extract(epoch from next_try_at - now()) / 60)::integer as minutes from core.transaction
       where gateway_payment_id = ${one.id}`.execute(service.db)
    minutes.push(rows[0]?.minutes ?? 0)
  }
  t.same(minutes, [15, 30, 60, 120])
  await sql`
      update core.transaction set next_try_at = now(), refused_at = now() - interval '8 days'
       where gateway_payment_id = ${one.id}`.execute(service.db)
  t.match(await sent(service, [], one.id), {
    state: 'suspense',
    reason: 'loan_unknown',
    next_try_at: null,
  })
  await service.loan(one.loan)
  t.match(await service.assign(one.id, one.loan), { status: 200 })
  t.match(await sent(service, [], one.id), { state: 'posted' })
})

t.test(
  'a payment that the ledger refuses is suspended as ledger_refused, retried, and can be assigned',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.loan('L-2')
    const before = { created_at: Date.parse('2024-01-02T10:00:00Z') / 1000 }
    const payment = await sent(service, [capturedA({ loan: 'L-1', payment: before })])
    t.match(payment, { state: 'suspense', reason: 'ledger_refused', detail: /disbursement/ })
    t.ok(payment.next_try_at)

    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
    const later = { created_at: Math.floor(inDays(2).getTime() / 1000) }
    const future = [
      capturedA({ id: 'pay_2', loan: 'L-1', payment: later }),
      capturedA({ id: 'pay_3', loan: 'L-1', payment: later }),
    ]
    t.match(await sent(service, future, 'pay_2'), { state: 'suspense', reason: 'ledger_refused' })
    t.match(await service.assign('pay_3', 'L-2'), { status: 200 })
    const date = inDays(4).toISOString().slice(0, 10)
    await control(service, 'PUT', '/business-date', { date })
    t.match(await sent(service, [], 'pay_2'), { state: 'posted' }, 'tried again')
    t.match((await service.payment('pay_3')).payment, { state: 'posted', external_loan_id: 'L-2' })
  },
)

t.test('a payment not in the loan’s currency is suspended as currency_mismatch', async t => {
  const one = await ownLoan(service)
  t.match(await sent(service, [capturedA({ ...one, currency: 'USD' })], one.id), {
    state: 'suspense',
    reason: 'currency_mismatch',
  })
  t.equal((await service.assign(one.id, one.loan)).status, 409)
  t.equal((await service.repayments(one.loan)).length, 0)
})

t.test(
  'a payment whose event names another lender is suspended as lender_mismatch until assigned',
  async t => {
    const one = await ownLoan(service, { product: 3 })
    t.match(await sent(service, [capturedA(one)], one.id), {
      state: 'suspense',
      reason: 'lender_mismatch',
    })
    await service.assign(one.id, one.loan)
    t.match(await sent(service, [], one.id), { state: 'posted' })
  },
)

t.test(
  'a payment whose event names another lender, or none, is suspended as signature_not_verified',
  async t => {
    const file = lendersFile(t, {
      LENDER_02: { gateway_a: { validateSignature: true, secretEnv: 'SECRET_02' } },
    })
    const service = await paymentService(t, { LENDERS_FILE: file, SECRET_02: 's2' })
    await service.loan('L-1')
    await service.webhook('gateway_a', capturedA({ id: 'pay_none', loan: 'L-1' }))
    await service.webhook('gateway_a', capturedA({ id: 'pay_other', loan: 'L-1' }), {
      lender: 'LENDER_03',
    })
    const body = JSON.stringify(capturedA({ id: 'pay_signed', loan: 'L-1' }))
    await service.webhook('gateway_a', body, { headers: signedA('s2', body) })
    await service.batch()
    const reasonOf = async (id: string) => (await service.payment(id)).payment.reason
    t.equal(await reasonOf('pay_none'), 'signature_not_verified')
    t.equal(await reasonOf('pay_other'), 'signature_not_verified')
    t.match((await service.payment('pay_signed')).payment, { state: 'posted', verified: true })

    // The true event comes after the forged one, and beats it.
    const late = JSON.stringify(capturedA({ id: 'pay_none', loan: 'L-1', amount: 77_700 }))
    await service.webhook('gateway_a', late, { ...LENDER, headers: signedA('s2', late) })
    await service.batch()
    t.match((await service.payment('pay_none')).payment, { state: 'posted', amount: '777.00' })

    // An operator’s assignment lets it through.
    await service.assign('pay_other', 'L-1')
    await service.batch()
    t.equal(await reasonOf('pay_other'), 'lender_mismatch')
    await service.assign('pay_other', 'L-1')
    await service.batch()
    t.match((await service.payment('pay_other')).payment, { state: 'posted' })
  },
)

t.test(
  'a payment from outside the lender’s networks is suspended until an event arrives from inside',
  async t => {
    const file = lendersFile(t, {
      LENDER_02: { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } },
      LENDER_03: { gateway_b: { allowedCidrs: ['127.0.0.0/8', '::1'] } },
    })
    const service = await paymentService(t, { LENDERS_FILE: file, TRUST_PROXY: '127.0.0.1' })
    await service.loan('L-2', { product: 2 })
    await service.loan('L-3', { product: 3 })
    await service.webhook('gateway_b', successB({ id: 2, loan: 'L-2' }))
    await service.webhook('gateway_b', successB({ id: 3, loan: 'L-3' }))
    await service.batch()
    t.match((await service.payment(2, 'gateway_b')).payment, {
      state: 'suspense',
      reason: 'sender_not_allowed',
    })
    t.match((await service.payment(3, 'gateway_b')).payment, { state: 'posted' })
    t.equal((await service.assign('2', 'L-2', 'gateway_b')).status, 409)

    // Sent once more, from the lender's own gateway: one believed event is enough.
    const again = { ...successB({ id: 2, loan: 'L-2' }), event_time: '2026-02-05T10:05:00+05:30' }
    const headers = { 'x-forwarded-for': '10.1.2.3' }
    await service.webhook('gateway_b', again, { headers })
    await service.batch()
    t.match((await service.payment(2, 'gateway_b')).payment, { state: 'posted' })
  },
)

t.test(
  'events that disagree on amount, currency or loan suspend their payment; a missing loan does not',
  async t => {
    const one = await ownLoan(service)
    const pair = (id: string, other: object) => [
      capturedA({ id, loan: one.loan }),
      eventA('order.paid', { id, loan: one.loan, ...other }),
    ]
    await sent(
      service,
      [
        ...pair('pay_a', { amount: 200 }),
        ...pair('pay_c', { currency: 'USD' }),
        ...pair('pay_l', { loan: 'L-2' }),
        ...pair('pay_n', { loan: undefined }),
      ],
      'pay_a',
    )
    for (const id of ['pay_a', 'pay_c', 'pay_l'])
      t.match(
        (await service.payment(id)).payment,
        { state: 'suspense', reason: 'events_disagree' },
        id,
      )
    t.match((await service.payment('pay_n')).payment, {
      state: 'posted',
      external_loan_id: one.loan,
    })
  },
)

t.test('a refund is suspended in a row of its own, and its payment stays posted', async t => {
  const one = await ownLoan(service)
  await sent(service, [capturedA(one)], one.id)
  const id = `rfnd_${one.id}`
  const refund = await sent(service, [refundA({ id, of: one.id, payment: one })], id)
  t.match(refund, { kind: 'refund', of_payment_id: one.id, state: 'suspense', reason: 'refund' })
  t.match((await service.payment(one.id)).payment, { state: 'posted', reason: null })
})

t.test(
  'an unposted payment goes to suspense with its refund, and is released when the refund fails',
  async t => {
    const one = await ownLoan(service)
    const id = `rfnd_${one.id}`
    const refund = refundA({ id, of: one.id, status: 'created', payment: one })
    t.match(await sent(service, [capturedA(one), refund], one.id), {
      state: 'suspense',
      reason: 'refund',
    })
    t.equal((await service.repayments(one.loan)).length, 0)
    t.match(await sent(service, [refundA({ id, of: one.id, status: 'failed' })], one.id), {
      state: 'posted',
    })
    t.match((await service.payment(id)).payment, { state: 'failed', reason: null })
  },
)

t.test(
  'a payment that is first seen in its refund’s event, or arrives after it, is in suspense too',
  async t => {
    const one = await ownLoan(service)
    t.match(
      await sent(service, [refundA({ id: `rfnd_${one.id}`, of: one.id, payment: one })], one.id),
      { state: 'suspense', reason: 'refund' },
    )
    await service.webhook('gateway_b', refundB(), LENDER)
    await service.batch()
    await service.webhook('gateway_b', successB({ loan: one.loan }), LENDER)
    await service.batch()
    t.match((await service.payment(1453002795, 'gateway_b')).payment, {
      state: 'suspense',
      reason: 'refund',
    })
    t.equal((await service.repayments(one.loan)).length, 0)
  },
)

t.test('a refund of a payment that was never captured is returned', async t => {
  const { id } = ownIds()
  const never = { id, status: 'authorized', payment: { captured: false } }
  const refund = refundA({ id: `rfnd_${id}`, of: id, payment: never })
  const events = [eventA('payment.failed', { id, status: 'failed' }), refund]
  t.match(await sent(service, events, `rfnd_${id}`), {
    kind: 'refund',
    state: 'returned',
    reason: null,
  })
  t.match((await service.payment(id)).payment, { state: 'failed', reason: null })
  const failed = eventB('PAYMENT_FAILED_WEBHOOK', { id: 10, status: 'FAILED' })
  await service.webhook('gateway_b', failed, LENDER)
  await service.webhook('gateway_b', refundB({ id: 11, of: 10 }), LENDER)
  await service.webhook('gateway_b', refundB({ id: 8, of: 9, type: 'PAYMENT_AUTO_REFUND' }), LENDER)
  await service.batch()
  t.match((await service.payment(11, 'gateway_b')).payment, { state: 'returned' })
  t.match((await service.payment(8, 'gateway_b')).payment, { state: 'returned' })
})

t.test('a payment not captured has failed, and is posted if it is captured after all', async t => {
  const one = await ownLoan(service)
  const failed = eventA('payment.failed', { status: 'failed', ...one })
  t.match(await sent(service, [failed], one.id), { state: 'failed', reason: null })
  t.match(await sent(service, [capturedA(one)], one.id), { state: 'posted' })
  const late = eventA('payment.authorized', { status: 'authorized', ...one })
  t.match(await sent(service, [late, failed], one.id), { state: 'posted' })
  t.equal((await service.repayments(one.loan)).length, 1)
})

t.test('an open dispute suspends its payment as chargeback, and a won one releases it', async t => {
  const one = await ownLoan(service)
  const events = [capturedA(one), disputeA('created', one)]
  t.match(await sent(service, events, one.id), { state: 'suspense', reason: 'chargeback' })
  t.match((await service.payment('disp_1')).payment, {
    kind: 'chargeback',
    of_payment_id: one.id,
    state: 'suspense',
    reason: 'chargeback',
  })
  t.match(await sent(service, [disputeA('won', one)], one.id), { state: 'posted' })
  t.match((await service.payment('disp_1')).payment, { state: 'failed' })
})

t.test(
  'an event without a valid amount or payment is suspended, cannot be assigned, and holds up no other',
  async t => {
    const one = await ownLoan(service)
    const text = JSON.stringify(capturedA({ ...one, id: 'pay_big', amount: 1 }))
    await sent(service, [
      capturedA({ ...one, id: 'pay_0', amount: 0 }),
      capturedA({ ...one, id: 'pay_minus', amount: -5 }),
      text.replace('"amount":1,', '"amount":1e999999,'),
      text.replace('1770265800', 'null'),
      capturedA({ ...one, id: null }),
      capturedA({ ...one, id: 'pay_word', amount: 'ten' }),
      capturedA(one),
    ])
    const zero = await service.call('GET', '/api/payments/gateway_a/pay_0')
    t.equal(zero.status, 404, 'zero registers a mandate, and is ignored')
    t.match((await service.payment('pay_minus')).payment, {
      state: 'suspense',
      reason: 'amount_invalid',
    })
    t.match((await service.payment(one.id)).payment, { state: 'posted' })
    const query = 'gateway=gateway_a&state=suspense&reason=unreadable'
    const { body } = await service.call('GET', `/api/payments?${query}`)
    t.equal(body.payments.length, 4)
    for (const { gateway_payment_id: id, raw_id } of body.payments) {
      t.equal(id, raw_id)
      t.equal((await service.assign(id, one.loan)).status, 409)
    }
    t.match(
      body.payments.find((unreadable: any) => unreadable.hints?.payment_id === 'pay_word'),
      { amount: null },
    )
    t.equal((await service.assign('pay_minus', one.loan)).status, 409)
  },
)

t.test(
  'a payment whose repayment was undone at the ledger is suspended, and posted as -r2 once assigned',
  async t => {
    const one = await ownLoan(service)
    const externalId = `gateway_a-${one.id}`
    await service.bookAt(one.loan, 1000, { externalId })
    await service.undoAt(one.loan, externalId)
    t.match(await sent(service, [capturedA(one)], one.id), {
      state: 'suspense',
      reason: 'reversed_at_ledger',
      next_try_at: null,
    })
    await service.assign(one.id, one.loan)
    t.match(await sent(service, [], one.id), { state: 'posted' })
    t.same(
      (await service.repayments(one.loan)).map(
        ({ externalId, reversed }) => `${externalId} ${reversed}`,
      ),
      [`${externalId} true`, `${externalId}-r2 false`],
    )
  },
)

for (const [what, transactionDate, transactionAmount] of [
  ['amount', '2026-02-05', 900],
  ['day', '2026-02-04', 1000],
] as const)
  t.test(
    `a repayment undone at the ledger whose ${what} differs is posted again with -r2 by assigning it`,
    async t => {
      const one = await ownLoan(service)
      const externalId = `gateway_a-${one.id}`
      await service.bookAt(one.loan, transactionAmount, { externalId, transactionDate })
      await service.undoAt(one.loan, externalId, { transactionDate })
      const held = { state: 'suspense', reason: 'reversed_at_ledger', next_try_at: null }
      t.match(await sent(service, [capturedA(one)], one.id), held)
      await service.assign(one.id, one.loan)
      t.match(await sent(service, [], one.id), { state: 'posted' })
      t.match((await service.repayments(one.loan)).at(-1), {
        externalId: `${externalId}-r2`,
        amount: '1000.00',
        date: '2026-02-05',
      })
    },
  )

t.test('an equal repayment that the ledger has from a migration is taken as done', async t => {
  const one = await ownLoan(service)
  await service.bookAt(one.loan, 1000, { externalId: `gateway_a-${one.id}` })
  const [there] = await service.repayments(one.loan)
  t.match(await sent(service, [capturedA(one)], one.id), {
    state: 'posted',
    ledger_transaction_id: String(there?.id),
  })
  const other = { ...ownIds(), loan: one.loan }
  t.match(await sent(service, [capturedA(other)], other.id), { state: 'posted' })
  t.equal((await service.repayments(one.loan)).length, 2)
})

t.test(
  'while the ledger is down a payment shows why and until when it waits, and is posted afterwards',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.faults([{ kind: 'locked', match: { on: 'writes' } }])
    await sent(service, [capturedA({ loan: 'L-1' })])
    // None while it is being tried.
    const waiting = await until(async () => {
      const { payment } = await service.payment('pay_1')
      return payment.next_try_at !== null && payment
    }, 'the next try')
    t.match(waiting, { state: 'waiting', waiting_for: 'ledger_busy', next_try_at: String })
    await service.faults([])
    await finalState(t, service, 'pay_1', 'posted')
    t.equal((await service.repayments()).length, 1)
  },
)

t.test('only a payment in suspense can be assigned, and an unknown payment is 404', async t => {
  const one = await ownLoan(service)
  await sent(service, [capturedA(one)], one.id)
  t.match(await service.assign(one.id, one.loan), { status: 409, body: { code: 'CONFLICT' } })
  t.match(await service.assign(ownIds().id, one.loan), { status: 404, body: { code: 'NOT_FOUND' } })
  t.equal((await service.assign(one.id, '..')).status, 400)
})

async function finalState(t: Test, service: PaymentService, id: string, state: string) {
  await until(async () => {
    const { payment } = await service.payment(id)
    return payment.state === state ? payment : undefined
  }, `${id} is ${state}`)
  t.pass(`${id} is ${state}`)
}
