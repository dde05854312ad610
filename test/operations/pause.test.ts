import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { endClaims } from '../support/engine/leases.ts'
import { attemptsOf, ending, isPauseNoticed, listed, submit } from '../support/engine/operations.ts'
import {
  approval,
  clientData,
  control,
  givenLoan,
  newName,
  writesOn,
} from '../support/ledger/loans.ts'
import { startSlowTls } from '../support/ledger/slow-tls.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { matchEach } from '../support/match-each.ts'
import { startProcessFor } from '../support/process.ts'
import { type Call, startTestService, type TestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const NOBODY_WRITES_AFTER_MS = 2_000
const CONTINUES_WITHIN_MS = 15_000
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const pause = async (call: Call, body: object = { reason: 'close of books' }) =>
  (await call('POST', '/api/ledger/pause', body)).body
const resume = async (call: Call) => (await call('POST', '/api/ledger/resume')).body
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

const newClient = async (call: Call) => {
  const client = newName('C')
  return { client, id: await submit(call, 'CLIENT_CREATE', clientData(client)) }
}

// Each waits for a pause to be noticed, and for its end.
t.jobs = 3

t.test('a pause answers with its reason and times, and a second one replaces them', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const first = await pause(call)
  t.match(first, { paused: true, reason: 'close of books', since: ISO, until: null })
  const end = inMs(60_000)
  t.same(await pause(call, { reason: 'upgrade', until: end }), {
    paused: true,
    reason: 'upgrade',
    since: first.since,
    until: end,
  })
  const nothing = { paused: false, reason: null, since: null, until: null }
  for (let time = 0; time < 2; time++) {
    const { status, body } = await call('POST', '/api/ledger/resume')
    t.same([status, body], [200, nothing])
  }
})

t.test('a pause needs a reason, and an end in the future with its zone', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  for (const [body, path] of [
    [{}, '/reason'],
    [{ reason: '' }, '/reason'],
    [{ reason: 'x', until: inMs(-1_000) }, '/until'],
    [{ reason: 'x', until: '0001-01-01T00:00:00Z' }, '/until'],
    [{ reason: 'x', until: '2999-01-01T00:00:00' }, '/until'],
    [{ reason: 'x', until: 'tomorrow' }, '/until'],
    [{ reason: 'x', for: 60 }, '/for'],
  ] as const) {
    const answer = await call('POST', '/api/ledger/pause', body)
    matchEach(t, [answer.status, answer.body.errors], [400, [{ path }]])
  }
  const { rows } = await sql`select from ops.ledger_pause`.execute(db)
  t.equal(rows.length, 0)
})

t.test('an operation accepted during a pause waits for its end, and is done soon', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  await pause(service.call)
  const { client, id } = await newClient(service.call)
  const approve = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const second = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  t.same((await ending(service.call, id, 3)).status, 'processing')
  t.equal((await listed(service.call, client, id)).waiting_for, 'paused')
  for (const one of [approve, second])
    t.match(await listed(service.call, loan, one), { waiting_for: 'paused', attempts: 0 })
  t.same(await writesOn(service, client), [])
  const from = Date.now()
  await resume(service.call)
  for (const one of [id, approve]) t.match(await ending(service.call, one), { status: 'success' })
  t.ok(Date.now() - from < CONTINUES_WITHIN_MS)
  matchEach(t, await attemptsOf(service, id), [{ outcome: 'done' }])
})

t.test('a pause ends by itself at its time', async t => {
  const service = await startTestService(t)
  await pause(service.call)
  const { client, id } = await newClient(service.call)
  t.equal((await listed(service.call, client, id)).waiting_for, 'paused')
  // Only now: on a busy machine, it might be over before the operation is accepted.
  t.match(await pause(service.call, { reason: 'short', until: inMs(2_500) }), { paused: true })
  t.match(await ending(service.call, id), { status: 'success' })
  t.equal((await service.call('GET', '/readyz')).body.ledger.pause, null)
})

/** An update of a loan whose attempt reads the loan until `letGo`. */
async function readingUpdate(t: Test) {
  // Longer than a test holds the read.
  const { proxy, service } = await throughProxy(t, { LEDGER_TIMEOUT_MS: '60000' })
  const loan = await givenLoan(service.call)
  const { promise: after, resolve: letGo } = Promise.withResolvers<void>()
  proxy.interferences = [{ of: loan, on: 'reads', after }]
  const update = { externalId: loan, principal: 40_000 }
  const id = await submit(service.call, 'LOAN_UPDATE', update)
  await until(async () => proxy.underWay > 0, 'it reads')
  return { service, loan, id, letGo }
}

async function endsUnwritten(
  t: Test,
  { service, loan, id }: Omit<Awaited<ReturnType<typeof readingUpdate>>, 'letGo'>,
) {
  await until(async () => !(await isClaimed(service, id)), 'the attempt has ended')
  t.match(await listed(service.call, loan, id), {
    status: 'processing',
    waiting_for: 'paused',
    attempts: 0,
  })
  t.same(await attemptsOf(service, id), [])
  t.same(await writesOn(service, loan), ['CREATE/LOAN'])
  await resume(service.call)
  t.match(await ending(service.call, id), { status: 'success' })
}

t.test('an attempt that reads while the pause begins does not write', async t => {
  const { letGo, ...update } = await readingUpdate(t)
  await pause(update.service.call)
  await until(() => isPauseNoticed(update.service))
  letGo()
  await endsUnwritten(t, update)
})

t.test('a write that is still connecting while the pause begins is not sent', async t => {
  const tls = await startSlowTls(t)
  const service = await startTestService(t, tls.settings)
  tls.target = service.ledger.url
  // From then on, nothing else has to be read before a client is written.
  t.match(await ending(service.call, (await newClient(service.call)).id), { status: 'success' })
  const { promise, resolve: open } = Promise.withResolvers<void>()
  tls.open = promise
  const { client, id } = await newClient(service.call)
  await until(async () => (await isClaimed(service, id)) && tls.waiting > 0, 'it connects')
  await pause(service.call)
  await until(() => isPauseNoticed(service))
  open()
  await until(async () => !(await isClaimed(service, id)), 'the attempt has ended')
  t.same(await writesOn(service, client), [])
  t.match(await listed(service.call, client, id), { waiting_for: 'paused', attempts: 0 })
  await resume(service.call)
  t.match(await ending(service.call, id), { status: 'success' })
  t.same(await writesOn(service, client), ['CREATE/CLIENT'])
})

t.test('an attempt that waits for a lock while the pause begins does not write', async t => {
  const { letGo, ...update } = await readingUpdate(t)
  const { service, id } = update
  await service.db.transaction().execute(async trx => {
    await sql`select from loanops.operation where id = ${id.split('|')[1]} for update`.execute(trx)
    letGo()
    await untilSessionsWait(service.db)
    await pause(service.call)
    // No longer: after four seconds, the statement that waits would be cancelled.
    await until(() => isPauseNoticed(service))
  })
  await endsUnwritten(t, update)
})

t.test('under load, no process begins a write two seconds after the pause began', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await control(service, 'PUT', '/faults', [{ kind: 'latency', ms: 500, match: { on: 'writes' } }])
  const made = await Promise.all(Array.from({ length: 100 }, () => newClient(service.call)))
  for (let n = 0; n < 2; n++)
    startProcessFor(t, 'worker', testEnv(service.databaseUrl, service.ledger.url))
  await until(async () => (await writes(service)) > 0, 'they write')
  await pause(service.call)
  await elapsed(NOBODY_WRITES_AFTER_MS)
  const before = await writes(service)
  t.ok(before < made.length)
  await elapsed(NOBODY_WRITES_AFTER_MS)
  t.equal(await writes(service), before)
  await control(service, 'PUT', '/faults', [])
  await resume(service.call)
  const ends = await Promise.all(made.map(({ id }) => ending(service.call, id)))
  t.ok(ends.every(({ status }) => status === 'success'))
  t.equal(await writes(service), made.length)
})

t.test('a pause outlives kill -9 of every worker, and nothing is lost or doubled', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const env = testEnv(service.databaseUrl, service.ledger.url)
  const hang = { kind: 'hang', applied: true, match: { on: 'writes' } }
  await control(service, 'PUT', '/faults', [hang])
  const victim = startProcessFor(t, 'worker', env)
  const applied = await newClient(service.call)
  await until(async () => (await writes(service)) === 1)
  await pause(service.call)
  const waiting = await newClient(service.call)
  await victim.kill('SIGKILL')
  await control(service, 'PUT', '/faults', [])
  await endClaims(service)
  startProcessFor(t, 'worker', env)
  // Looks go on: the ledger has it.
  t.match(await ending(service.call, applied.id), { status: 'success' })
  t.equal((await listed(service.call, waiting.client, waiting.id)).waiting_for, 'paused')
  t.equal(await writes(service), 1)
  await resume(service.call)
  t.match(await ending(service.call, waiting.id), { status: 'success' })
  t.same(await writesOn(service, applied.client), ['CREATE/CLIENT'])
})

t.test('an unknown outcome stays unknown during a pause, and is not written again', async t => {
  const service = await startTestService(t)
  const { client, id } = await lostWrite(service)
  await until(async () => (await looks(service)) > 0, 'it is looked for')
  t.equal((await listed(service.call, client, id)).waiting_for, 'outcome_unknown')
  t.same(await writesOn(service, client), [])
  await resume(service.call)
  t.match(await ending(service.call, id), { status: 'success' })
  t.same(await writesOn(service, client), ['CREATE/CLIENT'])
})

t.test('an operator’s decision to retry outlasts the pause', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  await control(service, 'PUT', '/faults', [
    { kind: 'stuck', match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await listed(service.call, loan, id)).waiting_for !== null)
  await control(service, 'PUT', '/faults', [])
  await pause(service.call)
  const path = `/api/ledger/operations/${encodeURIComponent(id)}/resolve`
  t.equal((await service.call('POST', path, { outcome: 'retry' })).status, 202)
  await until(async () => (await resolutionOf(service, id))?.isWaiting, 'it was held back')
  t.equal((await resolutionOf(service, id))?.resolution, 'retry')
  await resume(service.call)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('an operation that an operator declares failed ends during a pause', async t => {
  const service = await startTestService(t)
  const { id } = await lostWrite(service)
  const path = `/api/ledger/operations/${encodeURIComponent(id)}/resolve`
  t.equal((await service.call('POST', path, { outcome: 'failed' })).status, 202)
  t.match(await ending(service.call, id), { status: 'failed' })
})

t.test('the time of a pause does not count towards the deadline', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  // The ledger says "not now": nothing has arrived, and the operation has been tried.
  await control(service, 'PUT', '/faults', [
    { kind: 'locked', match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id)).length > 0)
  await pause(service.call)
  await until(async () => (await listed(service.call, loan, id)).waiting_for === 'paused')
  await sql`update loanops.operation set accepted_at = accepted_at - interval '2 days',
    next_try_at = now() where status = 'processing'`.execute(service.db)
  await sql`update loanops.ledger_pause set since = since - interval '47 hours'`.execute(service.db)
  await elapsed(NOBODY_WRITES_AFTER_MS)
  await control(service, 'PUT', '/faults', [])
  await resume(service.call)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('readyz and a gauge report a pause, in an api too, and intake goes on', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await until(async () => !(await isPauseNoticed(service)))
  await pause(service.call, { reason: 'the secret of Asha Rao' })
  await newClient(service.call)
  const { status, body } = await service.call('GET', '/readyz')
  t.equal(status, 200)
  t.match(body, {
    status: 'ready',
    ledger: {
      pause: /^writes have been paused since .*Z, until it is resumed$/,
      waiting_for: ['paused'],
    },
  })
  t.notMatch(JSON.stringify(body), /Asha/)
  await until(() => isPauseNoticed(service))
  await resume(service.call)
  t.ok(await until(async () => !(await isPauseNoticed(service))))
})

t.test('the audit records who paused and resumed, and why', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await pause(service.call)
  await resume(service.call)
  const { rows } = await sql`
    select action, actor, subject, detail from ops.audit order by at`.execute(service.db)
  matchEach(t, rows, [
    {
      action: 'ledger.pause',
      actor: 'internal-token',
      subject: 'ledger',
      detail: { reason: 'close of books', until: null },
    },
    { action: 'ledger.resume', actor: 'internal-token', subject: 'ledger' },
  ])
})

const elapsed = (ms: number) => {
  const end = Date.now() + ms
  return until(async () => Date.now() >= end)
}

async function writes(service: TestService): Promise<number> {
  return (await control(service, 'GET', '/counters')).calls['CREATE/CLIENT'] ?? 0
}

/** How often the ledger did not have what was looked for. */
async function looks(service: TestService): Promise<number> {
  return (await control(service, 'GET', '/counters')).answers['404'] ?? 0
}

/** A client whose creation was lost on its way, and whose look failed; then the ledger is paused. */
async function lostWrite(service: TestService) {
  await control(service, 'PUT', '/faults', [
    { kind: 'error', status: 502, match: { on: 'writes' } },
    { kind: 'error', status: 502, match: { on: 'reads' } },
  ])
  const made = await newClient(service.call)
  await until(
    async () =>
      (await listed(service.call, made.client, made.id)).waiting_for === 'outcome_unknown',
  )
  await pause(service.call)
  // An attempt under way may still look and write until the pause takes effect.
  await elapsed(NOBODY_WRITES_AFTER_MS)
  await control(service, 'PUT', '/faults', [])
  return made
}

async function isClaimed({ db }: TestService, trackingId: string): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.operation
     where id = ${trackingId.split('|')[1]} and claimed_by is not null`.execute(db)
  return rows.length === 1
}

async function resolutionOf({ db }: TestService, trackingId: string) {
  const { rows } = await sql<{ resolution: string | null; isWaiting: boolean }>`
    select resolution, claimed_by is null and next_try_at > now() as "isWaiting"
      from loanops.operation where id = ${trackingId.split('|')[1]}`.execute(db)
  return rows[0]
}
