import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { withReadback } from '../../support/books/readback.ts'
import { drawB, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { migrateCsv } from '../../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../../support/portfolio/rows.ts'

const DEBIT = '77'
/** The debit's `cf_txn_id`. */
const PAYMENT = '4212'
const HELD = ['suspense', 'ledger_refused']

const debit = (loan: string | null = 'L-1') =>
  drawB(
    'SUBSCRIPTION_PAYMENT_SUCCESS',
    { cf_payment_id: DEBIT, cf_txn_id: PAYMENT },
    loan && { loan_id: loan },
  )
const payment = (loan = 'L-1') => successB({ id: Number(PAYMENT), amount: 399, loan })

async function withLoans(t: Test) {
  const service = withReadback(await paymentService(t))
  for (const loan of ['L-1', 'L-2']) await service.loan(loan)
  return {
    ...service,
    async take(...events: object[]) {
      for (const event of events) await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
      await service.batch()
    },
    resolve: (id: string, outcome: string) =>
      service.call('POST', `/api/payments/gateway_b/${id}/resolve`, { outcome, note: 'seen' }),
    async retry() {
      await sql`update core.transaction set next_try_at = now()`.execute(service.db)
      await service.batch()
    },
    async shown(id: string) {
      const { state, reason } = (await service.payment(id, 'gateway_b')).payment
      return [state, reason]
    },
  }
}

const DIFFERENT = { day: [399, '2026-02-06'], amount: [398, '2026-02-05'] } as const

for (const [what, [amount, transactionDate]] of Object.entries(DIFFERENT))
  for (const loan of ['L-1', 'L-2'])
    t.test(
      `money that is booked under one id with another ${what} is not posted to ${loan} under the other`,
      async t => {
        const service = await withLoans(t)
        const externalId = 'by-hand'
        await service.bookByHand(DEBIT, amount, { transactionDate, externalId })
        await service.take(debit(), payment(loan))
        for (const id of [DEBIT, PAYMENT]) t.same(await service.shown(id), HELD)
        t.same(await service.repayments(), [])
        await service.undo(externalId)
        await service.retry()
        await service.retry()
        t.equal((await service.repayments()).length, 1, 'once it is undone')
        t.same(await service.shown(DEBIT), ['posted', null])
        t.same(await service.shown(PAYMENT), HELD)
      },
    )

t.test('a payment waits for a person while its twin’s booking by hand is in doubt', async t => {
  const service = await withLoans(t)
  await service.take(debit(null))
  for (const outcome of ['handled', 'reopen'])
    t.equal((await service.resolve(DEBIT, outcome)).status, 200)
  await service.take(payment())
  t.same(await service.shown(PAYMENT), HELD)
  t.equal((await service.resolve(DEBIT, 'dismiss')).status, 200)
  await service.retry()
  t.same(await service.shown(PAYMENT), ['posted', null])
})

for (const [booked, events] of [
  [DEBIT, [payment(), debit()]],
  [DEBIT, [debit(), payment()]],
  [PAYMENT, [debit(), payment()]],
  [PAYMENT, [debit()]],
] as const)
  for (const transaction_date of ['2026-02-05', '2026-02-06'])
    t.test(
      `money that a file books as ${booked} on ${transaction_date} is no second repayment`,
      async t => {
        const service = await withLoans(t)
        const row = { payment_reference: booked, gateway: 'gateway_b', amount: '399.00' }
        const csv = repaymentsCsv({ ...row, transaction_date })
        t.match(await migrateCsv(service, 'repayments', csv), { done: 1 })
        await service.take(...events)
        t.equal((await service.repayments()).length, 1)
        const other = booked === DEBIT ? PAYMENT : DEBIT
        if (events.length > 1 || other === DEBIT) t.same(await service.shown(other), HELD)
      },
    )

t.test('a debit is posted beside another loan’s repayment under the id that it names', async t => {
  const service = await withLoans(t)
  await service.bookByHand(PAYMENT, 399)
  await service.take(debit('L-2'))
  t.same(await service.shown(DEBIT), ['posted', null])
})
