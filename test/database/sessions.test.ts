import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { uploadCsv } from '../support/migrate.ts'
import { loansCsv } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const POOL_MAX = 10
const CALLS = 40
/**
 * Those that are not needed at the same moment: the queue's own in an api, which only adds jobs, and some for the long
 * statements of a worker.
 */
const SPARE = { api: 8, worker: 6, all: 6 }

const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')

for (const role of ['api', 'worker', 'all'] as const)
  t.test(`role ${role} opens as many sessions as settings.md says, and no more`, async t => {
    const documented = POOL_MAX + Number(RegExp(`role ${role}[^+]*\\+ (\\d+)`, 'i').exec(page)?.[1])
    const service = await startTestService(t, { ROLE: role, DATABASE_POOL_MAX: String(POOL_MAX) })
    const migrations = role === 'worker' ? [] : await uploads(service)
    const highest = await mostSessions(
      t,
      service,
      documented - SPARE[role],
      () => everyCall(service, migrations),
      () => service.call('GET', '/readyz'),
    )
    t.ok(highest <= documented, `${highest} of ${documented}`)
  })

/** While what they need is locked, calls and jobs open every connection that they may. */
async function mostSessions(
  t: Test,
  { db }: TestService,
  enough: number,
  call: () => Promise<unknown>[],
  again: () => Promise<unknown>,
) {
  let highest = 0
  const calls: Promise<unknown>[] = []
  await db.transaction().execute(async trx => {
    // However long it takes on a busy machine.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
    await until(() => lockTables(trx))
    calls.push(...call())
    await until(async () => {
      // A call that was given up meanwhile is followed by another one.
      calls.push(again())
      highest = Math.max(highest, await sessions(db))
      return highest >= enough
    }, `${enough} sessions`)
    t.comment(`${highest} sessions`)
  })
  await Promise.allSettled(calls)
  return Math.max(highest, await sessions(db))
}

/** Waits for none, as the service may hold one of them and ask for another. @returns whether all are locked */
async function lockTables(trx: Database): Promise<boolean> {
  await sql`savepoint unlocked`.execute(trx)
  try {
    await sql`lock table pgboss.queue, pgboss.job, core.batch_run, core.transaction, loanops.callback, loanops.migration,
      loanops.migration_row, loanops.operation in access exclusive mode nowait`.execute(trx)
    return true
  } catch {
    await sql`rollback to savepoint unlocked`.execute(trx)
    return false
  }
}

async function uploads(service: TestService): Promise<string[]> {
  const bodies = [1, 2, 3].map(n =>
    uploadCsv(service, 'loans', loansCsv({ loan_external_id: `L-${n}` })),
  )
  return (await Promise.all(bodies)).map(({ body }) => body.migration_id)
}

function everyCall(service: TestService, migrations: string[]): Promise<unknown>[] {
  const { call } = service
  return [
    ...Array.from({ length: CALLS }, () => call('GET', '/readyz')),
    ...Array.from({ length: 6 }, () => uploadCsv(service, 'loans', loansCsv({}))),
    ...migrations.map(migration_id => call('POST', '/api/migration/run', { migration_id })),
  ]
}

async function sessions(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and usename = 'loanops_service'`.execute(db)
  return rows[0]?.count ?? 0
}
