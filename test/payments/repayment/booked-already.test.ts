import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, PAID_AT_ISO, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'
import { AUTOMATIC, refund, reversing } from '../../support/payments/reversals.ts'
import { migrateCsv, rowsOf, uploadCsv } from '../../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../../support/portfolio/rows.ts'
import { until } from '../../support/until.ts'

const DAY = PAID_AT_ISO.slice(0, 10)
/** The payment of `capturedA`. */
const PAYMENT = { payment_reference: 'pay_1', amount: '1000.00', transaction_date: DAY }

async function withLoan(t: Test) {
  const service = await paymentService(t)
  await service.loan('L-1')
  return {
    ...service,
    /** A row that names no gateway. */
    migrate: (changes: Record<string, string> = {}) =>
      migrateCsv(service, 'repayments', repaymentsCsv({ ...PAYMENT, ...changes })),
    bookByHand: (externalId: string) =>
      service.bookAt('L-1', 1_000, { externalId, receiptNumber: 'pay_1', paymentTypeId: 1 }),
    undo: (externalId: string) => service.undoAt('L-1', externalId),
    async pay(id = 'pay_1') {
      await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), LENDER)
      await service.batch()
      return (await service.payment(id)).payment
    },
    standing: async () =>
      (await service.books()).transactions.filter(one => one.type === 'repayment' && !one.reversed),
  }
}

t.test('a payment is not posted again if a migrated row without a gateway booked it', async t => {
  const service = await withLoan(t)
  await service.migrate()
  const [booked] = await service.standing()
  t.match(await service.pay(), { state: 'posted', ledger_transaction_id: String(booked?.id) })
  t.equal((await service.standing()).length, 1)
})

t.test('a payment is refused if its loan has its receipt number with other values', async t => {
  const service = await withLoan(t)
  await service.migrate({ amount: '999.00', transaction_date: '2026-02-04' })
  t.match(await service.pay(), {
    state: 'suspense',
    reason: 'ledger_refused',
    detail: /amount is 999 there, not 1000, date is 04 February 2026 there, not 05 February 2026/,
  })
  t.equal((await service.standing()).length, 1)
})

t.test('a payment is booked where its receipt number was undone', async t => {
  const service = await withLoan(t)
  await service.bookByHand('by-hand')
  await service.undo('by-hand')
  t.match(await service.pay(), { state: 'posted' })
  matchEach(t, await service.standing(), [{ externalId: 'gateway_a-pay_1' }])
})

t.test('payments with one receipt number are each booked', async t => {
  const service = await withLoan(t)
  // The ledger keeps the first fifty characters.
  const long = `pay_${'x'.repeat(50)}`
  await service.webhook('gateway_b', successB({ id: 'pay_1', loan: 'L-1' }), LENDER)
  await service.pay()
  await service.pay(`${long}1`)
  await service.pay(`${long}2`)
  t.same((await service.standing()).map(one => one.externalId).sort(), [
    'gateway_a-pay_1',
    `gateway_a-${long}1`,
    `gateway_a-${long}2`,
    'gateway_b-pay_1',
  ])
})

t.test('a repayment that a person undid and booked again is not booked a third time', async t => {
  const service = await withLoan(t)
  await service.bookByHand('gateway_a-pay_1')
  await service.undo('gateway_a-pay_1')
  t.match(await service.pay(), { state: 'suspense', reason: 'reversed_at_ledger' })
  await service.bookByHand('by-hand')
  await service.assign('pay_1', 'L-1')
  t.match(await service.pay(), { state: 'posted' })
  matchEach(t, await service.standing(), [{ externalId: 'by-hand' }])
})

t.test('a payment is not posted again if a row has booked it in capitals', async t => {
  const service = await withLoan(t)
  await service.migrate({ payment_reference: 'PAY_1' })
  await service.migrate({ payment_reference: 'PAY_2', gateway: 'gateway_a' })
  const booked = (await service.standing()).map(({ id }) => String(id)).sort()
  const paid = [await service.pay('pay_1'), await service.pay('pay_2')]
  t.match(paid, [{ state: 'posted' }, { state: 'posted' }])
  t.same(paid.map(one => one.ledger_transaction_id).sort(), booked)
  t.equal((await service.standing()).length, 2)
})

t.test('a row in capitals fails if its payment is booked, whatever their amounts', async t => {
  const service = await withLoan(t)
  await service.pay('pay_1')
  const capitals = { payment_reference: 'PAY_1' }
  for (const row of [capitals, { ...capitals, gateway: 'gateway_a' }]) {
    const { migration_id } = await service.migrate(row)
    const reason = /receipt number is pay_1 there, not PAY_1$/
    t.match(await rowsOf(service, migration_id), [{ state: 'failed', reason }])
  }
  const { migration_id } = await service.migrate({ ...capitals, amount: '999.00' })
  const reason = /receipt number is pay_1 there, not PAY_1, amount is 1000 there, not 999/
  t.match(await rowsOf(service, migration_id), [{ state: 'failed', reason }])
  t.equal((await service.standing()).length, 1)
})

t.test('a lender’s own references may differ in capitals only', async t => {
  const service = await withLoan(t)
  for (const [payment_reference, amount] of [
    ['r1a', '1000.00'],
    ['R1A', '999.00'],
  ] as const)
    t.match(await service.migrate({ payment_reference, amount }), { done: 1 })
  t.equal((await service.standing()).length, 2)
})

t.test('a row fails if its reference differs from a booked one in its spelling only', async t => {
  const service = await withLoan(t)
  const spellings = [
    ['006312345678', ['6312345678', '+6312345678', '0006312345678']],
    ['EMI 4', ['EMI  4', 'emi   4']],
  ] as const
  for (const [payment_reference, others] of spellings) {
    t.match(await service.migrate({ payment_reference }), { done: 1 })
    for (const other of others) {
      const { migration_id } = await service.migrate({ payment_reference: other })
      const reason = `receipt number is ${payment_reference} there, not ${other}`
      const [row] = await rowsOf(service, migration_id)
      t.equal(row.state, 'failed', other)
      t.ok(row.reason.endsWith(reason), row.reason)
    }
  }
  t.equal((await service.standing()).length, spellings.length)
  const others = [{ amount: '999.00' }, { transaction_date: '2026-02-04' }, { amount: '998.00' }]
  for (const [at, change] of others.entries()) {
    const payment_reference = ['6312345678', '06312345678', 'EMI  4'][at] as string
    t.match(await service.migrate({ payment_reference, ...change }), { done: 1 }, 'another payment')
  }
})

t.test('a gateway’s number with zeros before it is the payment without them', async t => {
  const service = await withLoan(t)
  const pay = async (id: number) => {
    await service.webhook('gateway_b', successB({ id, loan: 'L-1' }), LENDER)
    await service.batch()
    return (await service.payment(id, 'gateway_b')).payment
  }
  await pay(487_541_537)
  for (const gateway of ['gateway_b', ''])
    t.match(await service.migrate({ payment_reference: '000487541537', gateway }), { failed: 1 })
  t.match(await service.migrate({ payment_reference: '000487541538', gateway: 'gateway_b' }), {
    done: 1,
  })
  const booked = (await service.standing()).find(one => one.externalId?.endsWith('8'))
  t.match(await pay(487_541_538), { state: 'posted', ledger_transaction_id: String(booked?.id) })
  t.match(await pay(487_541_539), { state: 'posted' })
  t.equal((await service.standing()).length, 3)
})

t.test('a row with a plus before a gateway’s number is an error', async t => {
  const service = await withLoan(t)
  const row = { ...PAYMENT, payment_reference: '+487541537' }
  const csv = repaymentsCsv({ ...row, gateway: 'gateway_b' }, row)
  const { body } = await uploadCsv(service, 'repayments', csv)
  matchEach(t, body.errors, [
    { line: 2, reason: /^payment_reference has characters that the gateways’ payment ids lack/ },
  ])
})

const IN_CAPITALS = { ...PAYMENT, loan_external_id: 'L-1', payment_reference: 'PAY_1' }
const PAYER_FEE = { fee: 2_000, fee_bearer: 'customer', order_id: 'order_1' }

for (const [name, payment, refunds] of [
  ['part of it was refunded', {}, [refund({ paise: 40_000 })]],
  ['all of it was refunded', {}, [refund()]],
  ['its payer paid a fee', PAYER_FEE, []],
] as const)
  t.test(`a payment that a row has booked in capitals is held if ${name}`, async t => {
    const service = await reversing(t)
    await migrateCsv(service, 'repayments', repaymentsCsv(IN_CAPITALS))
    for (const event of [capturedA({ loan: 'L-1', payment }), ...refunds])
      await service.signed(event)
    await service.batch()
    const detail = /receipt number is PAY_1 there, not pay_1, amount is 1000 there/
    t.match((await service.payment('pay_1')).payment, {
      state: 'suspense',
      reason: 'ledger_refused',
      detail,
    })
    const { transactions } = await service.books()
    matchEach(
      t,
      transactions.filter(({ type }) => type === 'repayment'),
      [{ amount: '1000.00' }],
    )
  })

t.test('a refund is taken out of a row with zeros before the payment’s id', async t => {
  const service = await reversing(t)
  await migrateCsv(
    service,
    'repayments',
    repaymentsCsv({ ...IN_CAPITALS, payment_reference: '007', gateway: 'gateway_a' }),
  )
  await service.signed(capturedA({ id: '7', loan: 'L-1' }))
  await service.batch()
  await service.signed(refund({ of: '7', paise: 40_000 }))
  await service.batch()
  t.same(await service.shown('7'), ['posted', null, null, '400'])
  t.same(await service.standing(), { '7-r2': 600 })
})

t.test('a refund of what may be booked waits, however the next try ended', async t => {
  const service = await reversing(t, AUTOMATIC, { OPERATION_DEADLINE_SECONDS: '2' })
  const row = { ...PAYMENT, loan_external_id: 'L-1', amount: '999.00' }
  await migrateCsv(service, 'repayments', repaymentsCsv(row))
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  t.same((await service.shown('pay_1')).slice(0, 2), ['suspense', 'ledger_refused'])
  await service.faults([{ kind: 'tooMany' }])
  await sql`update core.transaction set next_try_at = now()`.execute(service.db)
  await service.batch()
  await until(async () => {
    const { rows } = await sql`
      select from core.transaction where state = 'waiting'`.execute(service.db)
    return rows.length > 0
  }, 'the deadline has passed')
  await service.signed(refund())
  await service.faults([])
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'refund', null, null])
  t.same(await service.shown('rfnd_1'), ['suspense', 'refund', null, null])
})

for (const gateway of ['', 'gateway_a'])
  t.test(`a refund is taken out of a row in capitals, gateway: ${gateway || 'none'}`, async t => {
    const service = await reversing(t)
    await migrateCsv(service, 'repayments', repaymentsCsv({ ...IN_CAPITALS, gateway }))
    await service.signed(capturedA({ loan: 'L-1' }))
    await service.batch()
    await service.signed(refund({ paise: 40_000 }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['posted', null, null, '400'])
    t.same(await service.shown('rfnd_1'), ['posted', null, null, null])
    t.same(await service.standing(), { 'pay_1-r2': 600 })
  })
