import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { startWithConsole } from '../support/console/console.ts'
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

t.test(
  'a viewer who opens a list right after an operator gets none of the operator’s forms',
  async t => {
    const { operator, viewer } = await startWithConsole(t)
    for (const list of ['/console/operations', '/console/payments', '/console/callbacks']) {
      t.match((await operator(list)).text, /<h2>/)
      t.notMatch((await viewer(list)).text, /<h2>/)
    }
  },
)

t.test('exports beyond two are asked to come back, and hold up no page', async t => {
  const { db, operator } = await startWithConsole(t, { ROLE: 'api' })
  const exports = await db.transaction().execute(async trx => {
    await sql`lock table loanops.callback in access exclusive mode`.execute(trx)
    const exports = [1, 2].map(() => operator('/console/callbacks.csv'))
    await until(async () => (await waiting(db)) === 2, 'both exports wait')
    const third = await operator('/console/operations.csv')
    t.equal(third.status, 503)
    t.match(third.text, 'too many exports are in progress')
    t.ok(third.headers.get('retry-after'))
    t.equal((await operator('/console/operations')).status, 200)
    return exports
  })
  for (const { status } of await Promise.all(exports)) t.equal(status, 200)
  t.equal((await operator('/console/operations.csv')).status, 200)
})

async function waiting(db: Database): Promise<number> {
  const { rows } =
    await sql`select from pg_locks where relation = 'loanops.callback'::regclass and not granted`.execute(
      db,
    )
  return rows.length
}
