import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { endClaims } from '../../support/engine/leases.ts'
import { ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { LENDER, type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { startProcess } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const unknownTransaction = ledgerBody(404, 'error.msg.loan.transaction.external.id.invalid')
const WAITS = { state: 'posting', waiting_for: 'outcome_unknown' }

// Each starts two workers, one after the other.
t.jobs = 3

t.test('a payment is not refused by a setting that changed while its call ran', async t => {
  const behind = await behindProxy(t)
  const { service } = behind
  const answer = await callHeld(t, behind)
  t.match(await refusedOnce(t, behind), WAITS)
  answer.resolve()
  t.match(await service.ended('pay_1'), { state: 'posted' })
  t.equal((await service.repayments()).length, 1)
})

t.test(
  'a refusal after a proxy lost the call is not believed until an operator says that it failed',
  async t => {
    const behind = await behindProxy(t)
    const { service, proxy } = behind
    proxy.interferences = [{ of: 'pay_1', on: 'writes', status: 503, times: 1 }]
    await postedByDoomed(t, behind)
    t.match(await refusedOnce(t, behind), WAITS)
    await decided(service, 'failed')
    t.match(await service.ended('pay_1'), { state: 'suspense', detail: /An operator has declared/ })
    t.equal((await service.repayments()).length, 0)
  },
)

t.test('an operator’s retry does not refuse a payment whose first call still runs', async t => {
  const behind = await behindProxy(t)
  const { service, proxy } = behind
  const answer = await callHeld(t, behind)
  proxy.interferences = [{ of: 'pay_1', on: 'writes', status: 425, times: 1 }]
  await decided(service, 'retry')
  const env = testEnv(service.databaseUrl, proxy.url, { LOANOPS_CRASH_AT: 'finish.committed' })
  await startProcess('worker', env).ended
  t.match(await refusedOnce(t, behind), WAITS)
  answer.resolve()
  t.match(await service.ended('pay_1'), { state: 'posted' })
  t.equal((await service.repayments()).length, 1)
})

t.test('a payment that a person books by hand while its call runs is not booked twice', async t => {
  const behind = await behindProxy(t)
  const { service, proxy } = behind
  const answer = await callHeld(t, behind)
  const byHand = await bookedByHand(service)
  await worker(t, behind)
  t.match(await service.ended('pay_1'), { state: 'posted', ledger_transaction_id: byHand })
  answer.resolve()
  await until(async () => proxy.underWay === 0, 'the first call arrives')
  matchEach(t, await booked(service), [{ id: Number(byHand) }])
})

t.test('a repayment booked by hand is not taken for a call that lost its answer', async t => {
  const behind = await behindProxy(t)
  const { service, proxy } = behind
  proxy.interferences = [
    { of: 'pay_1', on: 'writes', hangs: true, afterwards: true, times: 1 },
    { of: 'pay_1', on: 'reads', status: 404, body: unknownTransaction },
  ]
  await postedByDoomed(t, behind)
  const [ours] = await booked(service)
  await bookedByHand(service)
  await worker(t, behind)
  t.match(await service.ended('pay_1'), {
    state: 'posted',
    ledger_transaction_id: String(ours?.id),
  })
})

t.test('a repayment that was undone before anybody saw its answer is not posted', async t => {
  const behind = await behindProxy(t)
  const { service, proxy } = behind
  proxy.interferences = [
    { of: 'pay_1', on: 'writes', hangs: true, afterwards: true, times: 1 },
    { of: 'gateway_a-pay_1', on: 'reads', status: 503 },
  ]
  await postedByDoomed(t, behind)
  await service.undoAt('L-1', 'gateway_a-pay_1')
  proxy.interferences = []
  await worker(t, behind)
  t.match(await service.ended('pay_1'), { state: 'suspense', reason: 'reversed_at_ledger' })
})

t.test(
  'once the ledger has refused a repayment’s call, no write of the repayment may still arrive',
  async t => {
    const behind = await behindProxy(t)
    const { service, proxy } = behind
    const refused = ledgerBody(403, 'error.msg.loan.transaction.not.allowed')
    proxy.interferences = [
      { of: 'pay_1', on: 'writes', status: 503, times: 1 },
      { of: 'pay_1', on: 'writes', status: 403, body: refused, times: 1 },
      { of: 'gateway_a-pay_1', on: 'reads', status: 503, spares: 1, times: 1 },
    ]
    const doomed = await worker(t, behind)
    await received(service)
    await until(async () => (await attempts(service)) > 1, 'its second attempt ends')
    await doomed.close()
    t.match((await service.payment('pay_1')).payment, WAITS, 'the look after the refusal failed')
    await reviewer(t, behind)
    t.match(await service.ended('pay_1'), { state: 'suspense', reason: 'awaiting_review' })
  },
)

t.test('a payment that a killed worker had not sent is refused at once', async t => {
  const behind = await behindProxy(t)
  const { service, proxy } = behind
  const env = testEnv(service.databaseUrl, proxy.url, { LOANOPS_CRASH_AT: 'write.unrecorded' })
  const killed = startProcess('worker', env)
  await received(service)
  await killed.ended
  await endClaims(service)
  await reviewer(t, behind)
  t.match(await service.ended('pay_1'), { state: 'suspense', reason: 'awaiting_review' })
})

/** Books the payment without an external id, as people do. @returns the repayment's number at the ledger */
async function bookedByHand(service: PaymentService): Promise<string> {
  const { body } = await service.bookAt('L-1', 1_000, { receiptNumber: 'pay_1', paymentTypeId: 1 })
  return String(body.resourceId)
}

async function booked(service: PaymentService) {
  const { transactions } = await service.books()
  return transactions.filter(one => one.type === 'repayment' && !one.reversed)
}

type Behind = Awaited<ReturnType<typeof behindProxy>>

async function behindProxy(t: Test) {
  const proxy = await startProxy(t)
  const service = await paymentService(t, { ROLE: 'api' })
  proxy.target = service.ledger.url
  await service.loan('L-1')
  return { service, proxy }
}

/** A call of ours that runs at the ledger, and whose attempt has ended. @returns what lets it go on */
async function callHeld(t: Test, behind: Behind) {
  const answer = Promise.withResolvers<void>()
  behind.proxy.interferences = [{ of: 'pay_1', on: 'writes', after: answer.promise, times: 1 }]
  await postedByDoomed(t, behind)
  return answer
}

async function received(service: PaymentService): Promise<void> {
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.call('POST', '/api/payments/batch')
}

/**
 * Waits until an attempt has ended without the ledger's answer to its write: on a busy machine, a read may time out
 * first.
 */
async function postedByDoomed(t: Test, behind: Behind): Promise<void> {
  const { service } = behind
  const doomed = await worker(t, behind, { LEDGER_TIMEOUT_MS: '500' })
  await received(service)
  await until(async () => {
    const { rows } = await sql`
      select from loanops.operation where claimed_by is null and may_still_run`.execute(service.db)
    return rows.length > 0
  }, 'its write may still run')
  await doomed.close()
}

/** The payment, once a worker whose settings refuse it has tried. */
async function refusedOnce(t: Test, behind: Behind) {
  const { service } = behind
  const before = await attempts(service)
  await reviewer(t, behind)
  return until(async () => {
    const isTried = (await attempts(service)) > before
    const { payment } = await service.payment('pay_1')
    return payment.state === 'suspense' || isTried ? payment : undefined
  }, 'it has been tried again')
}

const reviewer = (t: Test, behind: Behind) =>
  worker(t, behind, {
    LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_a: { posting: 'review' } } }),
  })

async function worker(t: Test, { service, proxy }: Behind, changes: object = {}) {
  const env = testEnv(service.databaseUrl, proxy.url, { ROLE: 'worker', ...changes })
  const role = await startRole(readConfig(env), logger('silent'))
  t.teardown(() => role.close())
  return role
}

async function attempts({ db }: PaymentService): Promise<number> {
  const { rows } = await sql<{ attempt: number }>`
    select attempt from loanops.operation where claimed_by is null`.execute(db)
  return rows[0]?.attempt ?? 0
}

async function decided(service: PaymentService, outcome: string): Promise<void> {
  const id = encodeURIComponent(await operationOf(service))
  await service.call('POST', `/api/ledger/operations/${id}/resolve`, { outcome })
}

async function operationOf({ db }: PaymentService): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select 'REPAYMENT|' || id as id from loanops.operation`.execute(db)
  return String(rows[0]?.id)
}
