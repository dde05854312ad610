import { sql } from 'kysely'
import t from 'tap'
import { attemptsOf, enoughToTakeItForDown, listed, submit } from '../support/engine/operations.ts'
import {
  approval,
  atLedger,
  DAY,
  disbursal,
  givenLoan,
  ledgerLoan,
} from '../support/ledger/loans.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { matchEach } from '../support/match-each.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { withLedger } from '../support/payments/payments.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const resolvePath = (trackingId: string) =>
  `/api/ledger/operations/${encodeURIComponent(trackingId)}/resolve`
const trackPath = (trackingId: string) =>
  `/api/ledger/track/${encodeURIComponent(trackingId)}?wait=20`

async function faults({ ledger }: TestService, rules: object[]) {
  await fetch(`${ledger.controlUrl}/faults`, { method: 'PUT', body: JSON.stringify(rules) })
}

/** All tests but the one whose ledger is down share this service. */
const { proxy, service: api } = await throughProxy(t)
const service = withLedger(api)

/** An approval whose key stays "still processing" at the ledger for ever. */
async function hanging(service: TestService, fault: object = { kind: 'stuck' }) {
  const loan = await givenLoan(service.call)
  await faults(service, [{ ...fault, match: { on: 'writes', externalId: loan } }])
  const trackingId = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await listed(service.call, loan, trackingId)).waiting_for !== null)
  await faults(service, [])
  return { loan, trackingId }
}

t.test('an operation with a stuck key that a person retries is done under a new key', async t => {
  const { trackingId } = await hanging(service)
  const said = await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
  t.same([said.status, said.body], [202, { tracking_id: trackingId, status: 'processing' }])
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'success' })
})

t.test('an operation whose writes never get past a proxy’s 503 can be resolved', async t => {
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, on: 'writes', status: 503, body: '<h1>503</h1>' }]
  const trackingId = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const waitingFor = async () => (await listed(service.call, loan, trackingId)).waiting_for
  await until(async () => (await waitingFor()) === 'outcome_unknown')
  const said = await service.call('POST', resolvePath(trackingId), { outcome: 'failed' })
  t.equal(said.status, 202)
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'failed' })
})

t.test(
  'an operator’s retry succeeds if the lost write had been applied and the loan has moved on since',
  async t => {
    const loan = await ledgerLoan(service)
    proxy.interferences = [
      { of: loan, on: 'writes', afterwards: true },
      { of: loan, on: 'reads', status: 500, body: '', spares: 1 },
    ]
    const trackingId = await submit(service.call, 'LOAN_APPROVE', approval(loan))
    await until(async () => (await attemptsOf(service, trackingId)).length === 2)
    const disburse = `/loans/external-id/${loan}?command=disburse`
    await atLedger(service, 'POST', disburse, { actualDisbursementDate: DAY })
    t.equal((await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })).status, 202)
    proxy.interferences = []
    t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'success' })
  },
)

t.test(
  'an operation whose key is stuck stays unknown when it is retried after the loan has moved on',
  async t => {
    const { loan, trackingId } = await hanging(service, { kind: 'stuck', applied: true })
    const disburse = `/loans/external-id/${loan}?command=disburse`
    await atLedger(service, 'POST', disburse, { actualDisbursementDate: DAY })
    const before = (await attemptsOf(service, trackingId)).length
    await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
    await until(async () => (await attemptsOf(service, trackingId)).length > before + 1)
    t.match(await listed(service.call, loan, trackingId), {
      status: 'processing',
      waiting_for: 'outcome_unknown',
    })
  },
)

t.test('an operator’s "failed" ends an operation, unless the ledger holds it', async t => {
  const absent = await hanging(service)
  await service.call('POST', resolvePath(absent.trackingId), { outcome: 'failed' })
  t.match((await service.call('GET', trackPath(absent.trackingId))).body, {
    status: 'failed',
    failure_response: {
      httpStatusCode: '409',
      errors: [{ userMessageGlobalisationCode: 'loanops.resolved.by.operator' }],
    },
  })
  const applied = await hanging(service, { kind: 'stuck', applied: true })
  await service.call('POST', resolvePath(applied.trackingId), { outcome: 'failed' })
  t.match((await service.call('GET', trackPath(applied.trackingId))).body, { status: 'success' })
})

t.test('an operation that waits for approval is sent again when somebody retries it', async t => {
  const { loan, trackingId } = await hanging(service, { kind: 'makerChecker' })
  t.equal((await listed(service.call, loan, trackingId)).waiting_for, 'ledger_approval')
  await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'success' })
})

t.test('an operator can resolve an operation that was sent but cannot be looked for', async t => {
  const loan = await ledgerLoan(service, 'approved')
  proxy.interferences = [
    { of: loan, on: 'writes', status: 503, body: '' },
    { of: loan, on: 'reads', status: 500, body: '' },
  ]
  const trackingId = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(async () => (await attemptsOf(service, trackingId)).length === 2)
  t.equal((await listed(service.call, loan, trackingId)).waiting_for, 'outcome_unknown')
  t.equal((await service.call('POST', resolvePath(trackingId), { outcome: 'failed' })).status, 202)
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'failed' })
})

t.test('an operator’s "failed" ends an operation even while the ledger is down', async t => {
  const { proxy, service } = await throughProxy(t)
  const { trackingId } = await hanging(service)
  proxy.interferences = [
    { of: '', on: 'writes' },
    { of: '', on: 'reads' },
  ]
  await enoughToTakeItForDown(service.call)
  await until(async () => (await service.call('GET', '/readyz')).body.ledger?.circuit !== 'closed')
  await service.call('POST', resolvePath(trackingId), { outcome: 'failed' })
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'failed' })
})

t.test('a retry of what was not sent is no unknown outcome, even with the ledger down', async t => {
  const loan = await givenLoan(service.call)
  await faults(service, [{ kind: 'unauthorized', match: { externalId: loan } }])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const waitsFor = async (reason: string) =>
    (await listed(service.call, loan, id)).waiting_for === reason
  await until(() => waitsFor('ledger_credentials'))
  await faults(service, [{ kind: 'reset', match: { externalId: loan } }])
  t.equal((await service.call('POST', resolvePath(id), { outcome: 'retry' })).status, 202)
  await until(async () => (await attemptsOf(service, id)).length > 1)
  t.ok(await waitsFor('ledger_unavailable'))
  await faults(service, [])
  t.match((await service.call('GET', trackPath(id))).body, { status: 'success' })
})

t.test('only a stuck operation can be resolved', async t => {
  const { trackingId } = await hanging(service)
  await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
  await service.call('GET', trackPath(trackingId))
  const again = await service.call('POST', resolvePath(trackingId), { outcome: 'failed' })
  matchEach(t, [again.status, again.body.code], [409, 'CONFLICT'])
  const nobody = 'LOAN_APPROVE|00000000-0000-7000-8000-000000000000'
  const unknown = await service.call('POST', resolvePath(nobody), { outcome: 'failed' })
  matchEach(t, [unknown.status, unknown.body.code], [404, 'UNKNOWN_TRACKING_ID'])
  const wrong = await service.call('POST', resolvePath(trackingId), { outcome: 'done' })
  matchEach(t, [wrong.status, wrong.body.errors[0].path], [400, '/outcome'])
})

t.test('the audit records who resolved what', async t => {
  const { trackingId } = await hanging(service)
  await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
  const { body } = await service.call('GET', trackPath(trackingId))
  t.equal(body.status, 'success')
  const { rows } = await sql`select actor, action, subject, detail from ops.audit
    where subject = ${trackingId}`.execute(service.db)
  matchEach(t, rows, [
    {
      actor: 'internal-token',
      action: 'operation.resolve',
      subject: trackingId,
      detail: { outcome: 'retry' },
    },
  ])
})

t.test('a stuck repayment is resolved with the query in the docs', async t => {
  await service.loan('L-1')
  await service.faults([{ kind: 'stuck', match: { on: 'writes' } }])
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  await service.faults([])
  const { rows } = await sql<{ tracking_id: string }>`
    select 'REPAYMENT|' || operation_id as tracking_id from ops.payment join core.transaction using (id)
     where waiting_for = 'outcome_unknown'`.execute(service.db)
  const path = resolvePath(rows[0]?.tracking_id ?? '')
  t.equal((await service.call('POST', path, { outcome: 'retry' })).status, 202)
  const state = async () => (await service.payment('pay_1')).payment.state
  t.ok(await until(async () => (await state()) === 'posted'))
  t.equal((await service.repayments()).length, 1)
})

t.test('an operator’s retry of what waits for approval survives a locked loan', async t => {
  const loan = await givenLoan(service.call)
  const match = { on: 'writes', externalId: loan }
  await faults(service, [
    { kind: 'makerChecker', times: 1, match },
    { kind: 'locked', times: 1, match },
  ])
  const trackingId = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await listed(service.call, loan, trackingId)).waiting_for !== null)
  await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
  t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'success' })
})

t.test(
  'an operator’s retry of an operation that waited days for approval does not fail at its deadline',
  async t => {
    const { trackingId } = await hanging(service, { kind: 'makerChecker' })
    await sql`update loanops.operation set accepted_at = accepted_at - interval '2 days'
      where id = ${trackingId.split('|')[1]}`.execute(service.db)
    await service.call('POST', resolvePath(trackingId), { outcome: 'retry' })
    t.match((await service.call('GET', trackPath(trackingId))).body, { status: 'success' })
  },
)
