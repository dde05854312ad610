import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { openWatch } from '../../../src/database/watch.ts'
import { startSweep } from '../../../src/engine/claim/sweep.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { openSlots } from '../../../src/ledger/slots/slots.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { startPostgresProxy } from '../../support/database/postgres-proxy.ts'
import { NO_LEDGER, startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** A sweep may take this long: ten times as much is far more than SOON_MS. */
const WAITS_MS = 2_000
/** A failed try, the pauses around it, and a margin for a busy machine; not ten times the try. */
const SOON_MS = 10_000

t.test('the sweep finds a due operation behind thousands of loans that are not due', async t => {
  const { db } = await startTestService(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, next_try_at)
    select gen_random_uuid(), 'LOAN_DELETE', 'api', 'loan:A-' || i, 'A-' || i, '{}', now() + interval '1 hour'
      from generate_series(1, 12000) i`.execute(db)
  // There is no wake-up for it.
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    values (gen_random_uuid(), 'LOAN_DELETE', 'api', 'loan:Z', 'Z', '{"external_loan_id":"Z"}')`.execute(
    db,
  )
  const ended = await until(async () => {
    const { rows } = await sql<{ status: string }>`
      select status from loanops.operation
       where external_id = 'Z' and status <> 'processing'`.execute(db)
    return rows[0]
  })
  t.match(ended, { status: /success|failed/ }, 'it was run')
})

t.test('a sweep that waited for the database does not delay the next one', async t => {
  const { db, url } = await freshDatabase(t)
  const { taken } = startSweepOver(t, url)
  const insert = (loan: string) => sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, next_try_at)
    values (gen_random_uuid(), 'LOAN_DELETE', 'api', ${`loan:${loan}`}, ${loan}, '{}', now() - interval '1 minute')`
  await insert('L-1').execute(db)
  await db.transaction().execute(async trx => {
    await sql`lock table loanops.operation in access exclusive mode`.execute(trx)
    await until(async () => {
      const { rows } = await sql`
        select from pg_stat_activity
         where application_name = 'test' and datname = current_database() and wait_event_type = 'Lock'
           and query_start < clock_timestamp() - ${WAITS_MS} * interval '1 millisecond'`.execute(
        trx,
      )
      return rows.length > 0
    }, 'the sweep waits')
    taken.length = 0
  })
  await until(async () => taken.includes('loan:L-1'), 'the sweep that waited')
  taken.length = 0
  const start = performance.now()
  await until(async () => taken.includes('loan:L-1'), 'the next sweep')
  t.ok(performance.now() - start < SOON_MS)
})

t.test('a sweep whose connection died does not delay the next one', async t => {
  const { db, url } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, url)
  const { taken } = startSweepOver(t, proxy.url, 500)
  const connections = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where application_name = 'test' and usename = 'loanops_service'
         and datname = current_database()`.execute(db)
    return rows.length
  }
  await until(async () => (await connections()) === 1, 'the first sweep')
  proxy.swallow()
  const start = performance.now()
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, next_try_at)
    values (gen_random_uuid(), 'LOAN_DELETE', 'api', 'loan:L-1', 'L-1', '{}', now() - interval '1 minute')`.execute(
    db,
  )
  await until(async () => taken.includes('loan:L-1'))
  t.ok(performance.now() - start < SOON_MS)
})

/** Sweeps with a connection of its own, named test, and notes what it takes. */
function startSweepOver(t: Test, url: string, statementMs?: number) {
  const limit = statementMs === undefined ? {} : { statementMs }
  const db = openDatabase(url, { max: 1, name: 'test', onError() {}, ...limit })
  const ledger = openLedger(readConfig(testEnv(url, NO_LEDGER)))
  const taken: string[] = []
  const sweep = startSweep(
    db,
    { ledger, slots: openSlots(2), deadlineSeconds: 60, watch: openWatch(), log: { error() {} } },
    { take: async subjects => void taken.push(...subjects), origins: () => ['api'] },
  )
  t.teardown(async () => {
    await sweep.stop()
    await ledger.close()
    await db.destroy()
  })
  return { taken }
}
