import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { measure } from '../../src/ops/measured.ts'
import { paymentGauges } from '../../src/payments/payment-signals.ts'
import { unrecordedGauge } from '../../src/payments/unrecorded-gauge.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { allSaved, paymentService } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

t.test(
  'the gauges show lag and suspense, and nothing once the database has been away for a while',
  async t => {
    const service = await paymentService(t)
    const { registry, warnings, telling } = gaugesOf(t, service)
    await telling(/loanops_payment_lag_seconds 0\n/)
    await service.webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
    await allSaved(service.db)
    await telling(/loanops_payment_lag_seconds (0\.\d*[1-9]|[1-9])/)
    await service.batch()
    const known = await telling(/loanops_payment_lag_seconds 0\n/)
    t.match(known, /loanops_payments_in_suspense\{reason="no_loan_named"\} 1/)
    await sql`alter schema core rename to elsewhere`.execute(service.db)
    await until(async () => !/^loanops_/m.test(await registry.metrics()), 'old figures go')
    t.same([...new Set(warnings)], ['gauges could not be refreshed'])
    const { status } = await service.call('GET', '/metrics')
    t.equal(status, 200, 'metrics are told whatever the database does')
    await sql`alter schema elsewhere rename to core`.execute(service.db)
    await telling(/loanops_payments_in_suspense\{reason="no_loan_named"\} 1/)
  },
)

t.test('a query that waits for a lock leaves the figures of the other queries', async t => {
  const service = await paymentService(t)
  const { registry, telling } = gaugesOf(t, service)
  await telling(/loanops_raw_tables_without_source 0\n/)
  await service.db.transaction().execute(async trx => {
    await sql`lock table core.event_type in access exclusive mode`.execute(trx)
    await service.webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
    await allSaved(service.db)
    // Eight rounds of each query, in which the one that waits has none.
    await telling(/loanops_payment_lag_seconds [1-9]/)
    t.match(await registry.metrics(), /loanops_raw_tables_without_source 0\n/)
  })
})

t.test('the lag of an old payment begins when it comes out of suspense', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, reason, unconfirmed, source,
      raw_id, received_at)
    select 'gateway_a', 'payment', 'pay_' || state, 'LENDER_02', true, true, state, reason, unconfirmed, 'x', raw.new_id(),
           now() - interval '5 days'
      from (values ('suspense', 'no_loan_named', null), ('waiting', null, 'unasked')) t (state, reason, unconfirmed)`.execute(
    db,
  )
  const hours = async () => {
    const answer = await paymentGauges[0]?.query.execute(db)
    const [row] = (answer?.rows ?? []) as { lag: number }[]
    return Math.round((row?.lag ?? 0) / 3_600)
  }
  t.equal(await hours(), 0, 'nothing is due')
  await sql`
    update core.transaction set state = 'waiting', reason = null
     where state = 'suspense'`.execute(db)
  t.equal(await hours(), 0)
  await sql`
    update core.transaction set waiting_since = now() - interval '2 hours'
     where unconfirmed is null`.execute(db)
  t.equal(await hours(), 2)
  await sql`update core.transaction set state = 'posting' where unconfirmed is null`.execute(db)
  await sql`update core.transaction set state = 'waiting' where unconfirmed is null`.execute(db)
  t.equal(await hours(), 2, 'after a batch that tried in vain')
  await sql`
    insert into loanops.ledger_pause (id, reason) values (raw.new_id(), 'maintenance')`.execute(db)
  t.equal(await hours(), 0, 'during a pause')
})

t.test('an event whose payment has no row is counted, until the payment is recorded', async t => {
  const service = await paymentService(t)
  const LENDER = { lender: 'LENDER_02' }
  await service.webhook('gateway_a', capturedA(), LENDER)
  // Neither of these has a row.
  await service.webhook('gateway_a', capturedA({ id: 'pay_0', amount: 0 }), LENDER)
  await service.webhook('gateway_a', refundA({ status: 'failed', of: 'pay_2' }), LENDER)
  await service.batch()
  await sql`delete from core.transaction where gateway_payment_id = 'pay_1'`.execute(service.db)
  const registry = new Registry()
  const gauge = unrecordedGauge(registry, service.db, { warn: () => undefined }, 20)
  t.teardown(() => gauge.stop())
  const shows = (count: number) =>
    until(async () => {
      const line = new RegExp(`loanops_payment_events_without_row ${count}\n`)
      return line.test(await registry.metrics()) ? true : undefined
    }, `the gauge shows ${count}`)
  await shows(1)
  await sql`select core.settle('gateway_a', array['pay_1'], has_news => true)`.execute(service.db)
  await shows(0)
})

t.test('a payment that waits for its approval at the ledger is not late', async t => {
  const service = await paymentService(t, {}, { flags: ['maker-checker=REPAYMENT_LOAN'] })
  await service.loan('L-1')
  const { telling } = gaugesOf(t, service)
  const ids = ['pay_1', 'pay_2']
  for (const id of ids)
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  await allSaved(service.db)
  await telling(/loanops_payment_lag_seconds (0\.\d*[1-9]|[1-9])/)
  await service.batch()
  const payments = await Promise.all(ids.map(id => service.payment(id)))
  // They were paid at the same moment, so that either may be the first.
  const waitFor = payments.map(({ payment }) => payment.waiting_for).sort()
  t.same(waitFor, ['ledger_approval', 'predecessor'])
  await telling(/loanops_payment_lag_seconds 0\n/)
})

/** The gauges of payments, what they warn of, and a wait until they show a line. */
function gaugesOf(t: Test, { db }: { db: Database }) {
  const registry = new Registry()
  const warnings: string[] = []
  const log = { warn: (_: object, message: string) => void warnings.push(message) }
  const gauges = measure(paymentGauges, 20)({ metrics: { registry }, patient: db, log })
  t.teardown(() => gauges.stop())
  const telling = (line: RegExp) =>
    until(async () => {
      const text = await registry.metrics()
      return line.test(text) ? text : undefined
    }, String(line))
  return { registry, warnings, telling }
}
