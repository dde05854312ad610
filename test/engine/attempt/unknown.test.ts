import { sql } from 'kysely'
import t from 'tap'
import { freePort } from '../../../src/embedded/free-port.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { attemptsOf, ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import {
  approval,
  atLedger,
  clientData,
  control,
  DAY,
  disbursal,
  ledgerLoan,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { matchEach } from '../../support/match-each.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GOES_ON_WITHIN_MS = 10_000

// Each waits for its next try: together they take no longer than the longest.
t.jobs = 3

t.test('an operation never sent fails past its deadline even while the ledger is down', async t => {
  const nowhere = `http://127.0.0.1:${await freePort(0)}/fineract-provider/api/v1`
  const { call } = await startTestService(t, {
    LEDGER_URL: nowhere,
    OPERATION_DEADLINE_SECONDS: '1',
  })
  const client = newName('C')
  const record = await ending(call, await submit(call, 'CLIENT_CREATE', clientData(client)))
  t.match(record, {
    status: 'failed',
    error_message: /within 1 seconds: .*nothing listens at the ledger’s host/,
    failure_response: {
      httpStatusCode: '504',
      errors: [{ userMessageGlobalisationCode: 'loanops.deadline' }],
    },
  })
})

t.test(
  'an operation that passed its deadline while waiting behind another gets the ledger’s own answer',
  async t => {
    const service = await startTestService(t)
    const loan = await ledgerLoan(service, 'approved')
    await control(service, 'PUT', '/faults', [
      { kind: 'reset', match: { on: 'writes', externalId: loan } },
    ])
    const first = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    const follower = await submit(service.call, 'LOAN_APPROVE', approval(loan))
    await until(async () => (await attemptsOf(service, first))[0])
    await sql`
      update loanops.operation
       set accepted_at = accepted_at - interval '2 days'`.execute(service.db)
    await control(service, 'PUT', '/faults', [])
    await hurry(service, first)
    t.match(await ending(service.call, first), { status: 'success' })
    t.match(await ending(service.call, follower), {
      status: 'failed',
      failure_response: { httpStatusCode: '400' },
    })
  },
)

t.test('an operation whose outcome is unknown does not fail past its deadline', async t => {
  const service = await startTestService(t, { OPERATION_DEADLINE_SECONDS: '1' })
  const loan = await ledgerLoan(service, 'approved')
  await control(service, 'PUT', '/faults', [
    { kind: 'reset', match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(async () => (await attemptsOf(service, id)).length >= 3)
  t.match(await listed(service.call, loan, id), {
    status: 'processing',
    waiting_for: 'outcome_unknown',
  })
  await control(service, 'PUT', '/faults', [])
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('outcome_unknown stays the reason to wait even if the look to decide it fails', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service, 'approved')
  proxy.interferences = [
    { of: loan, on: 'writes', afterwards: true },
    { of: loan, on: 'reads', status: 401, body: '' },
  ]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(async () => (await attemptsOf(service, id)).length === 2)
  t.match(await listed(service.call, loan, id), { waiting_for: 'outcome_unknown' })
  proxy.interferences = []
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a write’s 500 counts as missing credentials if the next read says so', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service, 'approved')
  proxy.interferences = [
    { of: loan, on: 'writes', status: 500, body: '' },
    { of: loan, on: 'reads', status: 401, body: '' },
  ]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  const attempt = await until(async () => (await attemptsOf(service, id))[0])
  t.match(attempt, { outcome: 'misconfigured', http_status: 500 })
  t.match(await listed(service.call, loan, id), {
    waiting_for: 'ledger_credentials',
    last_error: /LEDGER_PASSWORD/,
  })
})

t.test('an operation that a checker must approve is sent once and found when approved', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service)
  await control(service, 'PUT', '/faults', [
    { kind: 'makerChecker', times: 1, match: { externalId: loan, on: 'writes' } },
  ])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  const waits = { status: 'processing', waiting_for: 'ledger_approval' }
  t.match(await listed(service.call, loan, id), waits)

  // One look fails, another finds it unapproved: neither sends a second request.
  proxy.interferences = [{ of: loan, on: 'reads', status: 503, body: '' }]
  await lookAgain(service, id)
  t.match(await listed(service.call, loan, id), waits)
  proxy.interferences = []
  await lookAgain(service, id)
  t.match(await listed(service.call, loan, id), waits)
  t.same(await writesOn(service, loan).then(all => all.filter(one => one === 'APPROVE/LOAN')), [])

  const approved = { approvedOnDate: DAY, expectedDisbursementDate: DAY }
  await atLedger(service, 'POST', `/loans/external-id/${loan}?command=approve`, approved)
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a key is given up after ten minutes of 425, and no sooner', async t => {
  const service = await startTestService(t)
  const loan = await ledgerLoan(service, 'approved')
  await control(service, 'PUT', '/faults', [
    { kind: 'stuck', times: 1, match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  const attempts = await until(async () => {
    const all = await attemptsOf(service, id)
    return all.length >= 3 && all
  })
  matchEach(t, attempts, [{ http_status: 425 }, { http_status: 425 }, { http_status: 425 }])
  t.equal(new Set(attempts.map(one => one.idempotency_key)).size, 1, 'the same key')
  await sql`
    update loanops.operation_attempt
     set started_at = started_at - interval '11 minutes'`.execute(service.db)
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
  t.equal((await writesOn(service, loan)).filter(one => one === 'DISBURSE/LOAN').length, 1)
})

t.test('while the ledger is down only probes are sent; once it is back, work resumes', async t => {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}/fineract-provider/api/v1`
  const service = await startTestService(t, { LEDGER_URL: url })
  const clients = Array.from({ length: 12 }, () => newName('C'))
  const ids: string[] = []
  for (const client of clients)
    ids.push(await submit(service.call, 'CLIENT_CREATE', clientData(client)))
  const ready = await until(async () => {
    const { body } = await service.call('GET', '/readyz')
    return body.ledger?.circuit === 'open' && body
  })
  t.match(ready, { status: 'ready', ledger: { last_error: String } })
  const breakerIs = async () =>
    /^loanops_ledger_breaker_open (\d)/m.exec((await service.call('GET', '/metrics')).body)?.[1]
  t.equal(await breakerIs(), '1')
  const waiting = await until(async () => {
    const all = await Promise.all(
      ids.map((id, n) => listed(service.call, clients[n] as string, id)),
    )
    return all.every(one => one.waiting_for === 'ledger_unavailable') && all
  })
  t.ok(
    waiting.every(one => one.attempts === 0),
    'what was never sent counts as no attempt',
  )
  const ledger = await startSandbox({ port })
  t.teardown(() => ledger.close())
  for (const id of ids) t.match(await ending(service.call, id), { status: 'success' })
  t.equal(await breakerIs(), '0')
})

t.test('a ledger that hung is called again soon after', async t => {
  const service = await startTestService(t, { LEDGER_TIMEOUT_MS: '1500' })
  const hung = async () => (await control(service, 'GET', '/counters')).faults.hang
  const loans = await Promise.all(Array.from({ length: 8 }, () => ledgerLoan(service, 'approved')))
  await control(service, 'PUT', '/faults', [{ kind: 'hang' }])
  const ids = await Promise.all(
    loans.map(loan => submit(service.call, 'LOAN_DISBURSE', disbursal(loan))),
  )
  await until(async () => (await service.call('GET', '/readyz')).body.ledger.circuit !== 'closed')
  const before = await hung()
  await until(async () => (await hung()) > before, 'a probe hangs')
  await control(service, 'PUT', '/faults', [])
  const from = Date.now()
  for (const id of ids) t.match(await ending(service.call, id), { status: 'success' })
  t.ok(Date.now() - from < GOES_ON_WITHIN_MS, `it took ${Date.now() - from} ms`)
})

/** Brings the next look forward and waits for its end. */
async function lookAgain(service: TestService, id: string): Promise<void> {
  await hurry(service, id)
  await until(async () => {
    const { rows } = await sql<{ isOver: boolean }>`
      select claimed_by is null and next_try_at > now() as "isOver" from loanops.operation
       where id = ${id.split('|')[1]}`.execute(service.db)
    return rows[0]?.isOver
  })
}
