import { sql } from 'kysely'
import t from 'tap'
import { capturedA, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { allSaved, type PaymentService, paymentService } from '../support/payments/payments.ts'
import { ended, migrateCsv, startCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { until } from '../support/until.ts'

const DAY = PAID_AT_ISO.slice(0, 10)
/** The ledger keeps no more of a receipt number. */
const RECEIPT_CHARACTERS = 50

t.test('one payment becomes one repayment, whatever the gateway column says', async t => {
  const service = await paymentService(t)
  await Promise.all(['F', 'G', 'W', 'H', 'V', 'R', 'B'].map(loan => service.loan(loan)))
  const row = (loan: string, id: string, changes: Record<string, string> = {}) => ({
    loan_external_id: loan,
    payment_reference: id,
    amount: '1000.00',
    transaction_date: DAY,
    ...changes,
  })

  t.test('two rows of the same file are both invalid', async t => {
    const long = 'x'.repeat(RECEIPT_CHARACTERS)
    const { body } = await uploadCsv(
      service,
      'repayments',
      repaymentsCsv(
        row('F', 'p-1', { gateway: 'gateway_a' }),
        row('F', 'p-1'),
        row('F', `${long}1`),
        row('F', `${long}2`, { gateway: 'gateway_b' }),
        row('W', 'p-1'),
      ),
    )
    const told = body.errors.map(({ line, reason }: any) => [line, reason])
    t.same(told, [
      [2, 'payment_reference: this payment is also in line 3'],
      [3, 'payment_reference: this payment is also in line 2'],
      [4, 'payment_reference: this payment is also in line 5'],
      [5, 'payment_reference: this payment is also in line 4'],
    ])
  })

  t.test(
    'a row is done if its loan has an equal repayment with its receipt number, and fails if that differs',
    async t => {
      const earlier = repaymentsCsv(row('F', 'pay_f'), row('G', 'pay_g'))
      t.match(await migrateCsv(service, 'repayments', earlier), { done: 2 })
      await pay(service, 'W', 'pay_w')
      await byHand(service, 'H')
      await byHand(service, 'V')
      await service.undoAt('V', 'hand-V')
      const csv = repaymentsCsv(
        row('F', 'pay_f', { gateway: 'gateway_a' }),
        row('G', 'pay_g', { gateway: 'gateway_a', amount: '999.00' }),
        row('W', 'pay_w'),
        row('H', 'by-hand'),
        row('V', 'by-hand'),
      )
      const on = await verdicts(service, csv)
      const difference = /It is already in the ledger, but different: amount is 1000 there, not 999/
      const done = { finding: 'in_ledger', state: 'done', standing: 1 }

      t.match(on.F, done, 'a row of an earlier file that named no gateway')
      t.match(on.W, done, 'a webhook, then a row that names no gateway')
      t.match(on.H, done, 'a repayment that was entered by hand')
      t.match(on.G, { finding: 'differs', state: 'failed', standing: 1 }, 'another amount')
      t.match(on.G, { finding_reason: difference, reason: difference }, 'the difference')
      t.match(on.V, { finding: 'new', state: 'done', standing: 1 }, 'a repayment that was undone')
    },
  )

  t.test('the rows of a loan are posted after reading the loan once', async t => {
    await service.faults([{ kind: 'latency', ms: 1, match: { externalId: 'R', on: 'reads' } }])
    const rows = Array.from({ length: 20 }, (_, i) => row('R', `r-${i}`))
    t.match(await migrateCsv(service, 'repayments', repaymentsCsv(...rows)), { done: 20 })
    t.equal(await firstRulesHits(service), 1)
    await service.faults([])
  })

  t.test('a repayment that a batch posts between the rows of two files is found', async t => {
    // The batch’s posting waits for the rows of the first file until the second has started.
    await service.faults([{ kind: 'latency', ms: 3_000, match: { externalId: 'B', on: 'writes' } }])
    const first = await started(service, repaymentsCsv(row('B', 'b-1'), row('B', 'b-2')))
    await until(async () => (await firstRulesHits(service)) > 0)
    const batch = pay(service, 'B', 'pay_b')
    await until(async () => (await service.payment('pay_b')).payment?.state === 'posting')
    const second = await started(service, repaymentsCsv(row('B', 'pay_b')))
    await service.faults([])
    t.match(await ended(service, first), { done: 2 })
    t.match(await ended(service, second), { done: 1, failed: 0 })
    await batch
    t.equal(await repaymentsOn(service, 'B'), 3)
  })
})

/** What each loan has: the finding of a dry run, the result of a run, and the valid repayments after both. */
async function verdicts(service: PaymentService, csv: string): Promise<Record<string, any>> {
  const { migration_id } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
  await service.call('POST', '/api/migration/run', { migration_id })
  await ended(service, migration_id)
  const { rows } = await sql<any>`
    select external_loan_id, finding, finding_reason, state, reason from ops.migration_row
     where migration_id = ${migration_id}`.execute(service.db)
  const found = rows.map(async ({ external_loan_id: loan, ...row }) => [
    loan,
    { ...row, standing: await repaymentsOn(service, String(loan)) },
  ])
  return Object.fromEntries(await Promise.all(found))
}

function byHand(service: PaymentService, loan: string) {
  const booking = { externalId: `hand-${loan}`, paymentTypeId: 1, receiptNumber: 'by-hand' }
  return service.bookAt(loan, 1000, booking)
}

async function started(service: PaymentService, csv: string): Promise<string> {
  const migration_id = await startCsv(service, 'repayments', csv)
  return migration_id
}

async function pay(service: PaymentService, loan: string, id: string) {
  const event = capturedA({ id, loan, amount: 100_000 })
  await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await allSaved(service.db)
  await service.batch()
}

/** How many have not been undone. */
async function repaymentsOn(service: PaymentService, loan: string): Promise<number> {
  const { transactions } = await service.books()
  return transactions.filter(
    one => one.loanExternalId === loan && one.type === 'repayment' && !one.reversed,
  ).length
}

async function firstRulesHits({ ledger }: PaymentService): Promise<number> {
  const { rules } = (await (await fetch(`${ledger.controlUrl}/faults`)).json()) as any
  return rules[0].hits
}
