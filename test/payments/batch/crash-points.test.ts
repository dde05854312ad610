import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { freePort } from '../../../src/embedded/free-port.ts'
import { PAYMENT_CRASH_POINTS } from '../../../src/payments/payment-signals.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { type PaymentService, paymentService, webhooks } from '../../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** The loan's lender: the payments that the others' accounts report are not booked on it. */
const ITS_LENDER = 'LENDER_02'

t.test(
  'wherever a process dies between a webhook and its repayment, nothing is lost or done twice',
  async t => {
    // Takes requests, and works nothing itself.
    const service = await paymentService(t, { ROLE: 'api' })
    await service.loan('L-1')
    const hit: string[] = []
    for (const [i, point] of PAYMENT_CRASH_POINTS.entries()) {
      // A lender of its own each time, so that there is something to discover.
      hit.push(...(await dieAt(t, service, point, `LENDER_0${i + 1}`)))
      await expireLeases(service.db)
    }
    t.same(hit, [...PAYMENT_CRASH_POINTS], 'each of them was passed, and was the end')

    startProcessFor(t, 'worker', envOf(service))
    await service.batch()
    t.same(
      (await service.repayments()).map(one => one.externalId),
      [`gateway_a-${ITS_LENDER}`],
    )
    const { rows } = await sql`
      select reason, state, count(*)::integer as count from core.transaction
       group by reason, state order by reason`.execute(service.db)
    t.same(rows, [
      { reason: 'lender_mismatch', state: 'suspense', count: PAYMENT_CRASH_POINTS.length - 1 },
      { reason: null, state: 'posted', count: 1 },
    ])
  },
)

/** Sends a payment, and lets a process die at the point, with work enough to pass it. @returns where it died */
async function dieAt(t: Test, service: PaymentService, point: string, lender: string) {
  const isDoor = point.startsWith('webhook')
  const port = String(await freePort(0))
  const env = { ...envOf(service), PORT: port, LOANOPS_CRASH_AT: point }
  const doomed = startProcessFor(t, isDoor ? 'api' : 'worker', env)
  const event = capturedA({ id: lender, loan: 'L-1' })
  if (isDoor) {
    const url = `http://127.0.0.1:${port}`
    await until(() => fetch(`${url}/healthz`).catch(() => undefined), 'it is up')
    await t.rejects(webhooks(url)('gateway_a', event, { lender }), 'no answer came')
  }
  // After an answer that did not come, the gateway sends it again.
  t.match(await service.webhook('gateway_a', event, { lender }), { status: 200 })
  t.match(await service.call('POST', '/api/payments/batch'), { status: 202 })
  await doomed.ended
  return crashPointsIn(doomed.said)
}

const envOf = (service: PaymentService) => testEnv(service.databaseUrl, service.ledger.url)
