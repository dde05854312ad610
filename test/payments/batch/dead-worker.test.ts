import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { suspendedWorker } from '../../support/engine/heir.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { allSaved, type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { startProcessFor } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GOES_ON_WITHIN_MS = 15_000

// Each waits for a lease to run out: together they take no longer than one.
t.jobs = 2

t.test('events that a dead worker was saving are saved within 15 s', async t => {
  const { service, from } = await workerDead(t, 'events.saved')
  await allSaved(service.db)
  const tookMs = Date.now() - from
  // On a busy machine, every event takes long: the death may not add more than 15 s to that.
  const since = Date.now()
  await pay(service, 'pay_2')
  await allSaved(service.db)
  const usualMs = Date.now() - since
  t.ok(tookMs - usualMs < GOES_ON_WITHIN_MS, `it took ${tookMs} ms, the next one ${usualMs} ms`)
})

t.test('a dead worker’s batch run continues within 15 s', async t => {
  const { service, from } = await workerDead(t, 'batch.claimed')
  await until(async () => {
    const { rows } = await sql`select from core.batch_run where attempt > 1`.execute(service.db)
    return rows.length > 0
  }, 'another one has it')
  t.ok(Date.now() - from < GOES_ON_WITHIN_MS, `it took ${Date.now() - from} ms`)
  // The dead worker may have had the event too, which waits for its heartbeat to run out.
  await allSaved(service.db)
  await service.batch()
  t.match(await service.payment('pay_1'), { payment: { state: 'posted' } })
})

/** A worker dies there, and another one begins. @returns since when */
async function workerDead(t: Test, point: string) {
  const service = await paymentService(t, { ROLE: 'api' })
  await service.loan('L-1')
  const env = testEnv(service.databaseUrl, service.ledger.url)
  const heir = await suspendedWorker(t, env)
  const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
  await pay(service, 'pay_1')
  await service.call('POST', '/api/payments/batch')
  await doomed.ended
  const from = Date.now()
  heir.wake()
  return { service, from }
}

function pay(service: PaymentService, id: string) {
  const event = capturedA({ id, loan: 'L-1' })
  return service.webhook('gateway_a', event, { lender: 'LENDER_02' })
}
