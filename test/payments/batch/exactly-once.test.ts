import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, eventA } from '../../support/payments/gateway-events.ts'
import {
  allSaved,
  LENDER,
  paymentService,
  runBatch,
  withLedger,
} from '../../support/payments/payments.ts'
import { startProcessFor } from '../../support/process.ts'
import { caller, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** An API here, workers in processes of their own. */
async function withWorkers(t: Test) {
  const { url: databaseUrl, db } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  const env = testEnv(databaseUrl, ledger.url)
  const config = readConfig({ ...env, ROLE: 'api' })
  const api = await startRole(config, logger('silent'))
  t.teardown(async () => {
    await api.close()
    await ledger.close()
  })
  const service = { url: api.url, db, databaseUrl, ledger, config, call: caller(api.url) }
  return { ...withLedger(service), worker: () => startProcessFor(t, 'worker', env) }
}

/** Workers one after the other, each killed as soon as it has a batch; the last one lives. */
async function killInBatches(
  { db, worker }: Awaited<ReturnType<typeof withWorkers>>,
  kills: number,
) {
  for (let n = 1; n <= kills; n++) {
    const doomed = worker()
    await until(async () => {
      const { rows } = await sql`
        select from core.batch_run where status = 'running' and claimed_until > now()`.execute(db)
      return rows.length > 0 ? true : undefined
    }, 'it has a batch')
    await doomed.kill('SIGKILL')
    await expireLeases(db)
  }
  worker()
}

t.test(
  'a payment sent a thousand times, through batches of workers that are killed, is one repayment',
  async t => {
    const service = await withWorkers(t)
    await service.loan('L-1')
    const killed = killInBatches(service, 3)
    const events = [
      capturedA({ id: 'pay_X', loan: 'L-1', amount: 123_456 }),
      eventA('order.paid', { id: 'pay_X', loan: 'L-1', amount: 123_456 }),
      eventA('payment_link.paid', { id: 'pay_X', amount: 123_456 }),
    ]
    const batches: Promise<unknown>[] = []
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        if (i % 250 === 0) batches.push(service.batch())
        // Half of them with an event id of their own, as a gateway that calls again sends them.
        const headers = i % 2 ? { 'x-gatewaya-event-id': `evt_${i}` } : {}
        return service.webhook('gateway_a', events[i % 3], { ...LENDER, headers })
      }),
    )
    t.ok(answers.every(({ status }) => status === 200))
    await killed
    await Promise.all(batches)
    // The last worker that was killed may have had events, which wait for its heartbeat to run out.
    await allSaved(service.db)
    await service.batch()
    matchEach(t, await service.repayments(), [
      {
        externalId: 'gateway_a-pay_X',
        amount: '1234.56',
        date: '2026-02-05',
        receiptNumber: 'pay_X',
      },
    ])
    t.equal((await service.events('pay_X')).length, 503)
  },
)

t.test('a ledger that drops, resets, refuses and repeats answers posts a payment once', async t => {
  const service = await paymentService(t, { LEDGER_CONCURRENCY: '8' })
  for (let i = 0; i < 8; i++) await service.loan(`L-${i}`)
  await service.faults([
    { kind: 'drop', rate: 0.15, match: { on: 'writes' } },
    { kind: 'reset', rate: 0.1 },
    { kind: 'error', status: 502, when: 'after', rate: 0.1, match: { on: 'writes' } },
    { kind: 'conflict', rate: 0.1, match: { on: 'writes' } },
  ])
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      service.webhook(
        'gateway_a',
        capturedA({ id: `pay_${i}`, loan: `L-${i % 8}`, amount: 10_000 + i }),
        LENDER,
      ),
    ),
  )
  await service.batch()
  await until(async () => {
    const { body } = await service.call('GET', '/api/payments?state=posted&limit=200')
    return body.payments.length === 40 ? true : undefined
  }, 'all are posted')
  const booked = await service.repayments()
  t.equal(booked.length, 40)
  t.equal(new Set(booked.map(one => one.externalId)).size, 40)
})

t.test(
  'after a worker is killed in a batch, another one ends the batch, and each payment is posted once',
  async t => {
    const service = await withWorkers(t)
    for (let i = 0; i < 4; i++) await service.loan(`L-${i}`)
    await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        service.webhook('gateway_a', capturedA({ id: `pay_${i}`, loan: `L-${i % 4}` }), LENDER),
      ),
    )
    await service.faults([{ kind: 'latency', ms: 150, when: 'after', match: { on: 'writes' } }])
    const doomed = service.worker()
    await allSaved(service.db)
    const batch = runBatch(service.call)
    await until(
      async () => ((await service.repayments()).length > 4 ? true : undefined),
      'some are booked',
    )
    await doomed.kill('SIGKILL')
    await expireLeases(service.db)
    service.worker()
    const run = await batch
    t.match(run, { status: 'completed', posted: 24 })
    const booked = await service.repayments()
    t.equal(booked.length, 24)
    const { rows } = await sql`
      select from core.transaction where state = 'posted'`.execute(service.db)
    t.equal(rows.length, 24)
  },
)

t.test('a payment assigned during a batch is posted once', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const ids = Array.from({ length: 12 }, (_, i) => `pay_${i}`)
  for (const id of ids) await service.webhook('gateway_a', capturedA({ id }), LENDER)
  await service.batch()
  // A busy service answers 503, after which callers try again.
  const assign = (id: string) =>
    until(async () => (await service.assign(id, 'L-1')).status !== 503, `${id} is assigned`)
  await Promise.all([
    service.batch(),
    ...ids.flatMap(id => [assign(id), assign(id)]),
    service.batch(),
  ])
  await service.batch()
  const booked = await service.repayments()
  t.same(booked.map(one => one.externalId).sort(), ids.map(id => `gateway_a-${id}`).sort())
})
