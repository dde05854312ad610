import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t from 'tap'
import { measure } from '../../src/ops/measured.ts'
import { paymentGauges } from '../../src/payments/payment-signals.ts'
import { unrecordedGauge } from '../../src/payments/unrecorded-gauge.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { allSaved, paymentService } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

t.test(
  'the gauges show lag and suspense, and keep their last values while the database is away',
  async t => {
    const service = await paymentService(t)
    const registry = new Registry()
    const warnings: string[] = []
    const log = { warn: (_: object, message: string) => void warnings.push(message) }
    const gauges = measure(paymentGauges, 20)({ metrics: { registry }, patient: service.db, log })
    t.teardown(() => gauges.stop())
    const telling = (line: RegExp) =>
      until(async () => {
        const text = await registry.metrics()
        return line.test(text) ? text : undefined
      }, String(line))
    await telling(/loanops_payment_lag_seconds 0\n/)
    await service.webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
    await allSaved(service.db)
    await telling(/loanops_payment_lag_seconds (0\.\d*[1-9]|[1-9])/)
    await service.batch()
    const known = await telling(/loanops_payment_lag_seconds 0\n/)
    t.match(known, /loanops_payments_in_suspense\{reason="no_loan_named"\} 1/)
    await sql`alter schema core rename to elsewhere`.execute(service.db)
    await until(async () => (warnings.length > 0 ? true : undefined), 'the database is missed')
    t.equal(await registry.metrics(), known)
    const { status } = await service.call('GET', '/metrics')
    t.equal(status, 200, 'metrics are told whatever the database does')
    await sql`alter schema elsewhere rename to core`.execute(service.db)
  },
)

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
  await sql`select core.settle('gateway_a', array['pay_1'], true)`.execute(service.db)
  await shows(0)
})
