import t, { type Test } from 'tap'
import type { Attempt } from '../../../src/engine/operation.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { repaymentEffect } from '../../../src/ledger/loans/repayment.ts'
import { loanDisburse } from '../../../src/operations/loan-disburse.ts'
import { ending, listed, submit } from '../../support/engine/operations.ts'
import {
  approval,
  atLedger,
  DAY,
  disbursal,
  ledgerLoan,
  writesOn,
} from '../../support/ledger/loans.ts'
import { type Interference, ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { migrateCsv } from '../../support/portfolio/migrate.ts'
import { loansCsv } from '../../support/portfolio/rows.ts'
import { type Preparation, startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

async function throughProxy(t: Test, preparation: Preparation = {}) {
  const proxy = await startProxy(t)
  const service = await paymentService(t, { LEDGER_URL: proxy.url }, preparation)
  proxy.target = service.ledger.url
  return { proxy, service }
}

t.test('a repayment refused by a newer ledger on a closed loan says it is not active', async t => {
  const { proxy, service } = await throughProxy(t)
  await service.loan('L-1')
  const code = 'error.msg.loan.transaction.not.allowed.on.closed.or.overpaid'
  const body = ledgerBody(403, code, 'Transaction is not allowed on a closed loan.')
  proxy.interferences = [{ of: 'L-1', on: 'writes', status: 403, body }]
  await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-1' }), {
    lender: 'LENDER_02',
  })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, {
    state: 'suspense',
    reason: 'loan_not_active',
    detail: /Transaction is not allowed on a closed loan/,
  })
})

t.test('a kind of transaction that only newer ledgers have takes no payer’s money', async t => {
  const { proxy, service } = await throughProxy(t)
  await service.loan('L-1')
  let accrual = 0
  const alters: Interference['alters'] = ({ body }) => {
    for (const one of body.transactions ?? []) {
      if (one.type.repayment) one.type.repaymentType = true
      if (!one.type.accrual) continue
      accrual = one.id
      one.type = { value: 'Accrual Adjustment', accrual: false, accrualAdjustment: true }
    }
  }
  const event = capturedA({ id: 'pay_1', loan: 'L-unknown' })
  await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await service.batch()
  proxy.interferences = [{ of: 'L-1', on: 'reads', alters }]
  const handled = (ledger_transaction_id: number) =>
    service.resolve('pay_1', {
      outcome: 'handled',
      note: 'seen',
      external_loan_id: 'L-1',
      ledger_transaction_id,
    })
  await handled(1_000_000)
  t.match(await handled(accrual), {
    status: 409,
    body: { detail: `Transaction ${accrual} (Accrual Adjustment) takes no payer’s money` },
  })
  const { body } = await service.bookAt('L-1', 1_000, { externalId: 'by-hand' })
  t.match(await handled(body.resourceId), { status: 200 }, 'a repayment also has another flag')
})

t.test('a write that already waits for its second person waits for that approval', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service, 'approved')
  const body = ledgerBody(409, 'error.msg.maker.checker.duplicate.pending.submission')
  proxy.interferences = [{ of: loan, on: 'writes', status: 409, body }]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  const shown = await until(async () => {
    const operation = await listed(service.call, loan, id)
    return operation.waiting_for !== null && operation
  })
  t.match(shown, { waiting_for: 'ledger_approval' })
})

t.test('a 503 that forbids an adjustment or a chargeback for good is a refusal', async t => {
  const { proxy, service } = await throughProxy(t)
  for (const code of [
    'error.msg.loan.written.off.update.not.allowed',
    'error.msg.loan.chargeback.operation.not.allowed',
  ]) {
    const loan = await ledgerLoan(service)
    proxy.interferences = [{ of: loan, on: 'writes', status: 503, body: ledgerBody(503, code) }]
    const change = { externalId: loan, principal: 40_000 }
    const id = await submit(service.call, 'LOAN_UPDATE', change)
    t.match(await ending(service.call, id, 5), {
      status: 'failed',
      failure_response: { httpStatusCode: '503' },
    })
  }
})

t.test('a transaction that lost its external id is found by its receipt number', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const ledger = openLedger(service.config)
  t.teardown(() => ledger.close())
  const loan = await ledgerLoan(service, 'approved')
  const path = `/loans/external-id/${loan}`
  const receipt = (receiptNumber: string) => ({ receiptNumber, paymentTypeId: 1 })
  await atLedger(service, 'POST', `${path}?command=disburse`, {
    actualDisbursementDate: DAY,
    ...receipt('UTR1'),
  })
  const paid = { transactionDate: DAY, transactionAmount: 100, ...receipt('pay_1') }
  await atLedger(service, 'POST', `${path}/transactions?command=repayment`, paid)

  const of = { loanExternalId: loan, day: DAY, amount: '100' }
  const ours = { ...of, externalId: 'gateway_a-pay_1', receiptNumber: 'pay_1' }
  const run = { ledger, mayStillRun: false }
  t.match(await repaymentEffect(run, ours), { state: 'there' })
  t.match(await repaymentEffect({ ...run, mayStillRun: true }, ours), { state: 'absent' })
  const other = { ...of, externalId: 'gateway_a-pay_2', receiptNumber: 'pay_2' }
  t.match(await repaymentEffect(run, other), { state: 'absent' })

  const attempt = { ...run, id: 'our-id' } as Attempt
  const found = (utr_payment_id: string, mayStillRun = false) =>
    loanDisburse.find({ ...attempt, mayStillRun }, { ...disbursal(loan), utr_payment_id })
  t.match(await found('UTR1'), { state: 'there' })
  t.match(await found('UTR1', true), { state: 'absent' }, 'it may be another’s')
  t.match(await found('UTR2'), { state: 'absent' })
})

t.test('a disbursement without a UTR that lost answer and external id is found by key', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service, 'approved')
  const body = ledgerBody(404, 'error.msg.loan.transaction.external.id.invalid')
  proxy.interferences = [
    { of: loan, on: 'writes', afterwards: true, times: 1 },
    { of: '/transactions/external-id/', on: 'reads', status: 404, body },
  ]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  const record = await ending(service.call, id)
  t.match(record, { status: 'success', success_response: { subResourceId: Number } })
  t.equal((await writesOn(service, loan)).filter(one => one === 'DISBURSE/LOAN').length, 1)
})

t.test('days that a ledger writes as texts are read as days', async t => {
  const { proxy, service } = await throughProxy(t, { flags: ['business-date=2026-03-05'] })
  proxy.interferences = [daysAreTexts('reads')]
  const { findings } = (await service.call('POST', '/api/ledger/check')).body
  const found = findings.find((one: { check: string }) => one.check === 'business_date')
  t.match(found, { found: /^it is 2026-03-05,/ })
  const row = { loan_external_id: 'L-1', client_external_id: 'C-1' }
  const { dry_run } = await migrateCsv(service, 'loans', loansCsv(row), { dry_run: true })
  t.match(dry_run, { refused: 0 })
  t.match(await migrateCsv(service, 'loans', loansCsv(row)), { done: 1 })
  t.match(await migrateCsv(service, 'loans', loansCsv(row)), { done: 1 })
})

t.test('the result of an approval may have days as texts, too', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service)
  proxy.interferences = [daysAreTexts('writes')]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const { success_response } = await ending(service.call, id)
  t.match(success_response, { changes: { expectedDisbursementDate: [2026, 1, 5] } })
  t.match(await listed(service.call, loan, id), { attempts: 1 }, 'it was believed at once')
})

/** Newer versions write a day so, unless they are told to keep the list. */
const daysAreTexts = (on: 'reads' | 'writes'): Interference => ({
  of: '/',
  on,
  alters: answer => Object.assign(answer, daysAsTexts(answer)),
})
const daysAsTexts = (answer: { body: object }) =>
  JSON.parse(JSON.stringify(answer), (_, value) =>
    isDay(value) ? value.map(part => String(part).padStart(2, '0')).join('-') : value,
  )
const isDay = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length === 3 && value.every(Number.isInteger)
