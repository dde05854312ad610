import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, eventA, refundA, successB } from '../../support/payments/gateway-events.ts'
import {
  disburse,
  LENDER,
  ownIds,
  ownLoan,
  paymentService,
} from '../../support/payments/payments.ts'
import { testEnv } from '../../support/service.ts'

const SEVEN_DAYS_OVER = "now() - interval '8 days'"

/**
 * All tests but the one whose lender changes its networks share this service: each has a payment and a loan of its own.
 */
const service = await paymentService(t)

/** Sends events one after the other, runs a batch, and tells the payment. */
async function sent(id: string, events: unknown[]) {
  for (const event of events) await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  return (await service.payment(id)).payment
}

const refundOf = (id: string, status: string) => refundA({ id: `rfnd_${id}`, of: id, status })

/** A repayment whose outcome is unknown, as a worker leaves it that dies before it has asked for the loan. */
async function unknownRepayment(ids: { id: string; loan: string }) {
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  await sent(ids.id, [capturedA(ids)])
  await sql`update loanops.operation set unknown_since = now(), look_first = true
    where status = 'processing'`.execute(service.db)
}

async function resolveFailed(id: string) {
  const { rows } = await sql<{ id: string }>`
    select 'REPAYMENT|' || id as id from loanops.operation
     where status = 'processing'`.execute(service.db)
  const path = `/api/ledger/operations/${encodeURIComponent(rows[0]?.id ?? '')}/resolve`
  const said = await service.call('POST', path, { outcome: 'failed' })
  if (said.status !== 202) throw new Error(JSON.stringify(said.body))
  return service.ended(id)
}

t.test(
  'a payment whose events disagree is not posted because the ledger refused one of them before',
  async t => {
    const { id, loan } = await ownLoan(service, { until: 'approved' })
    await unknownRepayment({ id, loan })
    await sent(id, [eventA('order.paid', { id, loan, amount: 500_000 })])
    await service.faults([])
    const held = { state: 'suspense', reason: 'events_disagree', next_try_at: null }
    t.match(await service.ended(id), held)
    await disburse(service, loan)
    t.match(await sent(id, []), held)
    t.equal((await service.repayments(loan)).length, 0)
  },
)

t.test('a refused payment that is held with its refund is tried again once that fails', async t => {
  const { id, loan } = ownIds()
  await sent(id, [capturedA({ id, loan })])
  t.match(await sent(id, [refundOf(id, 'created')]), { reason: 'refund', next_try_at: null })
  await service.loan(loan)
  t.match(await sent(id, []), { state: 'suspense', reason: 'refund' })
  t.match(await sent(id, [refundOf(id, 'failed')]), { state: 'posted' })
})

t.test('no refusal of the ledger is shown for another loan or beside another reason', async t => {
  const [{ id }, { id: other, loan }] = [ownIds(), await ownLoan(service)]
  t.match(await sent(id, [capturedA({ id, loan: 'L-wrong' })]), { detail: /no such loan/ })
  t.match(await service.assign(id, loan), { status: 200, body: { state: 'waiting', detail: null } })
  await sent(other, [capturedA({ id: other, loan: 'L-wrong' }), refundOf(other, 'created')])
  t.match((await service.payment(other)).payment, { reason: 'refund', detail: null })
  const refused = { reason: 'loan_unknown', detail: /no such loan/ }
  t.match(await sent(other, [refundOf(other, 'failed')]), refused)
  const post = {
    outcome: 'post',
    external_loan_id: loan,
    amount: 10,
    paid_on: '05 February 2026',
    note: 'x',
  }
  const posted = await service.resolve(other, post)
  t.match(posted, { status: 200, body: { state: 'waiting', detail: null } })
  t.match(await sent(other, []), { state: 'posted' })
})

t.test('a repayment that an operator has failed is posted again only by assigning it', async t => {
  const { id, loan } = await ownLoan(service)
  await unknownRepayment({ id, loan })
  const failed = {
    state: 'suspense',
    reason: 'ledger_refused',
    next_try_at: null,
    detail: /An operator has declared/,
  }
  t.match(await resolveFailed(id), failed)
  await service.faults([])
  t.match(await sent(id, []), failed, 'not by the next batch')
  t.match(await sent(id, [eventA('order.paid', { id, loan })]), failed, 'nor by an event')
  await sent(id, [refundOf(id, 'created')])
  t.match(await sent(id, [refundOf(id, 'failed')]), failed, 'nor after a refund')
  t.equal((await service.repayments(loan)).length, 0)
  t.equal((await service.assign(id, loan)).status, 200)
  t.match(await sent(id, []), { state: 'posted' })
})

t.test('a repayment undone on a wrong loan is posted to the right one with another id', async t => {
  const { id, loan } = await ownLoan(service)
  const { loan: right } = await ownLoan(service)
  await service.loseAnswer()
  await sent(id, [capturedA({ id, loan })])
  await service.undoAt(loan, `gateway_a-${id}`)
  t.match(await resolveFailed(id), { reason: 'ledger_refused' })
  await service.faults([])
  await service.assign(id, right)
  t.match(await sent(id, []), { state: 'suspense', reason: 'reversed_at_ledger' })
  await service.assign(id, right)
  t.match(await sent(id, []), { state: 'posted' })
  t.match((await service.repayments()).at(-1), {
    loanExternalId: right,
    externalId: `gateway_a-${id}-r2`,
  })
})

t.test('an event that arrives after the seven days does not retry a payment', async t => {
  const { id, loan } = ownIds()
  await sent(id, [capturedA({ id, loan })])
  await sql`update core.transaction set next_try_at = now(), refused_at = ${sql.raw(SEVEN_DAYS_OVER)}
    where gateway_payment_id = ${id}`.execute(service.db)
  await sent(id, [])
  await service.loan(loan)
  t.match(await sent(id, [eventA('order.paid', { id, loan })]), {
    state: 'suspense',
    reason: 'loan_unknown',
    next_try_at: null,
  })
})

t.test('an event that arrives while a payment is being retried has it retried at once', async t => {
  const { id, loan } = ownIds()
  await sent(id, [capturedA({ id, loan })])
  await service.loan(loan)
  await sql`update core.transaction set next_try_at = now() + interval '1 hour'
    where gateway_payment_id = ${id}`.execute(service.db)
  t.match(await sent(id, [eventA('order.paid', { id, loan })]), { state: 'posted' })
})

t.test('a sender that the lender has allowed since is accepted by a later batch', async t => {
  const service = await paymentService(t, { ROLE: 'api' })
  const startWorker = (cidr: string) => {
    const lenders = { LENDER_02: { gateway_b: { allowedCidrs: [cidr] } } }
    const changes = { ROLE: 'worker', LENDERS_FILE: lendersFile(t, lenders) }
    const env = testEnv(service.databaseUrl, service.ledger.url, changes)
    return startRole(readConfig(env), logger('silent'))
  }
  const payment = async () => (await service.payment(1, 'gateway_b')).payment
  await service.loan('L-1')
  await service.webhook('gateway_b', successB({ loan: 'L-1', id: 1 }))
  const wrong = await startWorker('10.0.0.0/8')
  await service.batch()
  await wrong.close()
  t.match(await payment(), { reason: 'sender_not_allowed', next_try_at: /Z$/ })
  const mended = await startWorker('127.0.0.0/8')
  t.teardown(() => mended.close())
  await service.batch()
  t.match(await payment(), { state: 'posted' })
})
