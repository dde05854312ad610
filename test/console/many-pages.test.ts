import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'

const PAGES = 12
/** The console loads this many pages at a time for one account. */
const LOADING = 3

t.test('an account that loads many pages at once leaves a connection to others', async t => {
  const { db, viewer, admin } = await startWithConsole(t)
  await admin('/console/accounts')
  let asked: Promise<number[]> = Promise.resolve([])
  await db.transaction().execute(async trx => {
    // Each page of the viewer holds its connection until it is given up.
    await sql`lock table core.transaction in access exclusive mode`.execute(trx)
    asked = Promise.all(
      Array.from({ length: PAGES }, (_, n) => viewer(`/console/payments?limit=${n + 1}`)),
    ).then(pages => pages.map(({ status }) => status))
    await untilSessionsWait(db, { count: LOADING, name: 'loanops-console' })
    t.equal((await admin('/console/accounts')).status, 200)
  })
  t.equal((await asked).length, PAGES)
  t.equal((await viewer('/console/payments?limit=100')).status, 200, 'none waits any longer')
})
