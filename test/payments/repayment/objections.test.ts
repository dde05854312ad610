import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t from 'tap'
import { measure } from '../../../src/ops/measured.ts'
import { paymentGauges } from '../../../src/payments/payment-signals.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import {
  capturedA,
  disputeA,
  eventA,
  refundA,
  signedA,
} from '../../support/payments/gateway-events.ts'
import { LENDER, ownLoan, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const DOWN = [{ kind: 'error', status: 502, match: { on: 'reads' } }]

/** All tests but the one about signatures share this service: each has a payment and a loan of its own. */
const service = await paymentService(t)

/** A payment on its way while the ledger is down, and the run that sent it. */
async function onItsWay() {
  const ids = await ownLoan(service)
  await service.faults(DOWN)
  await service.webhook('gateway_a', capturedA(ids), LENDER)
  const run = await service.batch()
  const { payment } = await service.payment(ids.id)
  if (payment.waiting_for !== 'ledger_unavailable') throw new Error(JSON.stringify(payment))
  return { ...ids, run }
}

const refundOf = (id: string, status?: string) =>
  refundA({ id: `rfnd_${id}`, of: id, ...(status === undefined ? {} : { status }) })

const other = await ownLoan(service)
type Ids = typeof other
for (const [name, eventOf, reason] of [
  ['a refund', ({ id }: Ids) => refundOf(id), 'refund'],
  ['a chargeback', (ids: Ids) => disputeA('created', ids, `disp_${ids.id}`), 'chargeback'],
  [
    'an event of another amount',
    (ids: Ids) => eventA('order.paid', { ...ids, amount: 7 }),
    'events_disagree',
  ],
  [
    'an event of another loan',
    ({ id }: Ids) => eventA('order.paid', { id, loan: other.loan }),
    'events_disagree',
  ],
] as const)
  t.test(`${name} stops a payment that waits for the ledger`, async t => {
    const ids = await onItsWay()
    await service.webhook('gateway_a', eventOf(ids), LENDER)
    await service.batch()
    t.match((await service.payment(ids.id)).payment, { objection: reason })
    await service.faults([])
    t.match(await service.ended(ids.id), { state: 'suspense', reason, objection: null })
    t.equal((await service.repayments(ids.loan)).length, 0)
  })

t.test('a payment whose refund failed in the meantime is posted', async t => {
  const { id } = await onItsWay()
  await service.webhook('gateway_a', refundOf(id, 'created'), LENDER)
  await service.batch()
  await service.webhook('gateway_a', refundOf(id, 'failed'), LENDER)
  await service.batch()
  await service.faults([])
  t.match(await service.ended(id), { state: 'posted', objection: null })
})

t.test('nothing stops a payment that may have arrived until the ledger has it', async t => {
  const { id, loan } = await ownLoan(service)
  await service.loseAnswer()
  await service.webhook('gateway_a', capturedA({ id, loan }), LENDER)
  await service.batch()
  await service.webhook('gateway_a', refundOf(id), LENDER)
  await service.batch()
  t.match((await service.payment(id)).payment, {
    waiting_for: 'outcome_unknown',
    objection: 'refund',
  })
  await service.faults([])
  t.match(await service.ended(id), { state: 'posted', objection: 'refund' })
  t.match((await service.payment(`rfnd_${id}`)).payment, { state: 'suspense' })
})

t.test('a posted payment that an event contradicts stays posted, marked and counted', async t => {
  const { loan } = await ownLoan(service)
  const cases = {
    pay_amount: { amount: 7 },
    pay_currency: { currency: 'USD' },
    pay_loan: { loan: other.loan },
    pay_same: {},
  }
  for (const id of Object.keys(cases))
    await service.webhook('gateway_a', capturedA({ id, loan }), LENDER)
  t.match(await service.batch(), { posted: 4 })
  for (const [id, facts] of Object.entries(cases))
    await service.webhook('gateway_a', eventA('order.paid', { id, loan, ...facts }), LENDER)
  await service.batch()
  const objection = async (id: string) => {
    const { payment } = await service.payment(id)
    t.equal(payment.state, 'posted')
    return payment.objection
  }
  for (const id of ['pay_amount', 'pay_currency', 'pay_loan'])
    t.equal(await objection(id), 'events_disagree', id)
  t.equal(await objection('pay_same'), null)
  const registry = new Registry()
  const gauges = measure(paymentGauges)({
    metrics: { registry },
    patient: service.db,
    log: { warn: () => undefined },
  })
  t.teardown(() => gauges.stop())
  await until(async () => {
    const text = await registry.metrics()
    const line = 'loanops_payments_with_objection{objection="events_disagree"} 3'
    return text.includes(line) ? true : undefined
  }, 'they are counted')
  t.equal((await service.repayments(loan)).length, 4)
})

t.test('an unverified event raises no objection to a verified payment that is posted', async t => {
  const file = lendersFile(t, { LENDER_02: { gateway_a: { secretEnv: 'SECRET_02' } } })
  const service = await paymentService(t, { LENDERS_FILE: file, SECRET_02: 's2' })
  await service.loan('L-1')
  const body = JSON.stringify(capturedA({ loan: 'L-1' }))
  await service.webhook('gateway_a', body, { ...LENDER, headers: signedA('s2', body) })
  await service.batch()
  await service.webhook('gateway_a', capturedA({ loan: 'L-1', amount: 7 }), LENDER)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', objection: null })
})

t.test('a payment that is posted after its run has ended is counted for that run', async t => {
  const { id, run } = await onItsWay()
  t.match(run, { status: 'completed', posted: 0 })
  await service.faults([])
  t.match(await service.ended(id), { state: 'posted' })
  const { rows } =
    await sql`select posted from ops.batch_run where batch_id = ${run.batch_id}`.execute(service.db)
  t.same(rows, [{ posted: '1' }])
})
