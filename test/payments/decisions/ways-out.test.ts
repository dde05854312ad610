import { sql } from 'kysely'
import t from 'tap'
import { asPerson } from '../../support/accounts/as-person.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, disputeA, eventA, refundA } from '../../support/payments/gateway-events.ts'
import { type PaymentService, paymentService } from '../../support/payments/payments.ts'

/** `lender` is LENDER_02 unless it is given; null names none. */
type Sent = { event: object; lender?: string | null }
type Way = 'assign' | 'post' | 'handled' | 'dismiss'

const LOAN = 'L-2'
const UNASKED = { created_at: Date.parse('2024-01-02T10:00:00Z') / 1000 }

/** What brings a payment of this id into suspense for this reason. */
const EVENTS: Record<string, (id: string) => Sent[]> = {
  no_loan_named: id => [{ event: capturedA({ id }) }],
  loan_unknown: id => [{ event: capturedA({ id, loan: 'L-none' }) }],
  loan_not_active: id => [{ event: capturedA({ id, loan: 'L-approved' }) }],
  currency_mismatch: id => [{ event: capturedA({ id, loan: LOAN, currency: 'USD' }) }],
  lender_mismatch: id => [{ event: capturedA({ id, loan: 'L-5' }) }],
  signature_not_verified: id => [{ event: capturedA({ id, loan: 'L-3' }), lender: null }],
  sender_not_allowed: id => [{ event: capturedA({ id, loan: 'L-4' }), lender: 'LENDER_04' }],
  events_disagree: id => [
    { event: capturedA({ id, loan: LOAN }) },
    { event: eventA('order.paid', { id, loan: LOAN, amount: 7 }) },
  ],
  refund: id => [
    { event: capturedA({ id, loan: LOAN }) },
    { event: refundA({ id: `rfnd_${id}`, of: id }) },
  ],
  chargeback: id => [{ event: capturedA({ id, loan: LOAN }) }, { event: disputeOf(id) }],
  amount_invalid: id => [{ event: capturedA({ id, loan: LOAN, amount: -5 }) }],
  ledger_refused: id => [{ event: capturedA({ id, loan: LOAN, payment: UNASKED }) }],
  reversed_at_ledger: id => [{ event: capturedA({ id, loan: LOAN }) }],
  ...Object.fromEntries(
    ['unknown_event', 'awaiting_review', 'not_at_gateway', 'missing_at_ledger'].map(reason => [
      reason,
      (id: string) => [{ event: capturedA({ id }) }],
    ]),
  ),
}
/** Where only the ledger, the gateway or a setting brings a payment: it is put there. */
const PUT_THERE = ['unknown_event', 'awaiting_review', 'not_at_gateway', 'missing_at_ledger']
const ASSIGNABLE = [
  'no_loan_named',
  'loan_unknown',
  'loan_not_active',
  'lender_mismatch',
  'signature_not_verified',
  'ledger_refused',
  'reversed_at_ledger',
  'missing_at_ledger',
  'awaiting_review',
]
/** An assignment leaves its amount and day: the ledger takes them no more than before. */
const REFUSED_AGAIN = ['ledger_refused']
const NOTE = 'seen'
const RESOLUTIONS: Record<Exclude<Way, 'assign'>, object> = {
  post: {
    outcome: 'post',
    external_loan_id: 'L-out',
    amount: 990.5,
    paid_on: '06 February 2026',
    note: NOTE,
  },
  handled: { outcome: 'handled', note: NOTE },
  dismiss: { outcome: 'dismiss', note: NOTE },
}
const REACHED = { post: 'posted', handled: 'handled', dismiss: 'dismissed' }

t.test('each reason of suspense has its ways out', async t => {
  const service = await withLoans(t)
  const ways: Way[] = ['assign', 'post', 'handled', 'dismiss']
  const person = await asPerson(service)
  const idOf = (reason: string, way: Way) => `${reason}__${way}`
  const each = (then: (id: string, reason: string, way: Way) => Promise<void>) =>
    inTurn(Object.keys(EVENTS), reason => inTurn(ways, way => then(idOf(reason, way), reason, way)))

  await each(async (id, reason) => {
    if (reason === 'reversed_at_ledger') await bookAndUndo(service, id)
    for (const { event, lender = 'LENDER_02' } of EVENTS[reason]?.(id) ?? [])
      await service.webhook('gateway_a', event, lender === null ? {} : { lender })
  })
  await service.batch()
  for (const reason of PUT_THERE)
    await sql`
      update core.transaction
         set reason = ${reason}, refused_reason = ${reason}
       where gateway_payment_id like ${`${reason}\\_\\_%`}`.execute(service.db)
  await each(async (id, reason) => {
    t.match((await service.payment(id)).payment, { state: 'suspense', reason }, id)
  })

  await each(async (id, reason, way) => {
    if (way === 'assign') {
      const status = ASSIGNABLE.includes(reason) ? 200 : 409
      t.equal((await service.assign(id, 'L-out')).status, status, id)
    } else t.match(await service.resolve(id, RESOLUTIONS[way], '', person), { status: 200 }, id)
  })
  await service.batch()
  const booked = new Map(
    (await service.repayments())
      .filter(one => one.loanExternalId === 'L-out' && !one.reversed)
      .map(one => [one.receiptNumber, one]),
  )

  await each(async (id, reason, way) => {
    const { payment } = await service.payment(id)
    if (way !== 'assign') {
      t.match(payment, { state: REACHED[way], reason: null, objection: null }, id)
      const expected = way === 'post' ? { amount: '990.50', date: '2026-02-06' } : undefined
      t.match(booked.get(id), expected as object, id)
    } else if (ASSIGNABLE.includes(reason) && !REFUSED_AGAIN.includes(reason)) {
      t.match(payment, { state: 'posted', external_loan_id: 'L-out' }, id)
      t.match(booked.get(id), { amount: '1000.00' }, id)
    } else t.match(payment, { state: 'suspense', reason }, id)
  })
  t.same(
    [...booked.values()]
      .filter(one => /-r2$/.test(`${one.externalId}`))
      .map(one => one.receiptNumber)
      .sort(),
    ['reversed_at_ledger__assign', 'reversed_at_ledger__post'],
    'only of what was undone the external id is taken',
  )
})

t.test('an unreadable event is posted, handled or dismissed, and not read again', async t => {
  const service = await withLoans(t)
  for (const amount of [100_000, 100_001, 100_002])
    await service.webhook('gateway_a', capturedA({ id: null, amount }), { lender: 'LENDER_02' })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const ids: string[] = body.payments.map((one: any) => one.gateway_payment_id)
  t.equal(ids.length, 3)
  const ways = Object.keys(RESOLUTIONS) as (keyof typeof RESOLUTIONS)[]
  for (const [i, way] of ways.entries())
    t.match(await service.resolve(ids[i] as string, RESOLUTIONS[way]), { status: 200 }, way)
  const { rows } = await sql<{ events: string }>`
    select ops.reread('lender_02_gateway_a', '2026-01-01') as events`.execute(service.db)
  t.equal(rows[0]?.events, '0')
  await service.batch()
  for (const [i, way] of ways.entries())
    t.match((await service.payment(ids[i])).payment, { state: REACHED[way] }, way)
  matchEach(t, await service.repayments(), [{ loanExternalId: 'L-out', amount: '990.50' }])
})

t.test('an unreadable event that was booked by hand and reopened is not read again', async t => {
  const service = await withLoans(t)
  await service.webhook('gateway_a', capturedA({ id: null }), { lender: 'LENDER_02' })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  for (const outcome of ['handled', 'reopen'] as const)
    t.match(await service.resolve(id, { outcome, note: 'x' }), { status: 200 }, outcome)
  const { rows } = await sql<{ events: string }>`
    select ops.reread('lender_02_gateway_a', '2026-01-01') as events`.execute(service.db)
  t.equal(rows[0]?.events, '0')
})

t.test('a refund and a chargeback are handled or dismissed, and never posted', async t => {
  const service = await withLoans(t)
  const ids = ['pay_1', 'pay_2', 'pay_3', 'pay_4']
  for (const [i, id] of ids.entries())
    await service.webhook('gateway_a', i < 2 ? refundA({ id: `r_${id}`, of: id }) : disputeOf(id), {
      lender: 'LENDER_02',
    })
  await service.batch()
  const rows = ['r_pay_1', 'r_pay_2', 'disp_pay_3', 'disp_pay_4']
  for (const [i, id] of rows.entries()) {
    t.equal((await service.resolve(id, RESOLUTIONS.post)).status, 409, id)
    const way = i % 2 === 0 ? 'handled' : 'dismiss'
    t.match(await service.resolve(id, RESOLUTIONS[way]), { status: 200 }, id)
    t.match((await service.payment(id)).payment, { state: REACHED[way], reason: null }, id)
  }
  // What the gateway says later changes none of them.
  await service.webhook('gateway_a', refundA({ id: 'r_pay_1', of: 'pay_1', status: 'failed' }), {
    lender: 'LENDER_02',
  })
  await service.batch()
  t.match((await service.payment('r_pay_1')).payment, { state: 'handled' })
})

async function withLoans(t: Parameters<typeof lendersFile>[0]) {
  const file = lendersFile(t, {
    LENDER_03: { gateway_a: { validateSignature: true, secretEnv: 'SECRET_03' } },
    LENDER_04: { gateway_a: { allowedCidrs: ['10.0.0.0/8'] } },
  })
  const service = await paymentService(t, { LENDERS_FILE: file, SECRET_03: 's3' })
  await service.loan('L-out', { principal: 900_000 })
  await service.loan(LOAN, { principal: 900_000 })
  await service.loan('L-approved', { until: 'approved' })
  for (const product of [3, 4, 5]) await service.loan(`L-${product}`, { product })
  return service
}

function disputeOf(id: string): object {
  const event: any = disputeA('created', { id, loan: LOAN })
  event.payload.dispute.entity.id = `disp_${id}`
  return event
}

async function bookAndUndo(service: PaymentService, id: string): Promise<void> {
  const externalId = `gateway_a-${id}`
  await service.bookAt(LOAN, 1000, { externalId })
  await service.undoAt(LOAN, externalId)
}

async function inTurn<T>(items: T[], then: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await then(item)
}
