import t from 'tap'
import { DAY, filled, reconciliation } from '../../support/books/reconciliation.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { dispute, MANUAL, refund, reversing } from '../../support/payments/reversals.ts'

/** 1,000.00 for the loan and a fee of 23.60, which the payer bears. */
const PAID = 102_360
const FEE = { fee: 2_360, tax: 360, fee_bearer: 'customer' }

const BEFORE_DISBURSEMENT = { created_at: Date.parse('2023-01-01T06:00:00Z') / 1_000 }

const withFee = (id: string, more: object = {}) =>
  capturedA({ id, loan: 'L-1', amount: PAID, payment: { ...FEE, ...more } })

const dayOf = async (service: Awaited<ReturnType<typeof reversing>>) => {
  const { days } = await reconciliation(service.call)
  return filled(days.find((one: any) => one.day === DAY))
}

const WAYS_BACK = {
  'one refund of all': (of: string) => [refund({ id: `rfnd_${of}`, of, paise: PAID })],
  'a lost dispute': (of: string) => [
    dispute('lost', { id: `disp_${of}`, of, paise: PAID, paid: PAID }),
  ],
  'two refunds': (of: string) => [
    refund({ id: `rfnd1_${of}`, of, paise: 40_000 }),
    refund({ id: `rfnd2_${of}`, of, paise: PAID - 40_000 }),
  ],
  'a refund of more than the loan got': (of: string) => [
    refund({ id: `rfnd_${of}`, of, paise: 101_000 }),
  ],
}

for (const [way, back] of Object.entries(WAYS_BACK))
  t.test(`a payment with its payer’s fee is returned by ${way}, posted before or not`, async t => {
    const books: object[] = []
    for (const isPostedFirst of [false, true]) {
      const service = await reversing(t)
      // With the first payment, the ledger says whose loan it is.
      await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
      await service.batch()
      await service.signed(withFee('pay_1'))
      if (isPostedFirst) {
        await service.batch()
        t.same(await service.standing(), { pay_0: 1_000, pay_1: 1_000 })
      }
      for (const event of back('pay_1')) await service.signed(event)
      await service.batch()
      await service.batch()
      t.same(await service.standing(), { pay_0: 1_000 })
      t.match((await service.payment('pay_1')).payment, { state: 'returned', objection: null })
      await service.readBack()
      t.match((await service.payment('pay_1')).payment, { state: 'returned', objection: null })
      books.push(await dayOf(service))
    }
    t.same(books[1], books[0], 'the books are the same')
  })

t.test('a person has all of a payment with its payer’s fee reversed, but no more', async t => {
  const service = await reversing(t, MANUAL)
  await service.signed(withFee('pay_1'))
  await service.batch()
  await service.signed(refund({ id: 'rfnd_more', paise: PAID + 1 }))
  await service.signed(refund({ paise: PAID }))
  await service.batch()
  t.match(await service.decide('rfnd_more', 'reverse'), {
    status: 409,
    body: { detail: '1023.61 INR is more than the 1000 that stands of the payment' },
  })
  t.match(await service.decide('rfnd_1', 'reverse'), { status: 200 })
  await service.ended('rfnd_1')
  t.same(await service.shown('pay_1'), ['returned', null, 'refund', '1023.6'])
  t.same(await service.standing(), {})
})

t.test('a part put back of a payment with its payer’s fee is posted without the fee', async t => {
  const service = await reversing(t)
  await service.signed(withFee('pay_1'))
  await service.batch()
  const parts = [
    ['rfnd_1', 40_000],
    ['rfnd_2', PAID - 40_000],
  ] as const
  for (const [id, paise] of parts) await service.signed(refund({ id, paise }))
  await service.batch()
  await service.batch()
  t.same(await service.standing(), {})
  const standing = [{ 'pay_1-r3': 376.4 }, { 'pay_1-r4': 1_000 }]
  for (const [n, [id, paise]] of parts.entries()) {
    await service.signed(refund({ id, paise, status: 'failed', name: 'refund.failed' }))
    await service.batch()
    t.match(await service.decide(id, 'restore'), { status: 200 })
    await service.ended(id)
    await service.batch()
    t.same(await service.standing(), standing[n], id)
  }
  t.same(await service.shown('pay_1'), ['posted', null, null, null])
})

t.test('a refused payment with its payer’s fee is returned by a refund of all of it', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  await service.signed(withFee('pay_1', BEFORE_DISBURSEMENT))
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'ledger_refused', null, null])
  await service.signed(refund({ paise: PAID }))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['returned', null, null, null])
  t.same(await service.shown('pay_1'), ['returned', null, null, '1023.6'])
})
