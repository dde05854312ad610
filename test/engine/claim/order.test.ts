import { sql } from 'kysely'
import t from 'tap'
import { attemptsOf, ending, listed, submit } from '../../support/engine/operations.ts'
import {
  approval,
  clientData,
  control,
  disbursal,
  ledgerLoan,
  loanData,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SUCCESSOR_MS = 50
/** Whatever slows this machine down slows both. */
const SLOWER_THAN_OTHERS = 3
/** The sweep finds a lost wake-up after two seconds at the earliest. */
const SOONER_THAN_SWEEP_MS = 1_000

t.test('the median successor starts within 50 ms of the end before it', async t => {
  const service = await startTestService(t)
  const loan = await ledgerLoan(service)
  const ids: string[] = []
  for (let n = 0; n < 12; n++) {
    ids.push(
      await submit(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 60_000 + n }),
      await submit(service.call, 'CLIENT_CREATE', clientData(`first-${n}`)),
    )
  }
  for (const id of ids) t.match(await ending(service.call, id), { status: 'success' })
  const { rows } = await sql<{ successors: number; others: number }>`
    with start as (
      select o.external_id, a.started_at - o.accepted_at as since_accepted,
             a.started_at - lag(o.processed_at) over (partition by o.external_id order by o.seq) as since_end
        from ops.operation o join ops.operation_attempt a using (tracking_id))
    select extract(milliseconds from percentile_cont(0.5) within group (order by since_end)
             filter (where external_id = ${loan}))::float8 as successors,
           extract(milliseconds from percentile_cont(0.5) within group (order by since_accepted)
             filter (where external_id like 'first-%'))::float8 as others
      from start`.execute(service.db)
  const { successors, others } = rows[0] as { successors: number; others: number }
  const limitMs = Math.max(SUCCESSOR_MS, SLOWER_THAN_OTHERS * others)
  t.ok(successors < limitMs, `${successors} ms, where other operations start after ${others} ms`)
})

t.test('a loan waits for its client, its followers wait for it, and each says so', async t => {
  const service = await startTestService(t)
  const client = newName('C')
  const [loan, other] = [newName('L'), newName('L')]
  const { call } = service
  await control(service, 'PUT', '/faults', [
    { kind: 'locked', match: { on: 'writes', externalId: client } },
  ])
  await submit(call, 'CLIENT_CREATE', clientData(client))
  const created = await submit(call, 'LOAN_CREATE', loanData(loan, client))
  const approved = await submit(call, 'LOAN_APPROVE', approval(loan))
  const created2 = await submit(call, 'LOAN_CREATE', loanData(other, client))
  t.match(await listed(call, loan, created), { waiting_for: 'client' })
  t.match(await listed(call, loan, approved), { waiting_for: 'predecessor' })
  t.match(await listed(call, other, created2), { waiting_for: 'client' })
  await control(service, 'PUT', '/faults', [])
  for (const id of [created, approved, created2])
    t.match(await ending(call, id), { status: 'success' })
})

t.test('a loan starts at the end of its client’s operation, not at the next sweep', async t => {
  // Longer than a test holds the clients' calls.
  const { proxy, service } = await throughProxy(t, { LEDGER_TIMEOUT_MS: '60000' })
  const pairs = Array.from({ length: 4 }, () => ({ client: newName('C'), loan: newName('L') }))
  const { call } = service
  const { promise: after, resolve: letGo } = Promise.withResolvers<void>()
  proxy.interferences = pairs.map(({ client }) => ({ of: client, on: 'writes', after, times: 1 }))
  await Promise.all(pairs.map(({ client }) => submit(call, 'CLIENT_CREATE', clientData(client))))
  await until(async () => proxy.held === pairs.length, 'each client is being created')
  const loans = await Promise.all(
    pairs.map(({ client, loan }) => submit(call, 'LOAN_CREATE', loanData(loan, client))),
  )
  letGo()
  for (const id of loans) t.match(await ending(call, id), { status: 'success' })
  const { rows } = await sql<{ waitedMs: number }>`
    select extract(milliseconds from a.started_at - client.processed_at)::float8 as "waitedMs"
      from loanops.operation loan
      join loanops.operation client on client.subject = loan.waits_for
      join loanops.operation_attempt a on a.operation_id = loan.id
     where loan.accepted_at < client.processed_at`.execute(service.db)
  t.equal(rows.length, pairs.length)
  for (const { waitedMs } of rows) t.ok(waitedMs < SOONER_THAN_SWEEP_MS, `${waitedMs} ms`)
})

t.test('a loan waits for neither later operations nor other loans of its client', async t => {
  const service = await startTestService(t)
  const { call } = service
  const client = newName('C')
  const [stuck, loan] = [newName('L'), newName('L')]
  await ending(call, await submit(call, 'CLIENT_CREATE', clientData(client)))
  const later = { ...clientData(client), emailAddress: 'later@example.in' }
  await control(service, 'PUT', '/faults', [
    { kind: 'locked', match: { on: 'writes', externalId: stuck } },
    { kind: 'locked', match: { on: 'writes', externalId: client } },
  ])
  await submit(call, 'LOAN_CREATE', loanData(stuck, client))
  const created = await submit(call, 'LOAN_CREATE', loanData(loan, client))
  await submit(call, 'CLIENT_UPDATE', { externalId: client, emailAddress: later.emailAddress })
  t.match(await ending(call, created), { status: 'success' })
})

t.test('a loan whose ledger call hangs delays no other', async t => {
  const service = await startTestService(t, { LEDGER_TIMEOUT_MS: '12000' })
  const { call } = service
  const [hanging, ...others] = await Promise.all(
    Array.from({ length: 13 }, () => ledgerLoan(service)),
  )
  await control(service, 'PUT', '/faults', [{ kind: 'hang', match: { externalId: hanging } }])
  const hung = await submit(call, 'LOAN_APPROVE', approval(hanging as string))
  const approved = others.map(async loan =>
    ending(call, await submit(call, 'LOAN_APPROVE', approval(loan))),
  )
  for (const ended of await Promise.all(approved)) t.match(ended, { status: 'success' })
  t.same(await attemptsOf(service, hung), [], 'while it still hangs')
  await control(service, 'PUT', '/faults', [])
})

t.test('a worker that resumes after it lost its lease changes nothing', async t => {
  const service = await startTestService(t)
  const loan = await ledgerLoan(service, 'approved')
  await control(service, 'PUT', '/faults', [
    { kind: 'latency', ms: 3_500, times: 1, match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(() => loseLease(service, id))
  t.match(await ending(service.call, id), { status: 'success' })
  t.same((await writesOn(service, loan)).filter(one => one === 'DISBURSE/LOAN').length, 1)
  const attempts = await attemptsOf(service, id)
  t.same(
    attempts.map(({ attempt, outcome }) => [attempt, outcome]),
    [
      [2, 'unknown'],
      [3, 'done'],
    ],
    'the first one’s own end was not taken',
  )
})

/**
 * Makes it as if another worker had claimed the operation after ten seconds and died. @returns whether it was in
 * progress
 */
async function loseLease({ db }: TestService, trackingId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update loanops.operation
       set claimed_by = gen_random_uuid(), attempt = attempt + 1, claimed_until = now() - interval '1 second'
     where id = ${trackingId.split('|')[1]} and claimed_by is not null`.execute(db)
  return numAffectedRows === 1n
}
