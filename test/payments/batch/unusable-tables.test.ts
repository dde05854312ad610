import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t from 'tap'
import { measure } from '../../../src/ops/measured.ts'
import { paymentGauges } from '../../../src/payments/payment-signals.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

t.test('a raw table that cannot become a source is reported, and stops no batch', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await sql`
    create table raw.lender_02_gateway_z (like raw.template including all)`.execute(service.db)
  await sql`create table raw.lender_03_gateway_a (id uuid, body bytea)`.execute(service.db)
  await sql`create table raw.scratch (n integer)`.execute(service.db)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  const run = await service.batch()
  t.match(run, {
    posted: 1,
    last_error: /^raw\.lender_03_gateway_a: .*; raw\.lender_02_gateway_z: its name is not/,
  })
  const { rows } = await sql`
    select source, lender, events, events_behind, problem from ops.source
     order by source`.execute(service.db)
  t.match(rows, [
    { source: 'lender_02_gateway_a', lender: 'LENDER_02', events: '1', problem: null },
    { source: 'lender_02_gateway_z', lender: null, events: '0', problem: /<lender>_<gateway>/ },
    { source: 'lender_03_gateway_a', lender: null, events: '0', problem: /received_at/ },
  ])
  t.equal(rows.length, 3, 'a table of another kind is nobody’s problem')

  const registry = new Registry()
  const gauges = measure(
    paymentGauges,
    20,
  )({ metrics: { registry }, patient: service.db, log: { warn: () => undefined } })
  t.teardown(() => gauges.stop())
  await until(async () => {
    const text = await registry.metrics()
    return /loanops_raw_tables_without_source 2\n/.test(text) ? true : undefined
  }, 'the metric counts both')
})
