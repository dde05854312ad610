import t from 'tap'
import { capturedA, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { allSaved, paymentService } from '../support/payments/payments.ts'
import { migrateCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

const DAY = PAID_AT_ISO.slice(0, 10)

t.test('a row that names a gateway and its payment’s webhook become one repayment', async t => {
  const service = await paymentService(t)
  const rowOf = (loan: string, id: string, amount = '1000.00') =>
    repaymentsCsv({
      loan_external_id: loan,
      payment_reference: id,
      gateway: 'gateway_a',
      amount,
      transaction_date: DAY,
    })
  const pay = async (loan: string, id: string) => {
    await service.webhook('gateway_a', capturedA({ id, loan, amount: 100_000 }), {
      lender: 'LENDER_02',
    })
    await allSaved(service.db)
    await service.batch()
  }

  const repaymentsOn = async (loan: string) =>
    (await service.repayments()).filter(one => one.loanExternalId === loan).length

  t.test('a row after its payment’s webhook books nothing more', async t => {
    await service.loan('W-1')
    await pay('W-1', 'pay_w1')
    t.match(await migrateCsv(service, 'repayments', rowOf('W-1', 'pay_w1')), { done: 1, failed: 0 })
    t.equal(await repaymentsOn('W-1'), 1)
  })

  t.test('a webhook after its payment’s row books nothing more', async t => {
    await service.loan('W-2')
    t.match(await migrateCsv(service, 'repayments', rowOf('W-2', 'pay w2')), { done: 1 })
    await pay('W-2', 'pay w2')
    t.equal(await repaymentsOn('W-2'), 1)
    t.match(await service.payment('pay w2'), { payment: { state: 'posted' } })
  })

  t.test('a row whose reference is no id of its gateway is an error', async t => {
    for (const id of ['ｐａｙ＿w4', 'pаy_w4', 'pay–w4', 'pay_w4 (UPI)', 'pay_w4, pay_w5']) {
      const { body } = await uploadCsv(service, 'repayments', rowOf('W-1', id))
      t.match(body.errors, [{ line: 2, reason: /^payment_reference has / }], id)
    }
  })

  t.test('a row whose reference another gateway or a bank gave is an error', async t => {
    const rows = repaymentsCsv(
      { gateway: 'gateway_a', payment_reference: '402345678901' },
      { gateway: 'gateway_a', payment_reference: '1453002795' },
      { gateway: 'gateway_b', payment_reference: 'pay_29QQoUBi66xm2f' },
      { gateway: 'gateway_b', payment_reference: '402345678901' },
      { gateway: '', payment_reference: 'pay_29QQoUBi66xm2f' },
    )
    const { body } = await uploadCsv(service, 'repayments', rows)
    const reason =
      /^payment_reference has the form of another gateway’s id .* or correct the gateway$/
    t.match(body, { valid_rows: 2, errors: [2, 3, 4].map(line => ({ line, reason })) })
  })

  t.test('an own reference in other dashes or full-width digits is one payment', async t => {
    await service.loan('W-4')
    const own = (payment_reference: string) => ({ loan_external_id: 'W-4', payment_reference })
    for (const [first, second] of [
      ['UTR-99-1', 'UTR–99–1'],
      ['１２３４５６', '123456'],
      ['R\u00c9F1', 'RE\u0301F1'],
    ] as const) {
      const file = repaymentsCsv(own(first), own(second))
      t.match(await migrateCsv(service, 'repayments', file), { done: 1, failed: 1 }, first)
    }
  })

  t.test('a row with another amount than its payment’s webhook fails', async t => {
    await service.loan('W-3')
    await pay('W-3', 'pay_w3')
    const run = await migrateCsv(service, 'repayments', rowOf('W-3', 'pay_w3', '999.00'))
    t.match(run, { done: 0, failed: 1 })
    t.equal(await repaymentsOn('W-3'), 1)
  })
})
