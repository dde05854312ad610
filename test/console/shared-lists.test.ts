import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { startWithConsole } from '../support/console/console.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { until } from '../support/until.ts'

const PEOPLE = 6

t.test('people who look at the same list at once share one reading of it', async t => {
  const { db, operator, anybody } = await startWithConsole(t, {
    // A worker's gauges would read the table too.
    ROLE: 'api',
    DATABASE_POOL_MAX: String(2 * PEOPLE),
  })
  const { looks, readings } = await db.transaction().execute(async trx => {
    await sql`lock table loanops.callback in access exclusive mode`.execute(trx)
    const looks = Array.from({ length: PEOPLE }, () => operator('/console/callbacks'))
    await until(async () => (await waiting(db)) > 0, 'a look waits')
    // When these are answered, the looks that were sent before them have begun.
    for (let n = 0; n < PEOPLE; n++) await anybody('/console/login')
    return { looks, readings: await waiting(db) }
  })
  t.equal(readings, 1)
  for (const { status } of await Promise.all(looks)) t.equal(status, 200)
})

t.test('a viewer who opens a list right after an operator gets no operator’s forms', async t => {
  const { operator, viewer } = await startWithConsole(t)
  for (const list of ['/console/operations', '/console/payments', '/console/callbacks']) {
    t.match((await operator(list)).text, /<h2>/)
    t.notMatch((await viewer(list)).text, /<h2>/)
  }
})

t.test('an account or token has one export at a time, and the process has two', async t => {
  const { db, call, operator, viewer } = await startWithConsole(t, { ROLE: 'api' })
  const exports = await db.transaction().execute(async trx => {
    await sql`
      lock table loanops.callback, core.settlement_row in access exclusive mode`.execute(trx)
    const exports = [operator('/console/callbacks.csv'), call('GET', '/api/settlements.csv')]
    await untilSessionsWait(db, { count: exports.length })
    const third = await viewer('/console/operations.csv')
    t.equal(third.status, 503)
    t.match(third.text, 'too many exports are in progress')
    t.ok(third.headers.get('retry-after'))
    t.equal((await operator('/console/operations')).status, 200)
    return exports
  })
  for (const { status } of await Promise.all(exports)) t.equal(status, 200)
  t.equal((await operator('/console/operations.csv')).status, 200)
})

t.test('whoever reads an export slowly leaves the other place to everybody else', async t => {
  const { db, call, operator, viewer } = await startWithConsole(t, { ROLE: 'api' })
  await db.transaction().execute(async trx => {
    await sql`lock table loanops.callback in access exclusive mode`.execute(trx)
    const slow = operator('/console/callbacks.csv')
    await untilSessionsWait(db)
    const second = await operator('/console/operations.csv')
    t.equal(second.status, 503)
    t.match(second.text, 'too many of your own exports are in progress')
    t.equal((await viewer('/console/operations.csv')).status, 200)
    t.equal((await call('GET', '/api/settlements.csv')).status, 200)
    return { slow }
  })
})

async function waiting(db: Database): Promise<number> {
  const { rows } = await sql`
      select from pg_locks
       where relation = 'loanops.callback'::regclass and not granted`.execute(db)
  return rows.length
}
