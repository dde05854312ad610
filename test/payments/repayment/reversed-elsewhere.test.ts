import t from 'tap'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { dispute, refund, reversing } from '../../support/payments/reversals.ts'

t.test('a ledger that loses external ids holds what stands all the same', async t => {
  const service = await reversing(t, undefined, {}, { flags: ['lost-external-ids'] })
  for (const id of ['pay_1', 'pay_2']) await service.signed(capturedA({ id, loan: 'L-1' }))
  await service.batch()
  await service.signed(refund({ id: 'rfnd_1', paise: 30_000 }))
  await service.signed(refund({ id: 'rfnd_2', paise: 20_000 }))
  await service.signed(refund({ id: 'rfnd_3', of: 'pay_2' }))
  await service.batch()
  const standing = async () =>
    (await service.books()).transactions
      .filter(one => one.type === 'repayment' && !one.reversed)
      .map(({ externalId, receiptNumber, amount }) => [externalId, receiptNumber, amount])
  t.same(await standing(), [[null, 'pay_1', '500.00']])
  t.same(await service.shown('pay_1'), ['posted', null, null, '500'])
  t.same(await service.shown('pay_2'), ['returned', null, null, '1000'])
  t.match(await service.readBack(), { payments: 2, reversed: 0, missing: 0, differing: 0 })
  await service.signed(dispute('lost', { paise: 50_000 }))
  await service.batch()
  t.same(await standing(), [])
})

t.test('a repayment that somebody else booked for a payment is taken back too', async t => {
  const service = await reversing(t)
  await service.bookByHand('pay_1', 1_000, { externalId: 'by-hand' })
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, null, null])
  await service.signed(refund({ paise: 30_000 }))
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  t.equal((await service.books()).transactions.filter(one => one.reversed).length, 1)
})
