import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { LONG_STATEMENT_MS } from '../../../src/database/pool/pool-config.ts'
import { openWatch } from '../../../src/database/watch.ts'
import { enqueueEvents } from '../../../src/payments/intake/enqueue-events.ts'
import type { PaymentEvent } from '../../../src/payments/payment-event.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

/** Two of them are more than may wait. */
const LARGE = 'x'.repeat(33_000_000)

t.test('an event counts as waiting until its commit ends, even if its caller gives up', async t => {
  const { db, url } = await freshDatabase(t)
  // Its statements wait for longer than a caller does.
  const statementMs = LONG_STATEMENT_MS
  const ours = openDatabase(url, { max: 2, name: 'test', statementMs, onError() {} })
  const boss = openQueue(url, { name: 'test', isWorker: false, onError() {} })
  await boss.start()
  t.teardown(() => Promise.all([boss.stop({ graceful: false }), ours.destroy()]))
  const enqueue = enqueueEvents(ours, boss, openWatch())
  await db.transaction().execute(async trx => {
    await sql`lock pgboss.job in access exclusive mode`.execute(trx)
    await t.rejects(enqueue(event(LARGE)), { message: /the database is slow/ })
    await t.rejects(enqueue(event(LARGE)), { message: /too many events are waiting/ })
  })
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
