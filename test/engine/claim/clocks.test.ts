import { Registry } from 'prom-client'
import t from 'tap'
import { freePort } from '../../../src/embedded/free-port.ts'
import { clockGauge, clockReport } from '../../../src/ops/clock.ts'
import { callbackReceiver } from '../../support/callbacks/callback-receiver.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { ending, listed, submit } from '../../support/engine/operations.ts'
import { clientData, control, newName } from '../../support/ledger/loans.ts'
import { shiftedBy, startProcessFor } from '../../support/process.ts'
import { caller, startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const DAY_AND_MORE_MS = 25 * 3_600_000

// One waits for a process to start, the other for the first measurement.
t.jobs = 2

t.test('a worker whose clock is a day ahead runs and reports what was accepted', async t => {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, { ROLE: 'api' })
  const client = newName('C')
  const match = { on: 'writes', externalId: client }
  await control(service, 'PUT', '/faults', [{ kind: 'locked', times: 2, match }])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  const PORT = String(await freePort(0))
  const env = testEnv(service.databaseUrl, service.ledger.url, { PORT, ...receiver.settings })
  startProcessFor(t, 'worker', { ...env, ...shiftedBy(DAY_AND_MORE_MS) })
  t.match(await ending(service.call, id), { status: 'success' })
  t.ok((await listed(service.call, client, id)).last_error, 'it was tried before')
  // With a timestamp of the worker's own clock, its signature would be refused.
  const [attempt] = await until(async () => {
    const attempts = [...receiver.received, ...receiver.refused]
    return attempts.length > 0 && attempts
  })
  t.match(attempt, { body: { data: { tracking_id: id } } })
  const { body } = await caller(`http://127.0.0.1:${PORT}`)('GET', '/readyz')
  t.match(body.clock, /^is 9\d{4} s ahead of the database’s$/)
})

t.test('a process whose clock differs by more than 5 s says so', async t => {
  const { db } = await freshDatabase(t)
  const ask = <T>(question: (from: typeof db) => Promise<T>) => question(db)
  t.same(await clockReport(ask), { clock: 'ok' })
  const now = Date.now.bind(Date)
  t.intercept(Date, 'now', { value: () => now() - 8_000 })
  // The time that the call takes is not taken for a difference: after a slow one, less of it is left.
  const clock = await until(async () => {
    const report = await clockReport(ask)
    return report.clock !== 'ok' && report.clock
  })
  t.match(clock, /^is [5-8] s behind the database’s$/)
  const registry = new Registry()
  const said = Promise.withResolvers<string>()
  const gauge = clockGauge(registry, db, { warn: (_, text) => said.resolve(text) })
  t.teardown(() => gauge.stop())
  t.match(await said.promise, /^the clock of this process is [5-8] s behind the database’s$/)
  const [, ahead] = /^loanops_clock_difference_seconds (.+)$/m.exec(await registry.metrics()) ?? []
  t.ok(Math.abs(Number(ahead) + 8) <= 3, `it is ${ahead}`)
})
