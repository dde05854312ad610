import t, { type Test } from 'tap'
import { FEE_CRASH_POINTS } from '../../../src/payments/payment-signals.ts'
import { fetchAll } from '../../support/books/gateways.ts'
import { itemOfA, listOfA, listOfB, oddGateway, rowOfB } from '../../support/books/odd-gateway.ts'
import { ALL_DAY, DAY, filled, reconciliation } from '../../support/books/reconciliation.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { matchEach } from '../../support/match-each.ts'
import { eventA, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService, SECRET, sendSigned } from '../../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'

const FEES = { fee: 10_818, tax: 1_650, fee_bearer: 'customer' }

/** An order of 4,584.00 that was paid with 4,692.18. */
function paidOrder(id: string, { order = true, ...payment }: Record<string, unknown> = {}) {
  return eventA(order ? 'order.paid' : 'payment.captured', {
    id,
    amount: 469_218,
    loan: 'L-1',
    payment: { ...FEES, ...payment },
    payload: order === true ? { order: { entity: { id: 'order_1', amount: 458_400 } } } : {},
  })
}

/** An order of 1,000 of gateway B, paid with this amount. */
function paidOrderB(id: string, amount: number, surcharge: number, discount = 0) {
  const event: any = successB({ id, amount, loan: 'L-1' })
  event.data.order.order_amount = 1_000
  event.data.payment.payment_surcharge = {
    payment_surcharge_service_charge: surcharge,
    payment_surcharge_service_tax: 0,
  }
  event.data.payment_offers =
    discount === 0 ? null : [{ offer_redemption: { discount_amount: discount } }]
  return event
}

async function withLoan(t: Test, payerFee?: string, settings: NodeJS.ProcessEnv = {}) {
  const lender = payerFee === undefined ? {} : { gateway_a: { payerFee }, gateway_b: { payerFee } }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: lender })
  const service = await paymentService(t, { LENDERS_FILE, ...settings })
  await service.loan('L-1')
  return {
    ...service,
    async posted() {
      await service.batch()
      const amounts = (await service.repayments()).map(({ amount }: any) => Number(amount))
      return amounts.sort((a, b) => a - b)
    },
  }
}

t.test('the payer’s fee is not posted, and is handled in the books', async t => {
  const service = await withLoan(t)
  await service.webhook('gateway_a', paidOrder('pay_1'), LENDER)
  t.same(await service.posted(), [4_584])
  const shown = { amount: '4692.18', hints: { payer_fee: 108.18, order_amount: 4584 } }
  t.match((await service.payment('pay_1')).payment, { state: 'posted', ...shown })
  const { days } = await reconciliation(service.call)
  t.same(filled(days[0]), { unchecked: '1 4584.00', handled: '1 108.18' })
  const { body } = await service.call(
    'GET',
    `/api/reconciliation/payments?day=${DAY}&bucket=handled`,
  )
  matchEach(t, body.payments, [{ gateway_payment_id: 'pay_1', amount_in_bucket: '108.18' }])
  const checked = await service.call('POST', '/api/payments/gateway_a/pay_1/check')
  t.match(checked.body, { state: 'posted', objection: null }, 'the ledger has what was sent')
})

t.test('only a fee of the payer above 0 is left out', async t => {
  const service = await withLoan(t)
  for (const [id, change] of Object.entries({
    pay_1: { order: false },
    pay_2: { order: false, fee_bearer: 'platform' },
    pay_3: { order: false, fee: 0 },
  }))
    await service.webhook('gateway_a', paidOrder(id, change), LENDER)
  await service.webhook('gateway_b', paidOrderB('1', 1_010.5, 10.5), LENDER)
  await service.webhook('gateway_b', paidOrderB('2', 910, 10, 100), LENDER)
  await service.webhook('gateway_b', paidOrderB('3', 400, 0), LENDER)
  const ungranted: any = paidOrderB('4', 1_010, 10, 100)
  ungranted.data.payment_offers[0].offer_redemption.redemption_status = 'FAILED'
  await service.webhook('gateway_b', ungranted, LENDER)
  t.same(await service.posted(), [400, 900, 1_000, 1_000, 4_584, 4_692.18, 4_692.18])
})

t.test('only the payer’s part of a fee is left out', async t => {
  const service = await withLoan(t)
  const part = { amount: 459_000, fee_bearer: 'platform', customer_fee: 500, customer_fee_gst: 100 }
  await service.webhook('gateway_a', paidOrder('pay_1', part), LENDER)
  await service.webhook('gateway_a', paidOrder('pay_2', { ...part, order: false }), LENDER)
  const all = { ...part, order: false, fee_bearer: 'customer' }
  await service.webhook('gateway_a', paidOrder('pay_3', all), LENDER)
  const none = { ...part, order: false, customer_fee: null, customer_fee_gst: null }
  await service.webhook('gateway_a', paidOrder('pay_4', none), LENDER)
  t.same(await service.posted(), [4_584, 4_584, 4_584, 4_590])
})

t.test('a fee is not left out once the event that stated it no longer counts', async t => {
  const proxy = await startProxy(t)
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_a: { validateSignature: false, secretEnv: 'S' } },
  })
  const service = await paymentService(t, { LENDERS_FILE, S: SECRET, LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  await service.loan('L-1')
  const body = ledgerBody(403, 'error.msg.loan.transaction.of.another.rule')
  proxy.interferences = [{ of: 'L-1', on: 'writes', status: 403, body, times: 1 }]
  await service.webhook('gateway_a', paidOrder('pay_1', { order: false }), LENDER)
  t.match(await service.batch(), { suspended: 1 })
  await sendSigned(service, paidOrder('pay_1', { order: false, fee: 0 }))
  t.match(await service.batch(), { posted: 1 })
  matchEach(t, await service.repayments(), [{ amount: 4_692.18 }])
})

t.test('a part payment of an order is posted less the payer’s fee', async t => {
  const service = await withLoan(t)
  const parts = {
    order: { order: { entity: { amount: 900_000, amount_due: 441_600 } } },
    link: {
      order: { entity: { amount: 900_000, amount_due: 0 } },
      payment_link: { entity: { accept_partial: true } },
    },
  }
  for (const [id, payload] of Object.entries(parts))
    await service.webhook(
      'gateway_a',
      { ...paidOrder(id), payload: { ...paidOrder(id).payload, ...payload } },
      LENDER,
    )
  t.same(await service.posted(), [4_584, 4_584])
})

t.test('a lender may have payments with a payer’s fee reviewed, with their parts', async t => {
  const service = await withLoan(t, 'review')
  await service.webhook('gateway_a', paidOrder('pay_1'), LENDER)
  t.same(await service.posted(), [])
  const { payment } = await service.payment('pay_1')
  t.match(payment, { state: 'suspense', reason: 'awaiting_review' })
  t.same(JSON.parse(payment.detail), { amount: '4692.18', fee: '108.18', order_amount: '4584.00' })
  await service.assign('pay_1', 'L-1')
  t.same(await service.posted(), [4_584])
})

t.test('a lender may have the fee posted to the loan', async t => {
  const service = await withLoan(t, 'credit')
  await service.webhook('gateway_a', paidOrder('pay_1'), LENDER)
  t.same(await service.posted(), [4_692.18])
})

t.test('the payer’s fee is not posted either where only a fetch brings the payment', async t => {
  const fees = { amount: 469_218, ...FEES }
  const row = rowOfB('1', { payment: { payment_amount: 4_692.18 } })
  Object.assign(row.order_details, { order_amount: 4_584 })
  const { settings } = await oddGateway(
    t,
    asked => listOfA(itemOfA('pay_1', fees))(asked) ?? listOfB(row, rowOfB('2'))(asked),
  )
  const service = await withLoan(t, undefined, settings)
  for (const gateway of ['gateway_a', 'gateway_b'])
    t.match(await fetchAll(service.call, gateway, ALL_DAY), { status: 'completed' })
  t.same(await service.posted(), [1_000, 4_584, 4_584])
  const { totals } = await reconciliation(service.call)
  t.match(totals.buckets, { handled: { payments: 2, amount: '216.36' }, missing: { payments: 0 } })
})

t.test('where order and fee do not add up, an operator sees the payment first', async t => {
  const service = await withLoan(t, 'credit')
  await service.webhook('gateway_a', paidOrder('pay_1', { fee: 10_819, order: false }), LENDER)
  await service.webhook('gateway_a', paidOrder('pay_1', { fee: 10_819 }), LENDER)
  await service.webhook('gateway_b', paidOrderB('1', 1_010, 10, 100), LENDER)
  t.same(await service.posted(), [])
  for (const [id, gateway] of [['pay_1'], ['1', 'gateway_b']] as const)
    t.match((await service.payment(id, gateway)).payment, { reason: 'awaiting_review' }, id)
})

t.test('a payment whose worker dies once its fee is noted is posted once, without it', async t => {
  const service = await paymentService(t, { ROLE: 'api' })
  await service.loan('L-1')
  await service.webhook('gateway_a', paidOrder('pay_1'), LENDER)
  const env = testEnv(service.databaseUrl, service.ledger.url)
  for (const point of FEE_CRASH_POINTS) {
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
    await service.call('POST', '/api/payments/batch')
    await doomed.ended
    t.same(crashPointsIn(doomed.said), [point])
    t.same(await service.repayments(), [], 'nothing was sent')
    await expireLeases(service.db)
  }
  startProcessFor(t, 'worker', env)
  await service.batch()
  t.match(await service.repayments(), [{ externalId: 'gateway_a-pay_1', amount: 4_584 }])
  const { days } = await reconciliation(service.call)
  t.same(filled(days[0]), { unchecked: '1 4584.00', handled: '1 108.18' })
})

t.test('a payment whose payer’s fee is all of it waits for review', async t => {
  for (const payerFee of ['deduct', 'credit']) {
    const service = await withLoan(t, payerFee)
    const paid = paidOrder('pay_1', { order: false, amount: 10_000, fee: 10_000, tax: 0 })
    await service.webhook('gateway_a', paid, LENDER)
    t.same(await service.posted(), [], payerFee)
    const { payment } = await service.payment('pay_1')
    t.match(payment, { state: 'suspense', reason: 'awaiting_review' }, payerFee)
  }
})
