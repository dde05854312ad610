import t from 'tap'
import { readbackFeature } from '../../src/books/readback/readback-feature.ts'
import { readbackRun, requestReadback, withReadback } from '../support/books/readback.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { paymentService } from '../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('wherever a process dies in a read-back, each payment is read and counted once', async t => {
  const service = withReadback(await paymentService(t, { ROLE: 'api' }))
  const env = { ...testEnv(service.databaseUrl, service.ledger.url), RECONCILE_CRON: '' }
  await service.loan('L-1')
  const first = startProcessFor(t, 'worker', env)
  for (const id of ['pay_1', 'pay_2', 'pay_3']) await service.send(id)
  await service.batch()
  await first.kill('SIGTERM')
  await service.undo('gateway_a-pay_1')

  const run = await requestReadback(service.db)
  for (const point of readbackFeature.crashPoints) {
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
    await doomed.ended
    t.same(crashPointsIn(doomed.said), [point])
    await expireLeases(service.db)
  }
  startProcessFor(t, 'worker', env)
  await until(async () => (await readbackRun(service.db, run)).status === 'completed', 'it ends')
  t.match(await readbackRun(service.db, run), { loans: 1, payments: 3, reversed: 1, failed: 0 })
  t.match(await service.stateOf('pay_1'), { state: 'suspense', reason: 'reversed_at_ledger' })
})
