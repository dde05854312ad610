import { sql } from 'kysely'
import t from 'tap'
import { fetchAll } from '../../support/books/gateways.ts'
import { listOfB, oddGateway, refundedListOfB, rowOfB } from '../../support/books/odd-gateway.ts'
import { capturedA, eventA, successB } from '../../support/payments/gateway-events.ts'
import {
  AUTOMATIC,
  dispute,
  refund,
  refundOfB,
  reversing,
} from '../../support/payments/reversals.ts'

t.test('a booked refund is objected to if its gateway names another amount or payment', async t => {
  const service = await reversing(t)
  for (const id of ['pay_1', 'pay_2', 'pay_3']) await service.signed(capturedA({ id, loan: 'L-1' }))
  await service.batch()
  const lost = { of: 'pay_1', paise: 50_000 }
  await service.signed(dispute('lost', { ...lost, deducted: 20_000 }))
  for (const id of ['pay_2', 'pay_3'])
    await service.signed(refund({ id: `rfnd_${id}`, of: id, paise: 10_000 }))
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 800, 'pay_2-r2': 900, 'pay_3-r2': 900 })

  await service.signed(dispute('lost', { ...lost, deducted: 50_000, phase: 'arbitration' }))
  await service.signed(refund({ id: 'rfnd_pay_2', of: 'pay_3', paise: 10_000 }))
  // The same again, which says nothing new.
  await service.signed(
    refund({ id: 'rfnd_pay_3', of: 'pay_3', paise: 10_000, name: 'refund.speed_changed' }),
  )
  await service.batch()
  const contradicted = ['posted', null, 'events_disagree', null]
  t.same(await service.shown('disp_1'), contradicted)
  t.same(await service.shown('rfnd_pay_2'), contradicted)
  t.same(await service.shown('rfnd_pay_3'), ['posted', null, null, null])
  t.same(await service.standing(), { 'pay_1-r2': 800, 'pay_2-r2': 900, 'pay_3-r2': 900 })

  t.match(await service.decide('disp_1', 'handled'), { status: 200 })
  await service.signed(dispute('lost', { ...lost, deducted: 50_000, phase: 'pre_arbitration' }))
  await service.batch()
  t.same(await service.shown('disp_1'), ['posted', null, null, null], 'it was seen')
})

t.test('a booked chargeback is shown with its payment’s loan, whatever loan it names', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-9' }))
  await service.batch()
  await service.call('POST', '/api/payments/gateway_a/pay_1/assign', { external_loan_id: 'L-1' })
  await service.batch()
  await service.signed(dispute('lost', { paise: 30_000, loan: 'L-9' }))
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  t.match((await service.payment('disp_1')).payment, { state: 'posted', external_loan_id: 'L-1' })
})

t.test('a dispute has the loan a person chose for its payment, also before it ends', async t => {
  const service = await reversing(t)
  const shown = async () => {
    const { body } = await service.call('GET', '/api/payments?loan=L-1')
    return body.payments.map((one: any) => `${one.kind} ${one.state}`).sort()
  }
  await service.signed(capturedA({ loan: 'L-9' }))
  await service.signed(dispute('created', { loan: 'L-9' }))
  await service.batch()
  t.same(await shown(), [])
  const post = {
    outcome: 'post',
    external_loan_id: 'L-1',
    amount: 900,
    paid_on: '05 February 2026',
  }
  t.match(await service.resolve('pay_1', { ...post, note: 'seen' }), { status: 200 })
  t.same(await shown(), ['chargeback suspense', 'payment waiting'])
  await service.batch()
  await service.signed(dispute('lost', { loan: 'L-9' }))
  await service.batch()
  t.same(await shown(), ['chargeback suspense', 'payment posted'])
})

t.test('a refund that its gateway names by two ids is taken out once', async t => {
  const { settings } = await oddGateway(t, refundedListOfB)
  const service = await reversing(t, AUTOMATIC, settings)
  await service.signed(successB({ id: 1, loan: 'L-1' }))
  await service.batch()
  await service.signed(refundOfB(300, { id: 901, of: 1 }))
  await fetchAll(service.call, 'gateway_b')
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { '1-r2': 700 })
  const { payment } = await service.payment('refund_of_ours', 'gateway_b')
  t.match(payment, { state: 'suspense', detail: 'It may be the same money as 901' })
})

t.test('two refunds of one amount that only gateway B’s list has are both taken out', async t => {
  const rows = ['ours_1', 'ours_2'].map(refund_id => {
    const event = { event_type: 'REFUND', event_id: `event_${refund_id}`, event_amount: 300 }
    return { ...rowOfB('1', { event }), refund_details: { refund_id } }
  })
  const { settings } = await oddGateway(t, listOfB(rowOfB('1'), ...rows))
  const service = await reversing(t, AUTOMATIC, settings)
  await service.signed(successB({ id: 1, loan: 'L-1' }))
  await service.batch()
  await fetchAll(service.call, 'gateway_b')
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { '1-r3': 400 })
  await service.signed(refundOfB(300, { id: 901, of: 1 }))
  await service.batch()
  t.same(await service.shown(901, 'gateway_b'), ['suspense', 'refund', null, null], 'it may be one')
})

t.test('a refund that gateway B makes by itself a second time waits for a person', async t => {
  const service = await reversing(t)
  const made = (status: string, at: string) => {
    const event: any = refundOfB(1_000, { id: 901, of: 1, status, type: 'PAYMENT_AUTO_REFUND' })
    event.data.auto_refund.processed_at = at
    return event
  }
  await service.signed(successB({ id: 1, loan: 'L-1' }))
  await service.batch()
  for (const status of ['SUCCESS', 'FAILED']) {
    await service.signed(made(status, '2026-02-06T09:59:00+05:30'))
    await service.batch()
  }
  t.same(await service.shown(901, 'gateway_b'), ['posted', null, 'taken_back', null])
  const restore = { outcome: 'restore', note: 'the bank sent it back' }
  const restored = await service.call('POST', '/api/payments/gateway_b/901/resolve', restore)
  t.match(restored, { status: 200 })
  await service.batch()
  t.same(await service.standing(), { '1-r2': 1_000 })
  await service.signed(made('SUCCESS', '2026-02-09T10:00:00+05:30'))
  await service.batch()
  t.same(await service.shown(901, 'gateway_b'), ['suspense', 'refund', null, null])
  t.same(await service.shown(1, 'gateway_b'), ['posted', null, 'refund', null])
})

t.test(
  'a payment of more than its loan owed is marked as overpaid until refunds take the excess',
  async t => {
    const service = await reversing(t)
    await service.signed(capturedA({ loan: 'L-1', amount: 2_000_000 }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['posted', 'overpaid', null, null])
    await service.signed(refund({ id: 'rfnd_1', paise: 100_000 }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['posted', 'overpaid', null, '1000'])
    await service.signed(refund({ id: 'rfnd_2', paise: 1_500_000 }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['posted', null, null, '16000'])
  },
)

t.test('a payment that failed, then was captured and refunded at once, is returned', async t => {
  const service = await reversing(t)
  // When the first payment is posted, the ledger says whose loan it is.
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.signed(eventA('payment.failed', { loan: 'L-1', payment: { status: 'failed' } }))
  await service.batch()
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.signed(refund({ paise: 100_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
  t.same(await service.shown('rfnd_1'), ['returned', null, null, null])
})

t.test('a refund of a payment whose money the ledger has already waits for a person', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  await service.bookByHand('pay_1', 999)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'ledger_refused', null, null])
  await service.signed(refund())
  await service.batch()
  for (const id of ['pay_1', 'rfnd_1'])
    t.same(await service.shown(id), ['suspense', 'refund', null, null], id)
})

t.test('a refund of a payment that people may have booked by hand waits for a person', async t => {
  const service = await reversing(t)
  // When the first payment is posted, the ledger says whose loan it is.
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  await service.loseAnswer()
  await service.signed(capturedA({ id: 'pay_1', loan: 'L-1' }))
  await service.batch()
  const processing = await service.call('GET', '/api/payments/gateway_a/pay_1')
  t.match(processing.body.payment, { state: 'posting', waiting_for: 'outcome_unknown' })
  const { rows } = await sql<{ id: string }>`
      select 'REPAYMENT|' || id as id from loanops.operation
       where status = 'processing'`.execute(service.db)
  const path = `/api/ledger/operations/${encodeURIComponent(rows[0]?.id ?? '')}/resolve`
  await service.call('POST', path, { outcome: 'failed' })
  await service.ended('pay_1')
  await service.faults([])
  await service.signed(capturedA({ id: 'pay_2', loan: 'L-2' }))
  await service.batch()
  await service.decide('pay_2', 'handled')
  await service.resolve('pay_2', { outcome: 'reopen', note: 'booked by mistake' })
  await service.loan('L-2')
  await service.signed(capturedA({ id: 'pay_3', loan: 'L-2' }))
  await service.batch()

  for (const id of ['pay_1', 'pay_2']) await service.signed(refund({ id: `rfnd_${id}`, of: id }))
  await service.batch()
  for (const id of ['pay_1', 'pay_2', 'rfnd_pay_1', 'rfnd_pay_2'])
    t.same(await service.shown(id), ['suspense', 'refund', null, null], id)
  t.same(await service.standing(), { pay_0: 1_000, pay_1: 1_000, pay_3: 1_000 })
})
