import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { type Call, caller, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Two tries on dead connections, plus a margin for a busy machine. */
const RECOVERS_WITHIN_MS = 15_000
const READYZ_ANSWERS_WITHIN_MS = 3_000
const OPERATIONS = 17

t.test('a service whose connections all die silently reports it and recovers', async t => {
  const { db, url } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, url)
  const ledger = await startSandbox({ port: 0 })
  const config = readConfig(testEnv(proxy.url, ledger.url))
  const service = await startRole(config, logger('silent'))
  t.teardown(async () => {
    // A call that still waits on a dead connection must not delay the stop.
    proxy.cut()
    await service.close()
    await ledger.close()
  })
  const call = caller(service.url)
  const create = (externalId: string) => {
    const person = { firstname: 'Asha', lastname: 'Rao', activationDate: '05 January 2026' }
    const body = { status: 'CLIENT_CREATE', data: { externalId, ...person } }
    return call('POST', '/api/ledger/operate', body)
  }
  const createAll = (group: string) =>
    Promise.all(Array.from({ length: OPERATIONS }, (_, n) => create(`${group}-${n}`)))
  const allEnded = async () => {
    const { rows } = await sql`
      select from loanops.operation where status = 'processing'`.execute(db)
    return rows.length === 0
  }
  await createAll('before')
  await until(allEnded)

  await openWholePool(db, call, config.DATABASE_POOL_MAX)
  proxy.swallow()
  const start = performance.now()
  const passed = () => performance.now() - start
  const lost = createAll('lost')
  const readiness = await call('GET', '/readyz')
  t.ok(passed() < READYZ_ANSWERS_WITHIN_MS, `readyz answered after ${passed()} ms`)
  t.match(readiness, { status: 503, body: { database: 'cannot be reached' } })
  await lost
  await until(async () => (await create('after')).status === 202)
  t.ok(passed() < RECOVERS_WITHIN_MS, `intake accepted after ${passed()} ms`)
  await createAll('after')
  await until(allEnded)
  t.ok(passed() < RECOVERS_WITHIN_MS, `the operations ended after ${passed()} ms`)
  t.match(await call('GET', '/readyz'), { status: 200, body: { stuck: [] } })
})

/** Opens every connection of the pool: while it can open another one, readyz may find the database on that one. */
async function openWholePool(db: Database, call: Call, poolMax: number): Promise<void> {
  const calls: Promise<unknown>[] = []
  await db.transaction().execute(async trx => {
    await sql`lock table loanops.operation in access exclusive mode`.execute(trx)
    for (let n = 0; n < poolMax; n++) calls.push(call('GET', '/api/ledger/operations'))
    await untilSessionsWait(db, { count: poolMax })
  })
  await Promise.all(calls)
}
