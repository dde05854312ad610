import t, { type Test } from 'tap'
import { control } from '../../support/ledger/loans.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

const HELD = { state: 'suspense', reason: 'amount_invalid', next_try_at: null }

/** A loan of a product whose currency the ledger rounds in this way. */
async function withRounding(t: Test, decimalPlaces: number, inMultiplesOf: number) {
  const service = await paymentService(t)
  await control(service, 'PUT', '/rounding', { product: 2, decimalPlaces, inMultiplesOf })
  await service.loan('L-1')
  return {
    ...service,
    /** Sends a payment of this many paise, runs a batch, and tells the payment. */
    async pay(amount: number) {
      const id = `pay_${amount}`
      await service.webhook('gateway_a', capturedA({ id, loan: 'L-1', amount }), LENDER)
      await service.batch()
      return (await service.payment(id)).payment
    },
    booked: async () => (await service.repayments()).map(({ amount }) => amount),
  }
}

t.test('an amount too fine for the loan’s currency is suspended as amount_invalid', async t => {
  const service = await withRounding(t, 0, 0)
  t.match(await service.pay(100_050), { ...HELD, detail: /1000\.5 INR/ })
  t.equal((await service.assign('pay_100050', 'L-1')).status, 409)
  t.match(await service.pay(100_000), { state: 'posted', amount: '1000' })
  t.same(await service.booked(), ['1000.00'])
})

t.test(
  'an amount that is no multiple of what the currency comes in is suspended as amount_invalid',
  async t => {
    const service = await withRounding(t, 0, 50)
    t.match(await service.pay(102_000), HELD)
    t.match(await service.pay(105_000), { state: 'posted' })
    t.same(await service.booked(), ['1050.00'])
  },
)

t.test('an amount in a currency with decimals need not be a multiple', async t => {
  const service = await withRounding(t, 2, 50)
  t.match(await service.pay(100_050), { state: 'posted' })
  t.same(await service.booked(), ['1000.50'])
})

t.test('a ledger that loses answers posts no amount that it would have to round', async t => {
  const service = await withRounding(t, 0, 0)
  await service.faults([{ kind: 'drop', match: { on: 'writes' } }])
  t.match(await service.pay(100_050), HELD)
  t.same(await service.booked(), [])
})
