import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { LoggedWrite } from '../../../src/sandbox/storage/write-log.ts'
import { type Case, SAMPLES } from '../../contract/samples.ts'
import {
  AMBIGUOUS,
  BEFORE,
  type FirstAnswer,
  TURNED_AWAY,
} from '../../support/engine/first-answers.ts'
import {
  attemptsOf,
  delay,
  ending,
  hurry,
  listed,
  submit,
} from '../../support/engine/operations.ts'
import { approval, atLedger, control, DAY, ledgerLoan } from '../../support/ledger/loans.ts'
import { type Interference, startProxy } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Operation = Case & { status: string }
const casesOf = (kind: 'canBeApplied' | 'mustFail' | 'doneByAnother'): Operation[] =>
  Object.entries(SAMPLES).flatMap(([status, { [kind]: given }]) =>
    given === undefined ? [] : [{ status, ...given }],
  )
const CAN_BE_APPLIED = casesOf('canBeApplied')

type Row = Operation & { what: string; fault: FirstAnswer; wanted: 'success' | 'failed' }

const rowsOf = (
  cases: Operation[],
  answers: Record<string, FirstAnswer>,
  wanted: Row['wanted'],
  more: FirstAnswer = {},
): Row[] =>
  cases.flatMap(one =>
    Object.entries(answers).map(([what, fault]) => ({
      ...one,
      what,
      fault: { ...fault, ...more },
      wanted,
    })),
  )

/** Few enough at a time not to open the circuit breaker: others are answered in between. */
const MAX_CONCURRENT = 8
/** The settings for when some calls get no answer. Reads beside many others meet a shorter limit. */
const IMPATIENT = { LEDGER_TIMEOUT_MS: '2000' }

const HURRY_EVERY_SECONDS = 2

type Ended = { name: string; wanted: string; status: string; applied: number }

/** Gives the first write of each row its answer. @returns how each ended, and how often the ledger applied it */
async function endsOf(t: Test, rows: Row[], settings = {}): Promise<Ended[]> {
  const proxy = await startProxy(t)
  const service = await startTestService(t, {
    LEDGER_URL: proxy.url,
    LEDGER_CONCURRENCY: '16',
    ...settings,
  })
  proxy.target = service.ledger.url
  const ending: Promise<Omit<Ended, 'applied'> & { command: string }>[] = []
  for (let from = 0; from < rows.length; from += MAX_CONCURRENT) {
    await Promise.all(
      rows.slice(from, from + MAX_CONCURRENT).map(async row => {
        const given = await row.given(service)
        proxy.interferences.push({ of: given.subject, on: 'writes', times: 1, ...row.fault })
        const id = await submit(service.call, row.status, given.data)
        const met = until(async () => (await attemptsOf(service, id)).length > 0)
        ending.push(met.then(() => endOf(service, row, given.subject, id)))
        // The others do not wait for a call without an answer.
        if (!row.fault.hangs) await met
      }),
    )
  }
  const ended = await Promise.all(ending)
  const { log } = await control(service, 'GET', '/log?limit=250000')
  const applied = Map.groupBy(log as LoggedWrite[], one => `${one.command} ${one.externalId}`)
  return ended.map(({ command, ...one }) => ({
    ...one,
    applied: applied.get(command)?.length ?? 0,
  }))
}

async function endOf(service: TestService, row: Row, subject: string, id: string) {
  const status = await until(async () => {
    // When our settings seem wrong, the next try is a minute away.
    await hurry(service, id)
    const record = await ending(service.call, id, HURRY_EVERY_SECONDS)
    return record.status !== 'processing' && record.status
  })
  const command = `${row.status.split('_').reverse().join('/')} ${subject}`
  return { name: `${row.status}, ${row.state}: ${row.what}`, wanted: row.wanted, status, command }
}

// Each waits for its next try: together they take no longer than the longest.
t.jobs = 3

t.test(
  'an operation that the ledger applied succeeds, and is applied once, whatever the first answer was',
  async t => {
    const rows = rowsOf(CAN_BE_APPLIED, AMBIGUOUS, 'success', { afterwards: true })
    for (const { name, wanted, status, applied } of await endsOf(t, rows, IMPATIENT))
      t.same([status, applied], [wanted, 1], name)
  },
)

t.test('an operation that the ledger refuses fails, whatever the first answer was', async t => {
  const rows = rowsOf(casesOf('mustFail'), BEFORE, 'failed')
  for (const { name, wanted, status } of await endsOf(t, rows, IMPATIENT))
    t.equal(status, wanted, name)
})

t.test('somebody else’s change is not mistaken for a write that was turned away', async t => {
  const rows = rowsOf(casesOf('doneByAnother'), TURNED_AWAY, 'failed')
  for (const { name, wanted, status } of await endsOf(t, rows)) t.equal(status, wanted, name)
})

t.test('an applied delete succeeds although a rate limiter answers for its repeat', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service)
  const limited = { status: 429, body: 'Too Many Requests', afterwards: true }
  proxy.interferences = [{ of: loan, on: 'writes', times: 1, ...limited }]
  const id = await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a refused delete does not succeed when somebody else deletes the loan later', async t => {
  const service = await startTestService(t)
  const loan = await ledgerLoan(service)
  const locked = { kind: 'locked', match: { on: 'writes', externalId: loan } }
  await control(service, 'PUT', '/faults', [locked])
  await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
  // Otherwise its next try may come before the other delete.
  const id = await delay(service, `loan:${loan}`)
  await control(service, 'PUT', '/faults', [])
  await atLedger(service, 'DELETE', `/loans/external-id/${loan}`)
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'failed' })
})

t.test('an operation that the ledger applied succeeds even if the loan changed since', async t => {
  const { proxy, service } = await throughProxy(t)
  for (const status of ['LOAN_CREATE', 'LOAN_UPDATE', 'LOAN_APPROVE']) {
    const { given } = CAN_BE_APPLIED.find(one => one.status === status) as Operation
    const { data, subject } = await given(service)
    proxy.interferences = [{ of: subject, on: 'writes', afterwards: true }, blind(subject, status)]
    const id = await submit(service.call, status, data)
    await until(async () => (await attemptsOf(service, id))[0])
    await goOn(service, subject, status)
    proxy.interferences = []
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' }, status)
  }
})

t.test('an operation that a checker approved succeeds even if the loan changed since', async t => {
  const service = await startTestService(t)
  const loan = await ledgerLoan(service)
  await control(service, 'PUT', '/faults', [
    { kind: 'makerChecker', times: 1, match: { externalId: loan, on: 'writes' } },
  ])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  await goOn(service, loan, 'LOAN_CREATE')
  await goOn(service, loan, 'LOAN_APPROVE')
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a key is kept while only the key can show who came first', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service)
  const match = { on: 'writes', externalId: loan }
  await control(service, 'PUT', '/faults', [{ kind: 'stuck', applied: true, times: 1, match }])
  proxy.interferences = [blind(loan, 'LOAN_APPROVE')]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  await goOn(service, loan, 'LOAN_APPROVE')
  proxy.interferences = []
  await sql`
    update loanops.operation_attempt
     set started_at = started_at - interval '11 minutes'`.execute(service.db)
  const keys = await until(async () => {
    await hurry(service, id)
    const sent = (await attemptsOf(service, id)).filter(one => one.http_status === 425)
    return sent.length > 3 && sent.map(one => one.idempotency_key)
  })
  t.equal(new Set(keys).size, 1)
  t.match(await listed(service.call, loan, id), { waiting_for: 'outcome_unknown' })
})

/** Makes every look fail, but not the read that precedes a write. */
const blind = (of: string, status: string): Interference => ({
  of,
  on: 'reads',
  status: 500,
  body: '',
  spares: status === 'LOAN_CREATE' ? 0 : 1,
})

/** Someone else takes the loan further than the operation left it. */
function goOn(service: TestService, loan: string, status: string) {
  const path = `/loans/external-id/${loan}?command`
  return status === 'LOAN_APPROVE'
    ? atLedger(service, 'POST', `${path}=disburse`, { actualDisbursementDate: DAY })
    : atLedger(service, 'POST', `${path}=approve`, {
        approvedOnDate: DAY,
        expectedDisbursementDate: DAY,
      })
}
