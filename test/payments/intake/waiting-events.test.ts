import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase, type Trx } from '../../../src/database/database.ts'
import { LONG_STATEMENT_MS } from '../../../src/database/pool/pool-config.ts'
import { openWatch } from '../../../src/database/watch.ts'
import { enqueueEvents } from '../../../src/payments/intake/enqueue-events.ts'
import type { PaymentEvent } from '../../../src/payments/payment-event.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

/** It fills a line of waiting events. */
const LARGE = 'x'.repeat(32_000_000)
const SMALL = Buffer.from('{}').toString('base64')

/** Takes events whose statements wait for longer than a caller does. */
async function openIntake(t: Test) {
  const { db, url } = await freshDatabase(t)
  const statementMs = LONG_STATEMENT_MS
  const ours = openDatabase(url, { max: 2, name: 'test', statementMs, onError() {} })
  const boss = openQueue(url, { name: 'test', isWorker: false, onError() {} })
  await boss.start()
  t.teardown(() => Promise.all([boss.stop({ graceful: false }), ours.destroy()]))
  return { db, enqueue: enqueueEvents(ours, boss, openWatch()) }
}

const lockJobs = (trx: Trx) => sql`lock pgboss.job in access exclusive mode`.execute(trx)

t.test('an event counts as waiting until its commit ends, even if its caller gives up', async t => {
  const { db, enqueue } = await openIntake(t)
  await db.transaction().execute(async trx => {
    await lockJobs(trx)
    await t.rejects(enqueue(event(LARGE)), { message: /the database is slow/ })
    await t.rejects(enqueue(event(LARGE)), { message: /too many events are waiting/ })
  })
})

t.test('an event that a signature proves is stored although others are too many', async t => {
  const { db, enqueue } = await openIntake(t)
  const { proved } = await db.transaction().execute(async trx => {
    await lockJobs(trx)
    const other = enqueue(event(LARGE)).catch(() => undefined)
    const proved = enqueue({ ...event(SMALL), verifiedBy: 'LENDER_02' })
    await t.rejects(enqueue(event(SMALL)), { message: /too many events are waiting/ })
    t.teardown(() => other)
    return { proved: proved.then(() => 'stored', String) }
  })
  t.equal(await proved, 'stored')
})

function event(body: string): PaymentEvent {
  return {
    gateway: 'gateway_a',
    lender: 'LENDER_02',
    receivedAt: new Date().toISOString(),
    eventId: null,
    eventType: null,
    body,
    headers: {},
    address: null,
    verifiedBy: null,
  }
}
