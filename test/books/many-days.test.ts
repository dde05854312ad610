import { sql } from 'kysely'
import t from 'tap'
import { reconcileChanged } from '../../src/books/reconciliation/reconciliation-job.ts'
import { logger } from '../../src/log/log.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const DAYS = 500
const USUAL_REST_MS = 5_000
/** The longest rest after work on one day, by its duration. */
const TIMES_LONGER = 10

t.test('the figures of changed days do not wait longer because many days changed', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.changed_day (day) select '2020-01-01'::date + n from generate_series(1, ${DAYS}::integer) n`.execute(
    db,
  )
  const startedAt = performance.now()
  const context = { patient: db, log: logger('silent') }
  const restMs = await reconcileChanged(context, new AbortController().signal)
  const tookMs = performance.now() - startedAt
  const { rows } = await sql`select from core.changed_day`.execute(db)
  t.equal(rows.length, 0)
  // No day takes half of the time, and a fast machine is done within the usual rest.
  t.ok(restMs <= Math.max(USUAL_REST_MS, (tookMs * TIMES_LONGER) / 2))
})
