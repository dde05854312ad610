import t, { type Test } from 'tap'
import { serviceWithPosted } from '../support/books/readback.ts'
import { DATES } from '../support/ledger/ledger-driver.ts'

// Each waits for a worker that looks every two seconds.
t.jobs = 4

const PAID_ON = '2026-02-05'
const REPLACED =
  /^The ledger’s transaction \d+ was undone there on .*; transaction \d+ \(900 on 05 February 2026\), entered that day or later without a receipt number, may replace it$/

/** A payment of 1,000 that is posted, and what a person at the ledger makes of it. */
async function posted(t: Test) {
  const service = await serviceWithPosted(t, ['pay_1'])
  const write = (path: string, body: object) =>
    service.ledgerCall('POST', `/loans/external-id/L-1/transactions${path}`, { ...body, ...DATES })
  return {
    ...service,
    /** As the ledger's own page does it, where a payment type is refused. */
    adjust: (amount = 900, day = PAID_ON, of = 'external-id/gateway_a-pay_1', more = {}) =>
      write(`/${of}?command=undo`, { transactionDate: day, transactionAmount: amount, ...more }),
    async assignAndPost() {
      t.match(await service.assign('pay_1', 'L-1'), { status: 200 })
      await service.batch()
      return service.stateOf('pay_1')
    },
    standing: async () =>
      (await service.books()).transactions
        .filter(({ type, reversed }) => type === 'repayment' && !reversed)
        .map(one => [one.externalId ?? null, Number(one.amount)]),
  }
}

const REVERSED = { state: 'suspense', reason: 'reversed_at_ledger' }
const REFUSED = { state: 'suspense', reason: 'ledger_refused' }

t.test('an undone payment names what may have replaced it, and is refused first', async t => {
  const service = await posted(t)
  const { body } = await service.adjust()
  t.match(await service.check('pay_1'), { body: { ...REVERSED, detail: REPLACED } })
  const refused = await service.assignAndPost()
  t.match(refused, { ...REFUSED, detail: new RegExp(`transaction ${body.resourceId} \\(900 `) })
  t.same(await service.standing(), [[null, 900]], 'nothing is booked twice')
  const handled = { outcome: 'handled', note: 'it was 900', ledger_transaction_id: body.resourceId }
  t.match(await service.resolve('pay_1', handled), { status: 200 })
})

t.test('a payment is posted again although a repayment may have replaced it', async t => {
  const service = await posted(t)
  await service.adjust(1_000, '2026-02-06')
  await service.readBack()
  t.match(await service.assignAndPost(), REFUSED)
  t.match(await service.assignAndPost(), { state: 'posted' })
  const twice = [
    [null, 1_000],
    ['gateway_a-pay_1-r2', 1_000],
  ]
  t.same((await service.standing()).sort(), twice.sort())

  await service.adjust(800, PAID_ON, 'external-id/gateway_a-pay_1-r2')
  await service.readBack()
  t.match(await service.assignAndPost(), REFUSED, 'what was overruled was another repayment')
})

t.test('an operator’s earlier decision does not post what was adjusted since', async t => {
  const service = await posted(t)
  await service.undo('gateway_a-pay_1')
  await service.readBack()
  const decision = { external_loan_id: 'L-1', amount: 950, paid_on: '05 February 2026' }
  await service.resolve('pay_1', { outcome: 'post', note: 'less 50', ...decision })
  await service.batch()
  t.match(await service.stateOf('pay_1'), { state: 'posted' })
  await service.adjust(900, PAID_ON, 'external-id/gateway_a-pay_1-r2')
  await service.readBack()
  t.match(await service.assignAndPost(), REFUSED)
  t.match(
    await service.resolve('pay_1', { outcome: 'post', note: 'it is other money', ...decision }),
    { status: 200 },
  )
})

t.test('an adjustment that bears the payment’s name is an objection', async t => {
  const service = await posted(t)
  const externalId = 'gateway_a-pay_1-r2'
  await service.adjust(900, PAID_ON, 'external-id/gateway_a-pay_1', { externalId })
  t.match(await service.check('pay_1'), {
    body: {
      state: 'posted',
      objection: 'differs_at_ledger',
      detail: /was undone there on .*has its external id, amount is 900 there, not 1000$/,
    },
  })
})

t.test('an adjustment of an adjustment is still named', async t => {
  const service = await posted(t)
  const { body } = await service.adjust(800)
  await service.adjust(900, PAID_ON, String(body.resourceId))
  t.match(await service.check('pay_1'), { body: { ...REVERSED, detail: REPLACED } })
})

t.test('a payment is not posted where a person adjusted its repayment of a file', async t => {
  const service = await serviceWithPosted(t, [])
  await service.bookByHand('pay_1', 1_000, { externalId: 'by-hand' })
  const onLoan = '/loans/external-id/L-1/transactions/external-id/by-hand'
  const adjustment = { transactionDate: PAID_ON, transactionAmount: 900, ...DATES }
  await service.ledgerCall('POST', onLoan, adjustment)
  await service.send('pay_1')
  await service.batch()
  t.match(await service.stateOf('pay_1'), REFUSED)
})

t.test('an earlier repayment, or one with its own receipt, replaces nothing', async t => {
  const service = await serviceWithPosted(t, [])
  const cash = { transactionDate: PAID_ON, transactionAmount: 900, ...DATES }
  const onLoan = '/loans/external-id/L-1/transactions?command=repayment'
  t.match(await service.ledgerCall('POST', onLoan, cash), { status: 200 })
  await service.send('pay_1')
  await service.batch()
  await service.undo('gateway_a-pay_1')
  await service.bookByHand('receipt-of-another', 900)
  await service.readBack()
  t.match(await service.stateOf('pay_1'), { ...REVERSED, detail: /was undone there on [^;]*$/ })
  await service.assign('pay_1', 'L-1')
  await service.batch()
  t.match(await service.stateOf('pay_1'), { state: 'posted' })
})
