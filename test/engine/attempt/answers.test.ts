import t from 'tap'
import { attemptsOf, ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import {
  approval,
  clientData,
  disbursal,
  ledgerLoan,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { containerBody, type Interference, ledgerBody } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { matchEach } from '../../support/match-each.ts'
import { until } from '../../support/until.ts'

type Case = Omit<Interference, 'of' | 'on'> & {
  what: string
  outcome: string
  waitingFor: string
  /** Whether the next write has another Idempotency-Key. */
  newKey?: boolean
}

const locked = ledgerBody(409, 'error.msg.loan.locked')
const conflict = ledgerBody(409, 'error.msg.platform.service.query.conflict')
const failed = ledgerBody(500, 'error.msg.platform.server.side.error')
const notAuthorized = ledgerBody(403, 'error.msg.not.authorized')
const checkerOnly = ledgerBody(403, 'error.msg.maker.checker.checker.only.cannot.initiate')
const outdated = ledgerBody(400, 'error.msg.password.outdated')
const jobRunning = ledgerBody(503, 'error.msg.sheduler.job.currently.running')
const commandLost = ledgerBody(400, 'error.msg.query.parameter.value.unsupported')
const keyTaken = ledgerBody(
  403,
  'error.msg.data.integrity.issue',
  'ERROR: duplicate key value violates unique constraint "unique_portfolio_command_source"',
)
const integrity = (message: string) => ledgerBody(403, 'error.msg.data.integrity.issue', message)
const readOnly = integrity('ERROR: cannot execute INSERT in a read-only transaction')
const brokenOff = ledgerBody(403, 'error.msg.persistence.error', 'This connection has been closed.')
const bare = (code: string) => ({ userMessageGlobalisationCode: code, defaultUserMessage: 'No.' })
const cutShort = bare('error.msg.invalid.request.body')
const unsent = { outcome: 'not_arrived', waitingFor: 'ledger_unavailable' }
const unknown = { outcome: 'unknown', waitingFor: 'outcome_unknown' }
const busy = { outcome: 'not_now', waitingFor: 'ledger_busy' }
const ourSetting = { outcome: 'misconfigured', waitingFor: 'ledger_credentials' }

/** After a 401, which is about all calls, see test/ledger/calls/login.test.ts. */
const CASES: Case[] = [
  {
    what: 'a loan locked by the close of business',
    status: 409,
    body: locked,
    ...busy,
    newKey: true,
  },
  { what: 'a lock that no call may overrule', status: 409, body: cutShort, ...busy, newKey: true },
  { what: 'a 429 of a proxy', status: 429, body: 'slow down', ...busy },
  { what: 'a 503 of a proxy', status: 503, body: '<h1>503</h1>', ...busy },
  { what: 'a 503 after the ledger did it', status: 503, body: '', afterwards: true, ...busy },
  { what: 'a 503 of the ledger’s own', status: 503, body: jobRunning, ...busy, newKey: true },
  { what: 'a collision', status: 409, body: conflict, ...unknown, newKey: true },
  { what: 'a key that is still processing', status: 425, body: {}, ...unknown },
  { what: 'a collision that a proxy speaks of', status: 409, body: '<h1>409</h1>', ...unknown },
  { what: 'a 500 of the container', status: 500, body: containerBody(500), ...unknown },
  { what: 'a 500 of the ledger’s own', status: 500, body: failed, ...unknown, newKey: true },
  {
    what: 'a 500 from the ledger’s store',
    status: 500,
    body: { Exception: 'No error message available' },
    isFromStore: true,
    ...unknown,
    newKey: true,
  },
  { what: 'a 502', status: 502, body: '<h1>Bad gateway</h1>', ...unknown },
  { what: 'a 502 after the ledger did it', status: 502, body: '', afterwards: true, ...unknown },
  { what: 'a 504', status: 504, body: '<h1>Gateway time-out</h1>', ...unknown },
  { what: 'a 504 after the ledger did it', status: 504, body: '', afterwards: true, ...unknown },
  { what: 'a 200 that is a page', status: 200, body: '<h1>Welcome</h1>', ...unknown },
  { what: 'a 200 that is no result', status: 200, body: { status: 'maintenance' }, ...unknown },
  { what: 'a connection reset before', ...unknown },
  { what: 'an answer lost after the ledger did it', afterwards: true, ...unknown },
  { what: 'no answer in time', hangs: true, ...unknown },
  { what: 'no answer in time after the ledger did it', hangs: true, afterwards: true, ...unknown },
  { what: 'a permission that our user lacks', status: 403, body: notAuthorized, ...ourSetting },
  {
    what: 'a command that our user may only approve',
    status: 403,
    body: checkerOnly,
    ...ourSetting,
  },
  { what: 'a password of ours that is too old', status: 400, body: outdated, ...ourSetting },
  {
    what: 'a second factor that our user lacks',
    status: 403,
    body: containerBody(403),
    ...ourSetting,
  },
  { what: 'a 400 of the container', status: 400, body: containerBody(400), ...ourSetting },
  { what: 'a 404 of the container', status: 404, body: containerBody(404), ...ourSetting },
  { what: 'a 404 that is a page', status: 404, body: '<h1>Not found</h1>', ...ourSetting },
  { what: 'a 405', status: 405, body: containerBody(405), ...ourSetting },
  { what: 'a command that was lost', status: 400, body: commandLost, ...ourSetting },
  { what: 'a request that was cut short', status: 400, body: cutShort, ...unsent },
  { what: 'a key that another call stored', status: 403, body: keyTaken, ...unknown },
  {
    what: 'a database of the ledger’s that is read-only',
    status: 403,
    body: readOnly,
    ...unknown,
    newKey: true,
  },
  {
    what: 'a database of the ledger’s that was lost after the ledger did it',
    status: 403,
    body: brokenOff,
    afterwards: true,
    ...unknown,
  },
  { what: 'a 415', status: 415, body: containerBody(415), ...ourSetting },
  { what: 'a redirect to somewhere', status: 302, body: '', ...ourSetting },
]

/** All tests but the first one share this service: each has loans or clients of its own. */
const { proxy, service } = await throughProxy(t)

t.test('an answer that is not the ledger’s own decision on an operation never ends it', async t => {
  const LEDGER_CONCURRENCY = '8'
  const patient = await throughProxy(t, { LEDGER_CONCURRENCY, LEDGER_TIMEOUT_MS: '60000' })
  const impatient = await throughProxy(t, { LEDGER_CONCURRENCY, LEDGER_TIMEOUT_MS: '1000' })
  // More at once would fail often enough in a row to open the circuit breaker.
  t.jobs = 3

  for (const { what, outcome, waitingFor, newKey = false, ...interference } of CASES) {
    t.test(`after ${what} the operation waits for ${waitingFor} and is applied once`, async t => {
      const { proxy, service } = interference.hangs ? impatient : patient
      const { call } = service
      const loan = await ledgerLoan(service, 'approved')
      const fault: Interference = { of: loan, on: 'writes', ...interference }
      // If the ledger applied it, the next look must not find it before we have seen the wait.
      const { promise: after, resolve: letGo } = Promise.withResolvers<void>()
      const blind: Interference = { of: loan, on: 'reads', after }
      proxy.interferences.push(fault, ...(interference.afterwards ? [blind] : []))
      const id = await submit(call, 'LOAN_DISBURSE', disbursal(loan))
      const first = await until(async () => (await attemptsOf(service, id))[0])
      t.match(first, { method: 'POST', http_status: interference.status ?? null, outcome })
      const waiting = await listed(call, loan, id)
      t.match(waiting, { status: 'processing', waiting_for: waitingFor, last_error: String })

      proxy.interferences = proxy.interferences.filter(one => one !== fault && one !== blind)
      letGo()
      if (waitingFor === 'ledger_credentials') {
        t.ok(Date.parse(waiting.next_try_at) > Date.now() + 50_000, 'tried again once a minute')
        await hurry(service, id)
      }
      t.match(await ending(call, id), {
        status: 'success',
        success_response: { subResourceId: Number },
      })
      t.equal((await writesOn(service, loan)).filter(one => one.startsWith('DISBURSE')).length, 1)
      const keys = (await attemptsOf(service, id)).flatMap(one => one.idempotency_key ?? [])
      if (!interference.afterwards) t.equal(new Set(keys).size > 1, newKey, 'a new key')
    })
  }
})

t.test('an operation that the ledger refuses fails at once, in the ledger’s words', async t => {
  const refusals = [
    { status: 400, body: ledgerBody(400, 'error.msg.a') },
    { status: 403, body: ledgerBody(403, 'error.msg.b') },
    { status: 403, body: ledgerBody(403, 'error.msg.data.integrity.issue') },
    { status: 403, body: integrity('ERROR: value too long for type character varying(50)') },
    { status: 404, body: ledgerBody(404, 'error.msg.c') },
    { status: 400, body: { ...bare('error.msg.d'), errors: undefined } },
  ]
  for (const { status, body } of refusals) {
    const loan = await ledgerLoan(service, 'approved')
    proxy.interferences = [{ of: loan, on: 'writes', status, body }]
    const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    const message = body.errors?.[0] ?? bare('error.msg.d')
    t.match(await ending(service.call, id), {
      status: 'failed',
      failure_response: { httpStatusCode: String(status), errors: [message] },
      error_message: `status ${status}: ${message?.defaultUserMessage}`,
    })
    matchEach(t, await attemptsOf(service, id), [{ outcome: 'refused', http_status: status }])
  }
})

t.test('a read that fails before the write is reported and counts as no attempt', async t => {
  const reads = [
    { status: 503, waitingFor: 'ledger_busy' },
    { status: 500, waitingFor: 'ledger_unavailable' },
    { status: 404, waitingFor: 'ledger_credentials' },
    { status: 403, waitingFor: 'ledger_credentials' },
  ]
  for (const { status, waitingFor } of reads) {
    const loan = await ledgerLoan(service)
    proxy.interferences = [{ of: loan, on: 'reads', status, body: containerBody(status) }]
    const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
    await until(async () => (await attemptsOf(service, id))[0])
    t.match(await listed(service.call, loan, id), { waiting_for: waitingFor })
    proxy.interferences = []
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
  }
})

t.test('a look that breaks off after a container’s 500 is reported as our own', async t => {
  const client = newName('C')
  const unlikeAny = { id: 7, externalId: client, firstname: 7 }
  proxy.interferences = [
    { of: client, on: 'writes', status: 500, body: containerBody(500) },
    { of: client, on: 'reads', status: 200, body: unlikeAny, times: 2 },
    // The attempts after the next must not report anything yet.
    { of: client, on: 'reads', hangs: true },
  ]
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  const first = await until(async () => (await attemptsOf(service, id))[0])
  t.match(first, { method: 'POST', http_status: 500, outcome: 'unknown' })
  t.match(await listed(service.call, client, id), {
    waiting_for: 'outcome_unknown',
    last_error: 'LoanOps failed: its log has the reason',
  })
  await hurry(service, id)
  await until(async () => (await attemptsOf(service, id))[1])
  t.match(await listed(service.call, client, id), { waiting_for: 'outcome_unknown' }, 'nor a look')
})
