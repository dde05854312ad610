import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openWatch } from '../../src/database/watch.ts'
import { notifyAll } from '../../src/engine/notify-all.ts'
import { watchPauses } from '../../src/engine/pause.ts'
import { startRunner } from '../../src/engine/runner.ts'
import { FEATURES } from '../../src/jobs.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { openReference } from '../../src/ledger/reference/reference.ts'
import { openSlots } from '../../src/ledger/slots/slots.ts'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { openSetUpBehind } from '../../src/operations/set-up-behind.ts'
import { openMetrics } from '../../src/ops/metrics.ts'
import { openTraces } from '../../src/ops/traces/open-traces.ts'
import type { Traces } from '../../src/ops/traces/traces.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { allCounters } from '../../src/worker.ts'
import { listed, submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('an operation that is cancelled while it waits for a slot logs no error', async t => {
  const { call, runner, slots, errors } = await startWithOwnRunner(t)
  const busy = Promise.withResolvers<void>()
  const others = [slots.run('live', () => busy.promise), slots.run('live', () => busy.promise)]
  const id = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  await runner.work(['client:C-1'], 'live')
  await until(async () => slots.waiting('live') === 1, 'it is claimed and waits')
  const cancelled = await call('POST', `/api/ledger/operations/${encodeURIComponent(id)}/cancel`)
  t.equal(cancelled.status, 202)
  busy.resolve()
  await Promise.all(others)
  await until(async () => slots.busy('live') === 0, 'its attempt has ended')
  t.same(errors, [])
})

t.test('an attempt that our fault breaks says so, when it is next, and why in the log', async t => {
  const fault = new TypeError('no trace can be made')
  const breaking = () => {
    throw fault
  }
  const { call, runner, errors } = await startWithOwnRunner(t, { at: breaking })
  const id = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  await runner.work(['client:C-1'], 'live')
  const shown = await until(async () => {
    const operation = await listed(call, 'C-1', id)
    return operation.last_error !== null && operation
  })
  t.match(shown, { last_error: 'LoanOps failed: its log has the reason', next_try_at: String })
  t.match(errors, [{ err: fault, operation: id.split('|')[1] }])
})

t.test('an operation that LoanOps itself cannot run does not say the ledger is down', async t => {
  const { call, db } = await startTestService(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    values (raw.new_id(), 'CLIENT_MERGE', 'api', 'client:C-1', 'C-1', '{}')`.execute(db)
  const shown = await until(async () => {
    const { body } = await call('GET', '/api/ledger/operations?external_id=C-1')
    return body.operations[0].last_error !== null && body.operations[0]
  })
  t.match(shown, { waiting_for: null, last_error: /no operation CLIENT_MERGE/ })
  t.match(await call('GET', '/readyz'), { status: 200, body: { ledger: { waiting_for: [] } } })
})

/** An api, and a runner that takes only what it is given. */
async function startWithOwnRunner(t: Test, traces: Partial<Traces> = {}) {
  const { db, call, config } = await startTestService(t, { ROLE: 'api' })
  const errors: object[] = []
  const log = { error: (object: object) => void errors.push(object), warn() {} }
  const ledger = openLedger(config)
  const pauses = watchPauses(db, log)
  const slots = openSlots(2)
  const metrics = openMetrics(allCounters)
  const boss = openQueue(config.DATABASE_URL, { name: 'test', isWorker: false, onError() {} })
  await boss.start()
  const runner = startRunner(db, boss, {
    ledger,
    pauses,
    slots,
    metrics,
    log,
    reference: openReference(ledger, config),
    deadlineSeconds: config.OPERATION_DEADLINE_SECONDS,
    setUpBehind: openSetUpBehind(db, config.LEDGER_TIMEZONE),
    traces: { ...(await openTraces(config, log)), ...traces },
    watch: openWatch(),
    catalogue: operationCatalogue(config.lenders),
    onFinal: notifyAll(FEATURES, metrics),
  })
  t.teardown(async () => {
    await runner.stop()
    await pauses.stop()
    await Promise.all([ledger.close(), boss.stop({ graceful: false })])
  })
  return { call, runner, slots, errors }
}
