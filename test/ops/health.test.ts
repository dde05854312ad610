import { sql } from 'kysely'
import t from 'tap'
import { buildApi } from '../../src/api.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { tablesPresent } from '../../src/database/migrate/migrate.ts'
import { openWatch } from '../../src/database/watch.ts'
import { ledgerReport } from '../../src/engine/ledger-report.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { openSlots } from '../../src/ledger/slots/slots.ts'
import { logger } from '../../src/log/log.ts'
import { health } from '../../src/ops/health.ts'
import { openMetrics } from '../../src/ops/metrics.ts'
import { openTraces } from '../../src/ops/traces/open-traces.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { allReports } from '../../src/worker.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { caller, NO_LEDGER, startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const STUCK_AFTER_MS = 100

t.test('readyz says not_known, not healthy, while the database does not answer', async t => {
  const { db, call } = await startTestService(t, { ROLE: 'api' })
  const waitingFor = async () => (await call('GET', '/readyz')).body.ledger.waiting_for
  await db.transaction().execute(async trx => {
    await sql`lock table loanops.operation in access exclusive mode`.execute(trx)
    t.same(await waitingFor(), ['not_known'])
  })
  t.same(await waitingFor(), [])
})

t.test('readyz answers in a fixed order, whatever the role', async t => {
  const own = ['status', 'version', 'database', 'queue', 'stuck', 'ledger']
  const parts = [...own, 'webhooks', 'callbacks', 'clock']
  for (const [ROLE, ledger] of [
    ['api', ['waiting_for', 'pause', 'in_front', 'findings']],
    ['worker', ['circuit', 'last_error', 'waiting_for', 'pause', 'in_front', 'findings']],
    ['all', ['circuit', 'last_error', 'waiting_for', 'pause', 'in_front', 'findings']],
  ] as const) {
    const { call } = await startTestService(t, { ROLE })
    const { body } = await call('GET', '/readyz')
    t.same([Object.keys(body), Object.keys(body.ledger)], [parts, ledger], ROLE)
  }
})

t.test('callers that ask for readiness at the same time share one answer', async t => {
  const { db } = await freshDatabase(t)
  let asked = 0
  const ready = health(db, {
    isMigrated: async () => ++asked > 0,
    watch: openWatch(),
    ledger: ask => ledgerReport(ask, undefined),
    reports: [],
  })
  const answers = await Promise.all(Array.from({ length: 20 }, () => ready()))
  t.same([...new Set(answers.map(({ status }) => status))], ['ready'])
  t.equal(asked, 1)
  await ready()
  t.equal(asked, 2, 'a later caller learns what is so then')
})

t.test('readyz is 503 and names a group commit that makes no progress, until it does', async t => {
  const { db, url } = await freshDatabase(t)
  const boss = openQueue(url, { isWorker: false, name: 'test', onError() {} })
  const ours = openDatabase(url, { max: 4, name: 'test', onError() {} })
  const watch = openWatch(STUCK_AFTER_MS)
  const config = readConfig(testEnv(url, NO_LEDGER, { ROLE: 'api' }))
  const services = {
    db: ours,
    boss,
    metrics: openMetrics(),
    health: health(ours, {
      isMigrated: tablesPresent(),
      watch,
      ledger: ask => ledgerReport(ask, undefined),
      reports: allReports(config),
    }),
    watch,
    traces: await openTraces(config, logger('silent')),
    ledger: openLedger(config),
    slots: openSlots(config.LEDGER_CONCURRENCY),
  }
  const app = await buildApi(services, config, logger('silent'))
  t.teardown(async () => {
    await app.close()
    await ours.destroy()
  })
  const call = caller(await app.listen({ port: 0, host: '127.0.0.1' }))
  const person = { externalId: 'C-1', firstname: 'Asha', lastname: 'Rao' }
  const body = { status: 'CLIENT_CREATE', data: { ...person, activationDate: '05 January 2026' } }
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))

  let accepted: ReturnType<typeof call> | undefined
  await db.transaction().execute(async trx => {
    await sql`lock table loanops.operation in share mode`.execute(trx)
    accepted = call('POST', '/api/ledger/operate', body)
    const readiness = await until(async () => {
      const answer = await call('GET', '/readyz')
      return answer.status === 503 && answer
    })
    t.match(readiness.body, { status: 'not_ready', database: 'ok', queue: 'ok', stuck: ['intake'] })
  })
  t.equal((await accepted)?.status, 202)
  t.match(await call('GET', '/readyz'), { status: 200, body: { stuck: [] } })
})
