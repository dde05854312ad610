import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Trx } from '../../../src/database/database.ts'
import { type Claim, claimHeads } from '../../../src/engine/claim/claim.ts'
import { decide } from '../../../src/engine/finish/decide.ts'
import { recordEnds } from '../../../src/engine/finish/finish.ts'
import type { Answer } from '../../../src/ledger/answers/answer.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import {
  attemptsOf,
  ending,
  enoughToTakeItForDown,
  hurry,
  listed,
  submit,
} from '../../support/engine/operations.ts'
import { clientData, control, newName } from '../../support/ledger/loans.ts'
import { containerBody, ledgerBody } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GOES_ON_WITHIN_MS = 20_000
/** While the ledger is down, a few waiting operations are sent as a test of its recovery. */
const MORE_THAN_ARE_TESTED = 6

// Each waits for its next try: together they take no longer than the longest.
t.jobs = 3

t.test(
  'a ledger that answers with a container’s error page is reported, left alone, and soon used again',
  async t => {
    const { proxy, service } = await throughProxy(t)
    const page = { of: '', status: 500, body: containerBody(500) }
    proxy.interferences = [
      { ...page, on: 'writes' },
      { ...page, on: 'reads' },
    ]
    await isToldAndSpared(t, service, async () => {
      proxy.interferences = []
    })
  },
)

t.test(
  'a ledger of which only the writes fail with 500 is reported, left alone, and soon used again',
  async t => {
    const service = await startTestService(t)
    await control(service, 'PUT', '/faults', [
      { kind: 'error', status: 500, match: { on: 'writes' } },
    ])
    await isToldAndSpared(t, service, () => control(service, 'PUT', '/faults', []))
  },
)

t.test('a ledger whose database cannot write is reported, left alone, and soon used', async t => {
  const { proxy, service } = await throughProxy(t)
  const why = 'ERROR: cannot execute INSERT in a read-only transaction'
  const body = ledgerBody(403, 'error.msg.data.integrity.issue', why)
  proxy.interferences = [{ of: '', on: 'writes', status: 403, body }]
  const mend = async () => {
    proxy.interferences = []
  }
  await isToldAndSpared(t, service, mend, /database could not do it: ERROR: cannot execute/)
})

t.test('one client for whom the ledger always fails delays nobody else', async t => {
  const service = await startTestService(t)
  const poisoned = newName('C')
  await control(service, 'PUT', '/faults', [
    { kind: 'error', status: 500, match: { externalId: poisoned } },
  ])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(poisoned))
  await until(async () => {
    await hurry(service, id)
    return (await attemptsOf(service, id)).length > 6
  })
  t.equal((await ledgerState(service)).circuit, 'closed')
  const other = await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
  t.match(await ending(service.call, other), { status: 'success' })
})

t.test('clients for whom the ledger always fails delay nobody else, however many', async t => {
  const service = await startTestService(t)
  const poisoned = Array.from({ length: 12 }, (_, n) => newName(`C-0${n}`))
  const match = (externalId: string) => ({ kind: 'error', status: 500, match: { externalId } })
  await control(service, 'PUT', '/faults', poisoned.map(match))
  const failing = await Promise.all(
    poisoned.map(client => submit(service.call, 'CLIENT_CREATE', clientData(client))),
  )
  await until(async () => (await ledgerState(service)).circuit === 'open')

  const others = await Promise.all(
    Array.from({ length: 4 }, () =>
      submit(service.call, 'CLIENT_CREATE', clientData(newName('C-9'))),
    ),
  )
  const from = Date.now()
  for (const id of others) t.match(await ending(service.call, id), { status: 'success' })
  t.ok(Date.now() - from < GOES_ON_WITHIN_MS, `it took ${Date.now() - from} ms`)

  const before = await Promise.all(failing.map(id => attemptsOf(service, id)))
  await until(async () => {
    for (const id of failing) await hurry(service, id)
    const now = await Promise.all(failing.map(id => attemptsOf(service, id)))
    return now.every((attempts, n) => attempts.length > (before[n]?.length ?? 0))
  }, 'each fails again')
  t.equal((await ledgerState(service)).circuit, 'closed', 'they no longer count as an outage')
})

t.test('equal attempts in a row share a row that has their number, start and end', async t => {
  const service = await startTestService(t)
  await control(service, 'PUT', '/faults', [{ kind: 'error', status: 500 }])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
  const first = await until(async () => (await rowsOf(service, id))[0])
  const rows = await until(async () => {
    await hurry(service, id)
    const rows = await rowsOf(service, id)
    return (rows[0]?.times ?? 0) >= 4 && rows
  })
  t.equal(rows.length, 1)
  const [{ started_at, ended_at, ...rest }] = rows as [Row]
  t.match(rest, { attempt: 1, method: 'POST', http_status: 500, outcome: 'unknown' })
  t.same(started_at, first.started_at)
  t.ok(ended_at > first.ended_at)
})

t.test('how long the ledger has answered 425 is counted per key', async t => {
  const { db } = await freshDatabase(t)
  const keys = ['key-1', 'key-1', 'key-2', 'key-2']
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    values (gen_random_uuid(), 'CLIENT_CREATE', 'api', 'client:C', 'C', '{}')`.execute(db)
  for (const key of keys) {
    const { claims } = await claimHeads(db, crypto.randomUUID(), ['client:C'])
    const [claim] = claims as [Claim]
    const ended = { claim, key, answer: tooEarly, decision: decide(claim, key, tooEarly) }
    await db.transaction().execute((trx: Trx) => recordEnds(trx, [ended]))
    await sql`update loanops.operation set next_try_at = now()`.execute(db)
  }
  const { rows } = await sql`
    select idempotency_key, times from loanops.operation_attempt order by attempt`.execute(db)
  t.same(rows, [
    { idempotency_key: 'key-1', times: 2 },
    { idempotency_key: 'key-2', times: 2 },
  ])
  const { claims } = await claimHeads(db, crypto.randomUUID(), ['client:C'])
  t.equal(claims[0]?.tooEarly?.key, 'key-2')
})

const tooEarly: Answer = {
  method: 'POST',
  path: '/clients',
  status: 425,
  body: null,
  outcome: 'unknown',
  code: null,
  message: 'still processing',
  isRecorded: false,
  isFromStore: false,
  leftNothing: false,
}

async function isToldAndSpared(
  t: Test,
  service: TestService,
  mend: () => Promise<void>,
  why = /HTTP 500/,
) {
  const ids = await enoughToTakeItForDown(service.call)
  const open = await until(async () => {
    const state = await ledgerState(service)
    return state.circuit === 'open' && state
  })
  t.match(open, { last_error: why })
  const { body: metrics } = await service.call('GET', '/metrics')
  t.match(metrics, /^loanops_ledger_breaker_open 1$/m)
  t.match(await service.call('GET', '/readyz'), { status: 200 })

  const late = await Promise.all(
    Array.from({ length: MORE_THAN_ARE_TESTED }, async () => {
      const client = newName('C')
      return { client, id: await submit(service.call, 'CLIENT_CREATE', clientData(client)) }
    }),
  )
  await until(async () => {
    const found = await Promise.all(late.map(({ client, id }) => listed(service.call, client, id)))
    return found.some(({ waiting_for }) => waiting_for === 'ledger_unavailable')
  }, 'one is not sent')

  await mend()
  const from = Date.now()
  for (const id of [...ids, ...late.map(({ id }) => id)])
    t.match(await ending(service.call, id), { status: 'success' })
  t.ok(Date.now() - from < GOES_ON_WITHIN_MS, `it took ${Date.now() - from} ms`)
  t.match(await ledgerState(service), { circuit: 'closed' })
}

type Row = { times: number; started_at: Date; ended_at: Date }

async function rowsOf({ db }: TestService, trackingId: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select attempt, method, http_status, outcome, times, started_at, ended_at from ops.operation_attempt
     where tracking_id = ${trackingId} and ended_at is not null order by attempt`.execute(db)
  return rows
}

const ledgerState = async ({ call }: TestService) => (await call('GET', '/readyz')).body.ledger
