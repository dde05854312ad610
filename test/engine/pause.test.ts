import { sql } from 'kysely'
import t from 'tap'
import { watchPauses } from '../../src/engine/pause.ts'
import { logger } from '../../src/log/log.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const HOUR_MS = 3_600_000

t.test('a time that several pauses cover puts a deadline off once', async t => {
  const { db } = await freshDatabase(t)
  const now = Date.now()
  const ago = (hours: number) => new Date(now - hours * HOUR_MS)
  await sql`
    insert into loanops.ledger_pause (id, reason, since, until)
    values (raw.new_id(), 'maintenance', ${ago(18)}, ${ago(10)}), (raw.new_id(), 'restored', ${ago(20)}, ${ago(1)}),
           (raw.new_id(), 'restored again', ${ago(20)}, ${ago(0.5)})`.execute(db)
  const pauses = watchPauses(db, logger('silent'))
  t.teardown(() => pauses.stop())
  await pauses.mayWrite()
  t.equal(pauses.pausedBetween(ago(30), ago(0)), 19.5 * HOUR_MS)
  t.equal(pauses.pausedBetween(ago(15), ago(12)), 3 * HOUR_MS)
})
