import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { capturedA, PAID_AT } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService, withLedger } from '../../support/payments/payments.ts'

/** A service whose ledger shows each loan as `change` has it. */
async function withLoansAs(t: Test, change: (loan: any) => object) {
  // The service asks before its sandbox is known here.
  const sandbox = Promise.withResolvers<string>()
  const front = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    const sent = await text(request)
    const answer = await fetch((await sandbox.promise) + url, {
      method,
      headers: { ...(headers as Record<string, string>), connection: 'close' },
      ...(sent === '' ? {} : { body: sent }),
    })
    const body = await answer.text()
    const isLoan =
      method === 'GET' && answer.ok && /\/loans\/external-id\/[^/]+$/.test(url.split('?')[0] ?? '')
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(
      isLoan ? JSON.stringify({ ...JSON.parse(body), ...change(JSON.parse(body)) }) : body,
    )
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  t.teardown(() => front.close())
  const { port } = front.address() as { port: number }
  const service = await paymentService(t, { LEDGER_URL: `http://127.0.0.1:${port}/api/v1` })
  sandbox.resolve(service.ledger.url.replace(/\/api\/v1$/, ''))
  await service.loan('L-1')
  return service
}

t.test('a payment on a written-off loan is in suspense, and nothing is sent', async t => {
  const status = { id: 601, value: 'Closed (written off)' }
  const service = await withLoansAs(t, () => ({ status }))
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, {
    state: 'suspense',
    reason: 'loan_not_active',
    detail: /written off/,
  })
  t.equal((await service.repayments()).length, 0)
})

t.test('a payment not in rupees is posted only on a loan in its currency', async t => {
  const currency = (loan: any) => ({ currency: { ...loan.currency, code: 'USD' } })
  const service = await withLoansAs(t, currency)
  await service.webhook(
    'gateway_a',
    capturedA({ id: 'pay_usd', loan: 'L-1', currency: 'USD' }),
    LENDER,
  )
  await service.webhook('gateway_a', capturedA({ id: 'pay_inr', loan: 'L-1' }), LENDER)
  await service.webhook(
    'gateway_a',
    capturedA({ id: 'pay_none', loan: 'L-1', currency: null }),
    LENDER,
  )
  await service.batch()
  t.match((await service.payment('pay_usd')).payment, { state: 'posted', currency: 'USD' })
  const held = { state: 'suspense', reason: 'currency_mismatch' }
  t.match((await service.payment('pay_inr')).payment, { ...held, detail: /in INR.*in USD/ })
  t.match((await service.payment('pay_none')).payment, { ...held, detail: /no currency/ })
})

t.test('an amount of 15 digits is posted to the paisa; the ledger holds no more', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  for (const [id, amount] of [
    ['pay_most', 999_999_999_999_999],
    ['pay_more', 1_000_000_000_000_000],
  ] as const)
    await service.webhook('gateway_a', capturedA({ id, amount, loan: 'L-1' }), LENDER)
  await service.batch()
  t.match((await service.payment('pay_most')).payment, {
    state: 'posted',
    reason: 'overpaid',
    amount: '9999999999999.99',
  })
  t.match((await service.payment('pay_more')).payment, { reason: 'amount_invalid' })
  t.same(
    (await service.repayments()).map(({ amount }) => amount),
    ['9999999999999.99'],
  )
})

t.test('the ledger refuses a payment of a day before the disbursement, or to come', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const on = (id: string, created_at: number) =>
    service.webhook('gateway_a', capturedA({ id, loan: 'L-1', payment: { created_at } }), LENDER)
  await on('pay_early', Date.parse('2024-01-14T10:00:00+05:30') / 1_000)
  await on('pay_late', PAID_AT + 20 * 366 * 86_400)
  await service.batch()
  const held = { state: 'suspense', reason: 'ledger_refused' }
  t.match((await service.payment('pay_early')).payment, {
    ...held,
    detail: /cannot be before the loan disbursement date/,
  })
  t.match((await service.payment('pay_late')).payment, { ...held, detail: /in the future/ })
  t.equal((await service.repayments()).length, 0)
})

t.test('a repayment itself shows if it was too much, whatever its loan seemed to owe', async t => {
  const { proxy, service: started } = await throughProxy(t)
  const service = withLedger(started)
  const cases = [
    // The interest of months to come, which nobody owes who pays the loan off.
    { loan: 'L-more', isRecalculated: true, seen: 1_200, paid: 1_250_000, reason: 'overpaid' },
    // The interest of late days, which the ledger adds with the payment.
    { loan: 'L-less', isRecalculated: true, seen: -50, paid: 1_198_000, reason: null },
    // A penalty of late days, which its close of business adds.
    { loan: 'L-late', isRecalculated: false, seen: -50, paid: 1_198_000, reason: null },
  ]
  for (const { loan, isRecalculated, seen, paid } of cases) {
    await service.loan(loan, { principal: 12_000 })
    proxy.interferences.push({
      of: `/loans/external-id/${loan}?`,
      on: 'reads',
      alters({ body }) {
        body.isInterestRecalculationEnabled = isRecalculated
        if (body.summary?.totalOutstanding > 0) body.summary.totalOutstanding += seen
      },
    })
    await service.webhook('gateway_a', capturedA({ id: loan, loan, amount: paid }), LENDER)
  }
  await service.batch()
  for (const { loan, reason } of cases)
    t.match((await service.payment(loan)).payment, { state: 'posted', reason }, loan)
  const { body: metrics } = await service.call('GET', '/metrics')
  t.match(metrics, /loanops_overpaid_repayments_total 1/)
})

t.test('a repayment that cannot be read after it was posted remains posted', async t => {
  const { proxy, service: started } = await throughProxy(t)
  const service = withLedger(started)
  await service.loan('L-1', { principal: 12_000 })
  proxy.interferences.push(
    {
      of: '/loans/external-id/L-1?',
      on: 'reads',
      alters({ body }) {
        body.isInterestRecalculationEnabled = true
      },
    },
    { of: '/transactions/external-id/gateway_a-pay_1', on: 'reads', status: 502, body: 'away' },
  )
  await service.webhook('gateway_a', capturedA({ loan: 'L-1', amount: 1_250_000 }), LENDER)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', reason: 'overpaid' })
})
