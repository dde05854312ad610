import { sql } from 'kysely'
import t from 'tap'
import { backfillFeature } from '../../src/books/backfill/backfill-feature.ts'
import { fetched, gatewaySandbox, requestFetch } from '../support/books/gateways.ts'
import { offBy } from '../support/books/reconciliation.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { paymentService } from '../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../support/process.ts'
import { type Call, testEnv } from '../support/service.ts'

const FROM = '2026-02-01T00:00:00Z'
const TO = '2026-02-04T00:00:00Z'
/** The days whose buckets do not add up. */
async function daysOff(call: Call) {
  const { body } = await call('GET', '/api/reconciliation?from=2026-02-01&to=2026-02-04')
  return body.days.filter((day: object) => ![null, '0'].includes(offBy(day)))
}

const DAYS = ['2026-02-01T12:00:00Z', '2026-02-02T12:00:00Z', '2026-02-03T12:00:00Z']

t.test('wherever a process dies in a fetch, the next completes it and the days add up', async t => {
  const gateways = await gatewaySandbox(t)
  // Takes requests, and works nothing itself.
  const service = await paymentService(t, { ...gateways.settings, ROLE: 'api' })
  const env = testEnv(service.databaseUrl, service.ledger.url, gateways.settings)
  await service.loan('L-1')
  await gateways.put(
    '/payments',
    DAYS.map((created_at, i) => ({
      gateway: 'gateway_a',
      id: `pay_${i}`,
      created_at,
      notes: { loan_id: 'L-1' },
    })),
  )
  const hit: string[] = []
  const id = await requestFetch(service.call, 'gateway_a', { from: FROM, to: TO })
  for (const point of backfillFeature.crashPoints) {
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
    await doomed.ended
    hit.push(...crashPointsIn(doomed.said))
    t.same(await daysOff(service.call), [])
    await expireLeases(service.db)
  }
  t.same(hit, [...backfillFeature.crashPoints], 'each of them was passed, and was the end')

  startProcessFor(t, 'worker', env)
  t.match(await fetched(service.call, id), { status: 'completed', fetched: 3, missed: 3 })
  await service.batch()
  const { rows } = await sql`
      select from core.event where verified_by = 'gateway_api'`.execute(service.db)
  t.equal(rows.length, 3)
  t.equal((await service.repayments()).length, 3)
  t.same(await daysOff(service.call), [])
})

t.test('two workers fetch a window once; a frozen one writes no more when it wakes', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, { ...gateways.settings, ROLE: 'api' })
  const env = testEnv(service.databaseUrl, service.ledger.url, gateways.settings)
  await gateways.put('/payments', { gateway: 'gateway_a', id: 'pay_0', created_at: DAYS[0] })
  const id = await requestFetch(service.call, 'gateway_a', { from: FROM, to: TO })
  const frozen = startProcessFor(t, 'worker', {
    ...env,
    LOANOPS_CRASH_AT: 'backfill.claimed:1:SIGSTOP',
  })
  await new Promise<void>(done => {
    frozen.child.stderr?.on('data', chunk => /crash point/.test(String(chunk)) && done())
  })
  await expireLeases(service.db)
  startProcessFor(t, 'worker', env)
  t.match(await fetched(service.call, id), { status: 'completed', fetched: 1, missed: 1 })
  frozen.child.kill('SIGCONT')
  const again = await requestFetch(service.call, 'gateway_a', { from: FROM, to: TO })
  t.match(await fetched(service.call, again), { status: 'completed', fetched: 1, missed: 0 })
  const { rows } = await sql<object>`
    select attempt, fetched::integer, missed::integer from core.backfill where id = ${id}`.execute(
    service.db,
  )
  t.same(rows, [{ attempt: 2, fetched: 1, missed: 1 }])
})
