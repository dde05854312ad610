import t, { type Test } from 'tap'
import { filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { capturedA, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { AUTOMATIC, refund, reversing } from '../support/payments/reversals.ts'

// Each waits for a worker that looks every two seconds.
t.jobs = 4

const STANDS = 'all of it went back, and 1000 stands there as transaction'

/** A payment of 1,000, of which these parts went back, on a day that the gateway has stated. */
async function returnedParts(t: Test, ...parts: number[]) {
  const service = await reversing(t, AUTOMATIC)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  const csv = `${STATEMENT_HEADER}\npay_1,1000.00,INR,captured,${PAID_AT_ISO},,,,,`
  await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  for (const [i, rupees] of parts.entries()) {
    await service.signed(refund({ id: `rfnd_${i}`, paise: rupees * 100 }))
    await service.batch()
  }
  t.match(await service.readBack(), { loans: 1, payments: 1, differing: 0 })
  return {
    ...service,
    day: async () => {
      const { days } = await reconciliation(service.call)
      return days.map((one: any) => [one.balanced, filled(one)])
    },
    /** Leaves the ledger as one that was restored from a backup of before the refunds. */
    async standsAgain() {
      await service.restore()
      const { body } = await service.bookByHand('pay_1', 1_000, { externalId: 'gateway_a-pay_1' })
      return body.resourceId
    },
  }
}

t.test('a returned payment that stands at the ledger again is an objection', async t => {
  const service = await returnedParts(t, 300, 700)
  t.same(await service.day(), [[true, { returned: '1 1000.00' }]])
  const booked = await service.standsAgain()
  t.match(await service.readBack(), { loans: 1, payments: 1, differing: 1 })
  t.match(await service.stateOf('pay_1'), {
    state: 'returned',
    objection: 'differs_at_ledger',
    detail: `${STANDS} ${booked}`,
  })
  t.same(await service.day(), [[false, { returned: '1 1000.00', not_at_gateway: '1 1000.00' }]])
  t.match(await service.readBack(), { differing: 0 }, 'it is not news again')

  await service.undo('gateway_a-pay_1')
  t.match(await service.check('pay_1'), { body: { state: 'returned', objection: null } })
  t.same(await service.day(), [[true, { returned: '1 1000.00' }]])
})

t.test('a returned payment that somebody booked by hand again is an objection', async t => {
  const service = await returnedParts(t, 1_000)
  await service.bookByHand('PAY_1')
  t.match(await service.check('pay_1'), {
    body: { state: 'returned', objection: 'differs_at_ledger' },
  })
  t.match(await service.resolve('pay_1', { outcome: 'dismiss', note: 'it came again' }), {
    body: { state: 'returned', objection: null },
  })
  t.match(await service.readBack(), { payments: 1, differing: 0 }, 'the same fact is not news')
  t.match(await service.stateOf('pay_1'), { objection: null })
})

t.test('another payment of the loan does not count as a returned one', async t => {
  const service = await returnedParts(t, 1_000)
  await service.signed(capturedA({ id: 'pay_2', loan: 'L-1' }))
  await service.batch()
  await service.bookByHand('pay_1', 400, { externalId: 'gateway_b-pay_1' })
  const reads = async () => (await service.books()).counters.calls['GET loan'] as number
  const before = await reads()
  t.match(await service.readBack(), { loans: 1, payments: 2, differing: 0, missing: 0 })
  t.equal(await reads(), before + 1, 'the loan is read once for both')
})

t.test('a remainder that the ledger lost is posted again once its whole is undone', async t => {
  const service = await returnedParts(t, 300)
  await service.standsAgain()
  t.match(await service.readBack(), { missing: 1 })
  t.match(await service.stateOf('pay_1'), {
    reason: 'missing_at_ledger',
    detail: /neither gateway_a-pay_1-r2 .*its receipt number: amount is 1000 there, not 700$/,
  })
  await service.undo('gateway_a-pay_1')
  await service.assign('pay_1', 'L-1')
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  t.match(await service.readBack(), { payments: 1, differing: 0 })
  t.same(await service.day(), [[true, { posted: '1 700.00', returned: '1 300.00' }]])
})
