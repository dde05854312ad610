import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { ending } from '../support/engine/operations.ts'
import { clientData, control, newName } from '../support/ledger/loans.ts'
import { caller, operate, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A restart, and the tries that met it. */
const BACK_WITHIN_MS = 15_000

t.test(
  'no connection, the listening one included, needs a startup parameter that PgBouncer refuses',
  async t => {
    const { db, url } = await freshDatabase(t)
    const { proxy, service } = await startBehindPooler(t, url)
    const person = { externalId: 'C-1', firstname: 'Asha', lastname: 'Rao' }
    const ended = await operate(caller(service.url), 'CLIENT_CREATE', {
      ...person,
      activationDate: '05 January 2026',
    })
    t.match(ended, { status: 'success' })
    t.same(proxy.refused, [])
    const { rows } = await sql`
    select from pg_stat_activity
     where datname = current_database() and application_name = 'loanops-all'
       and (query like 'LISTEN%' or query like '%pg_listening_channels%')`.execute(db)
    t.equal(rows.length, 1)
  },
)

t.test('a pooler that restarts under load loses nothing that was accepted', async t => {
  const { url } = await freshDatabase(t)
  const { proxy, service, ledger } = await startBehindPooler(t, url)
  const call = caller(service.url)
  const accepted = new Map<string, string>()
  const refused: number[] = []
  const submit = async () => {
    const client = newName('C')
    const body = { status: 'CLIENT_CREATE', data: clientData(client) }
    const answer = await call('POST', '/api/ledger/operate', body)
    if (answer.status === 202) accepted.set(client, answer.body.tracking_id)
    else refused.push(answer.status)
  }
  const load = async (isEnough: () => boolean) => {
    while (!isEnough()) await Promise.all(Array.from({ length: 8 }, submit))
  }
  await load(() => accepted.size >= 40)
  proxy.goAway()
  const from = Date.now()
  await load(() => refused.length >= 8)
  t.match(await call('GET', '/readyz'), { status: 503 })
  proxy.comeBack()
  const before = accepted.size
  await until(async () => {
    await submit()
    return accepted.size > before
  })
  t.ok(Date.now() - from < BACK_WITHIN_MS, `accepted again after ${Date.now() - from} ms`)
  await load(() => accepted.size >= before + 40)
  t.same([...new Set(refused)], [503])

  for (const id of accepted.values()) t.match(await ending(call, id), { status: 'success' })
  const { log } = await control({ ledger }, 'GET', '/books')
  const created = log.map((write: { externalId: string }) => write.externalId)
  for (const client of accepted.keys())
    t.equal(created.filter((one: string) => one === client).length, 1, client)
})

t.test('a pooler that reports the loss of its server twice ends no process', async t => {
  const { url } = await freshDatabase(t)
  const { proxy, service } = await startBehindPooler(t, url)
  for (const apart of ['in one packet', 'in two packets'] as const) {
    await proxy.shutDown(apart)
    const call = caller(service.url)
    await until(async () => (await call('GET', '/readyz')).status === 200)
    const ended = await operate(call, 'CLIENT_CREATE', clientData(newName('C')))
    t.match(ended, { status: 'success' }, apart)
  }
})

async function startBehindPooler(t: Test, databaseUrl: string) {
  const proxy = await startPostgresProxy(t, databaseUrl, { isLikePgBouncer: true })
  const ledger = await startSandbox({ port: 0 })
  const service = await startRole(readConfig(testEnv(proxy.url, ledger.url)), logger('silent'))
  t.teardown(async () => {
    await service.close()
    await ledger.close()
  })
  return { proxy, ledger, service }
}
