import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log.ts'
import { startRole } from '../../src/role.ts'
import { capturedA, eventA, refundA, successB } from '../support/gateway-events.ts'
import { lendersFile } from '../support/lenders-file.ts'
import { disburse, type PaymentService, paymentService } from '../support/payments.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const LENDER = { lender: 'LENDER_02' }
const DATES = { dateFormat: 'yyyy-MM-dd', locale: 'en' }
const SEVEN_DAYS_OVER = "now() - interval '8 days'"

/** Sends events one after the other, runs a batch, and tells the payment. */
async function sent(service: PaymentService, events: unknown[], id: unknown = 'pay_1') {
  for (const event of events) await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  return (await service.payment(id)).payment
}

const ended = (service: PaymentService) =>
  until(async () => {
    const { payment } = await service.payment('pay_1')
    return ['waiting', 'posting'].includes(payment.state) ? undefined : payment
  }, 'pay_1 ends')

/** A repayment whose outcome is unknown, as a worker leaves it that dies before it has asked for the loan. */
async function unknownRepayment(service: PaymentService) {
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  await sent(service, [capturedA({ loan: 'L-1' })])
  await sql`update loanops.operation set unknown_since = now(), look_first = true`.execute(
    service.db,
  )
}

async function resolveFailed(service: PaymentService) {
  const { rows } = await sql<{ id: string }>`
    select 'REPAYMENT|' || id as id from loanops.operation where status = 'processing'`.execute(
    service.db,
  )
  const path = `/api/ledger/operations/${encodeURIComponent(rows[0]?.id ?? '')}/resolve`
  const said = await service.call('POST', path, { outcome: 'failed' })
  if (said.status !== 202) throw new Error(JSON.stringify(said.body))
  return ended(service)
}

t.test(
  'a payment whose events disagree is not posted because the ledger refused one of them before',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1', { until: 'approved' })
    await unknownRepayment(service)
    await sent(service, [eventA('order.paid', { loan: 'L-1', amount: 500_000 })])
    await service.faults([])
    const held = { state: 'suspense', reason: 'events_disagree', next_try_at: null }
    t.match(await ended(service), held)
    await disburse(service, 'L-1')
    t.match(await sent(service, []), held)
    t.equal((await service.repayments()).length, 0)
  },
)

t.test('a refused payment that is held with its refund is tried again once that fails', async t => {
  const service = await paymentService(t)
  await sent(service, [capturedA({ loan: 'L-1' })])
  t.match(await sent(service, [refundA({ status: 'created' })]), {
    reason: 'refund',
    next_try_at: null,
  })
  await service.loan('L-1')
  t.match(await sent(service, []), { state: 'suspense', reason: 'refund' })
  t.match(await sent(service, [refundA({ status: 'failed' })]), { state: 'posted' })
})

t.test('a repayment that an operator has failed is posted again only by assigning it', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await unknownRepayment(service)
  const failed = {
    state: 'suspense',
    reason: 'ledger_refused',
    next_try_at: null,
    detail: /An operator has declared/,
  }
  t.match(await resolveFailed(service), failed)
  await service.faults([])
  t.match(await sent(service, []), failed, 'not by the next batch')
  t.match(await sent(service, [eventA('order.paid', { loan: 'L-1' })]), failed, 'nor by an event')
  await sent(service, [refundA({ status: 'created' })])
  t.match(await sent(service, [refundA({ status: 'failed' })]), failed, 'nor after a refund')
  t.equal((await service.repayments()).length, 0)
  t.equal((await service.assign('pay_1', 'L-1')).status, 200)
  t.match(await sent(service, []), { state: 'posted' })
})

t.test(
  'a repayment undone on the wrong loan is posted to the right one, under another id',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.loan('L-2')
    await service.loseAnswer()
    await sent(service, [capturedA({ loan: 'L-1' })])
    await service.ledgerCall(
      'POST',
      '/loans/external-id/L-1/transactions/external-id/gateway_a-pay_1',
      { transactionDate: '2026-02-05', transactionAmount: 0, ...DATES },
    )
    t.match(await resolveFailed(service), { reason: 'ledger_refused' })
    await service.faults([])
    await service.assign('pay_1', 'L-2')
    t.match(await sent(service, []), { state: 'suspense', reason: 'reversed_at_ledger' })
    await service.assign('pay_1', 'L-2')
    t.match(await sent(service, []), { state: 'posted' })
    t.match((await service.repayments()).at(-1), {
      loanExternalId: 'L-2',
      externalId: 'gateway_a-pay_1-r2',
    })
  },
)

t.test('an event that arrives after the seven days does not retry a payment', async t => {
  const service = await paymentService(t)
  await sent(service, [capturedA({ loan: 'L-1' })])
  await sql`update core.transaction set next_try_at = now(), refused_at = ${sql.raw(SEVEN_DAYS_OVER)}`.execute(
    service.db,
  )
  await sent(service, [])
  await service.loan('L-1')
  t.match(await sent(service, [eventA('order.paid', { loan: 'L-1' })]), {
    state: 'suspense',
    reason: 'loan_unknown',
    next_try_at: null,
  })
})

t.test('an event that arrives while a payment is being retried has it retried at once', async t => {
  const service = await paymentService(t)
  await sent(service, [capturedA({ loan: 'L-1' })])
  await service.loan('L-1')
  await sql`update core.transaction set next_try_at = now() + interval '1 hour'`.execute(service.db)
  t.match(await sent(service, [eventA('order.paid', { loan: 'L-1' })]), { state: 'posted' })
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
