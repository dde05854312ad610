import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { Settings } from '../../../src/config/settings/settings.ts'
import type { Database } from '../../../src/database/database.ts'
import { type ConsoleService, startWithConsole } from '../../support/console/console.ts'
import { uploadCsv } from '../../support/portfolio/migrate.ts'
import { loansCsv } from '../../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const POOL_MAX = 10
/** More than the pool has connections; many more would leave none to the uploads. */
const CALLS = 12
/**
 * Sessions that are not needed at the same moment: the queue's own in an api, which only adds jobs, and some for the long
 * statements of a worker.
 */
const SPARE = { api: 10, worker: 6, all: 6 }

const settings = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8')
const saidOf = (role: string) => RegExp(`role ${role}[^+]*\\+ (\\d+)`, 'i').exec(settings)?.[1]

t.test('the setting of the pool names the same numbers of further sessions', async t => {
  const { description } = Settings.properties.DATABASE_POOL_MAX
  const more = `an api opens up to ${saidOf('api')} more, a worker up to ${saidOf('worker')}`
  t.match(description, RegExp(`${more}$`))
})

for (const role of ['api', 'worker', 'all'] as const)
  t.test(`role ${role} opens as many sessions as settings.md says, and no more`, async t => {
    const documented = POOL_MAX + Number(saidOf(role))
    const changes = { ROLE: role, DATABASE_POOL_MAX: String(POOL_MAX) }
    const withConsole = role === 'worker' ? undefined : await startWithConsole(t, changes)
    const service = withConsole ?? (await startTestService(t, changes))
    const migrations = role === 'worker' ? [] : await uploads(service)
    const looks = withConsole === undefined ? [] : Array(4).fill(lookAt(withConsole))
    const calls = [...everyCall(service, migrations), ...looks]
    const highest = await mostSessions(t, service, documented - SPARE[role], calls)
    t.ok(highest <= documented, `${highest} of ${documented}`)
  })

/**
 * While what they need is locked, calls and jobs open every connection that they may.
 * @returns the sum of the most sessions of each pool: on a busy machine one pool may have closed some before another is full
 */
async function mostSessions(
  t: Test,
  { db }: TestService,
  enough: number,
  calls: (() => Promise<unknown>)[],
) {
  const most = new Map<string, number>()
  const highest = () => [...most.values()].reduce((sum, count) => sum + count, 0)
  const look = async () => {
    for (const { pool, count } of await sessions(db))
      most.set(pool, Math.max(most.get(pool) ?? 0, count))
    return highest() >= enough
  }
  let isEnough = false
  const repeat = async (call: () => Promise<unknown>) => {
    while (!isEnough) await call().catch(() => undefined)
  }
  await db.transaction().execute(async trx => {
    // However long it takes on a busy machine.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
    await until(() => lockTables(trx))
    const callers = calls.map(repeat)
    try {
      await until(look, `${enough} sessions`)
    } finally {
      isEnough = true
      t.comment([...most].map(([pool, count]) => `${pool} ${count}`).join(', '))
    }
    await sql`rollback to savepoint unlocked`.execute(trx)
    await Promise.all(callers)
  })
  await look()
  return highest()
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

/** Reads a list of the console; each time another one, because a list that several ask for at once is read once. */
function lookAt({ admin }: ConsoleService): () => Promise<unknown> {
  let times = 0
  return () => admin(`/console/operations?external_id=L-${times++}`)
}

async function uploads(service: TestService): Promise<string[]> {
  const bodies = [1, 2, 3].map(n =>
    uploadCsv(service, 'loans', loansCsv({ loan_external_id: `L-${n}` })),
  )
  return (await Promise.all(bodies)).map(({ body }) => body.migration_id)
}

function everyCall(service: TestService, migrations: string[]): (() => Promise<unknown>)[] {
  const { call } = service
  return [
    ...Array.from({ length: CALLS }, () => () => call('GET', '/readyz')),
    ...Array.from({ length: 4 }, () => () => call('GET', '/api/payments')),
    ...Array.from({ length: 6 }, () => () => uploadCsv(service, 'loans', loansCsv({}))),
    ...migrations.map(migration_id => () => call('POST', '/api/migration/run', { migration_id })),
  ]
}

async function sessions(db: Database): Promise<{ pool: string; count: number }[]> {
  const { rows } = await sql<{ pool: string; count: number }>`
    select application_name as pool, count(*)::integer as count from pg_stat_activity
     where datname = current_database() and usename = 'loanops_service'
     group by application_name`.execute(db)
  return rows
}
