import { sql } from 'kysely'
import t from 'tap'
import { fetchAll } from '../../support/books/gateways.ts'
import { listOfB, oddGateway, refundedListOfB, rowOfB } from '../../support/books/odd-gateway.ts'
import { delay, hurry } from '../../support/engine/operations.ts'
import { capturedA, eventA, successB } from '../../support/payments/gateway-events.ts'
import { REPAY } from '../../support/payments/repaid-loan.ts'
import {
  AUTOMATIC,
  dispute,
  disputeOfB,
  MANUAL,
  refund,
  refundOfB,
  reversing,
} from '../../support/payments/reversals.ts'
import { until } from '../../support/until.ts'

const LESS = {
  outcome: 'post',
  external_loan_id: 'L-1',
  amount: 700,
  paid_on: '05 February 2026',
  note: 'less',
}
const HELD = ['suspense', 'refund', null, null]

t.test('a dispute that an operator left out of the posting is not taken out once lost', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.signed(dispute('under_review', { paise: 30_000 }))
  await service.batch()
  t.match(await service.resolve('pay_1', LESS), { status: 200 })
  await service.batch()
  t.same(await service.standing(), { pay_1: 700 })
  await service.signed(dispute('lost', { paise: 30_000 }))
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { pay_1: 700 })
  t.same(await service.shown('pay_1'), ['posted', null, 'chargeback', null])
  t.same(await service.shown('disp_1'), ['suspense', 'chargeback', null, null])
  t.match(await service.decide('disp_1', 'reverse'), { status: 409 }, 'nor by a person')
  t.match(await service.decide('disp_1', 'handled'), { status: 200 })
  t.same(await service.standing(), { pay_1: 700 })
})

t.test('a refund that is proved only after its amount was left out is not taken out', async t => {
  const service = await reversing(t)
  await service.signed(capturedA())
  await service.webhook('gateway_a', refund({ paise: 30_000 }), { lender: 'LENDER_02' })
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'no_loan_named', null, null])
  t.match(await service.resolve('pay_1', LESS), { status: 200 })
  await service.batch()
  await service.signed({ ...refund({ paise: 30_000 }), account_id: 'acc_y' })
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { pay_1: 700 })
  t.same(await service.shown('pay_1'), ['posted', null, 'refund', null])
  t.match(await service.decide('rfnd_1', 'reverse'), { status: 409 }, 'nor by a person')
})

t.test('of two refunds, the one that was not left out of the posting can be reversed', async t => {
  const service = await reversing(t, MANUAL)
  await service.signed(capturedA({ loan: 'L-1' }))
  const [left, other] = [refund({ paise: 30_000 }), refund({ id: 'rfnd_2', paise: 20_000 })]
  for (const event of [left, other]) await service.signed(event)
  await service.batch()
  t.match(await service.resolve('pay_1', LESS), { status: 200 })
  await service.batch()
  await service.webhook('gateway_a', refund({ id: 'forged', paise: 30_000 }), {
    lender: 'LENDER_02',
  })
  await service.batch()
  await service.decide('forged', 'dismiss')
  t.match(await service.decide('rfnd_2', 'reverse'), { status: 409 }, 'it may be the one')
  t.match(await service.decide('rfnd_1', 'handled'), { status: 200 })
  t.match(await service.decide('rfnd_2', 'reverse'), { status: 200 })
  await service.ended('rfnd_2')
  t.same(await service.standing(), { 'pay_1-r2': 500 })
})

t.test('a refund that an operator dismissed is not taken out under its second id', async t => {
  const { settings } = await oddGateway(t, refundedListOfB)
  const service = await reversing(t, AUTOMATIC, settings)
  for (const event of [successB({ id: 1, loan: 'L-1' }), refundOfB(300, { id: 901, of: 1 })])
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  await service.batch()
  const decide = (id: unknown, resolution: object) =>
    service.call('POST', `/api/payments/gateway_b/${id}/resolve`, { ...resolution, note: 'seen' })
  t.match(await decide(1, LESS), { status: 200 })
  t.match(await decide(901, { outcome: 'dismiss' }), { status: 200 })
  await service.batch()
  await fetchAll(service.call, 'gateway_b')
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { '1': 700 })
})

t.test('a refund of what a person booked between the two writes of a reversal waits', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.faults([{ kind: 'tooMany', match: REPAY }])
  await service.signed(refund({ paise: 30_000 }))
  await service.call('POST', '/api/payments/batch')
  await until(async () => Object.keys(await service.standing()).length === 0, 'it is undone')
  const reversal = await delay(service, 'loan:L-1')
  await service.faults([])
  await service.bookByHand('pay_1', 650)
  await hurry(service, reversal)
  await service.ended('rfnd_1')
  t.same(await service.shown('pay_1'), ['suspense', 'ledger_refused', null, '300'])
  await service.signed(refund({ id: 'rfnd_2', paise: 70_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'refund', null, '300'])
  t.same(await service.shown('rfnd_2'), HELD)
})

t.test('a dispute of gateway B is taken out once, and never by a row of its list', async t => {
  const { settings } = await oddGateway(t, asked => {
    // The fee of the dispute is in the row's amount.
    const event = { event_type: 'DISPUTE', event_amount: 367.26 }
    const lost = { dispute_details: { closed_in_favor_of: 'CUSTOMER' } }
    const rows = Object.entries({ 1: 'disputed_1', 2: 'disputed_2', 3: 'disp_3' }).map(
      ([id, event_id]) => ({ ...rowOfB(id, { event: { ...event, event_id } }), ...lost }),
    )
    const paid = ['1', '2', '3'].map(id => rowOfB(id))
    return asked.path.endsWith('/disputes') ? [] : listOfB(...paid, ...rows)(asked)
  })
  const service = await reversing(t, AUTOMATIC, settings)
  for (const id of [1, 2, 3]) await service.signed(successB({ id, loan: 'L-1' }))
  await service.batch()
  await service.signed(disputeOfB('DISPUTE_MERCHANT_LOST', 300, 1))
  await service.signed(disputeOfB('DISPUTE_CREATED', 300, 3))
  await fetchAll(service.call, 'gateway_b')
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { '1-r2': 700, '2': 1_000, '3': 1_000 })
})

t.test('a refund of what a person posted in another currency waits for a person', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ currency: 'JPY', amount: 10_000 }))
  await service.batch()
  t.match(await service.resolve('pay_1', { ...LESS, amount: 5_500 }), { status: 200 })
  await service.batch()
  const inYen = refund({ paise: 5_000 })
  inYen.payload.refund.entity.currency = 'JPY'
  await service.signed(inYen)
  await service.batch()
  t.same(await service.shown('rfnd_1'), HELD)
  t.same(await service.standing(), { pay_1: 5_500 })
})

t.test('a refund of a payment of an unknown event that was decided is a refund', async t => {
  const service = await reversing(t)
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    await service.signed(eventA('moon.risen', { id, loan: 'L-1', status: 'risen' }))
  await service.signed(refund({ id: 'rfnd_3', of: 'pay_3', paise: 30_000 }))
  await service.batch()
  t.same(await service.shown('rfnd_3'), HELD)
  t.match(await service.resolve('pay_1', { ...LESS, amount: 1_000 }), { status: 200 })
  await service.decide('pay_2', 'handled')
  await service.batch()
  for (const n of [1, 2])
    await service.signed(refund({ id: `rfnd_${n}`, of: `pay_${n}`, paise: 30_000 }))
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  t.same(await service.shown('pay_2'), ['handled', null, 'refund', null])
  t.same(await service.shown('rfnd_2'), HELD)
})

for (const [what, payment, booked] of [
  ['payment', {}, 1_000],
  ['payment with its payer’s fee', { fee: 1_000, tax: 0, fee_bearer: 'customer' }, 990],
] as const)
  t.test(`a ${what} that the ledger has is not returned by its full refund`, async t => {
    const service = await reversing(t)
    await service.bookByHand('pay_1', booked)
    const [captured, refunded] = [capturedA({ loan: 'L-1', payment }), refund()]
    for (const event of [captured, refunded]) await service.signed(event)
    await service.batch()
    t.same(await service.shown('pay_1'), ['suspense', 'ledger_refused', null, '1000'])
    const { detail } = (await service.payment('pay_1')).payment
    t.match(detail, RegExp(`different: amount is ${booked} there, not 0`))
  })

t.test('a payment whose loan the ledger does not know is returned by its full refund', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  await sql`
    insert into core.loan_product (external_loan_id, product)
    select 'L-9', product from core.loan_product where external_loan_id = 'L-1'`.execute(service.db)
  for (const event of [capturedA({ loan: 'L-9' }), refund()]) await service.signed(event)
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
})

t.test('a refund of a payment whose id the ledger has on another loan waits', async t => {
  const service = await reversing(t)
  await service.loan('L-2')
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  await service.bookAt('L-2', 1_000, { externalId: 'gateway_a-pay_1' })
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'ledger_refused', null, null])
  const { numAffectedRows } = await sql`
    update loanops.operation
       set response = jsonb_set(response::jsonb, '{errors,0,userMessageGlobalisationCode}', '"error.msg.loan.repayment.duplicate.externalId"')
     where response #>> '{errors,0,userMessageGlobalisationCode}' like '%value.must.be.unique'`.execute(
    service.db,
  )
  t.equal(numAffectedRows, 1n, 'a ledger on MariaDB answers with another code')
  await service.signed(refund())
  await service.batch()
  for (const id of ['pay_1', 'rfnd_1']) t.same(await service.shown(id), HELD, id)
})
