import { sql } from 'kysely'
import t from 'tap'
import { callbacksFeature } from '../../src/callbacks/callbacks-feature.ts'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { crashPointsIn, startProcessFor } from '../support/process.ts'
import { startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('wherever a process dies on the way of a callback, it is delivered', async t => {
  const receiver = await callbackReceiver(t)
  // Takes requests, and works nothing itself.
  const service = await startTestService(t, { ...receiver.settings, ROLE: 'api' })
  const env = testEnv(service.databaseUrl, service.ledger.url, receiver.settings)
  const hit: string[] = []
  for (const point of callbacksFeature.crashPoints) {
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
    await submit(service.call, 'CLIENT_CREATE', clientData(`C-${point}`))
    await doomed.ended
    hit.push(...crashPointsIn(doomed.said))
    // The dead process's leases end at once.
    await sql`update loanops.callback set next_try_at = now() where state = 'pending'`.execute(
      service.db,
    )
  }
  t.same(hit, [...callbacksFeature.crashPoints], 'each of them was passed, and was the end')

  startProcessFor(t, 'worker', env)
  await until(async () => {
    const { body } = await service.call('GET', '/api/callbacks?state=delivered')
    return body.callbacks.length === callbacksFeature.crashPoints.length
  }, 'all are delivered')
  const reported = new Set(receiver.received.map(({ body }) => body.data.external_id))
  t.same([...reported].sort(), callbacksFeature.crashPoints.map(point => `C-${point}`).sort())
  t.equal(new Set(receiver.received.map(({ id }) => id)).size, callbacksFeature.crashPoints.length)
  t.same(receiver.refused, [])
})
