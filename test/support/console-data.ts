import { capturedA, refundA } from './gateway-events.ts'
import { caller, operate } from './service.ts'
import { until } from './until.ts'

const LOAN = {
  lenderConfig: 'LENDER_02',
  principal: 50000,
  submittedOnDate: '10 January 2026',
  loanTermFrequency: 12,
  numberOfRepayments: 12,
  interestRatePerPeriod: 18,
}

/** What a console shows on a quiet day: two loans, payments of every kind, and a refusal. */
export async function fillConsole(url: string): Promise<void> {
  const call = caller(url)
  await operate(call, 'CLIENT_CREATE', {
    firstname: 'Asha',
    lastname: 'Rao',
    externalId: 'C-1001',
    activationDate: '05 January 2026',
  })
  for (const externalId of ['L-1001', 'L-1002']) {
    await operate(call, 'LOAN_CREATE', { ...LOAN, externalId, clientId: 'C-1001' })
    await operate(call, 'LOAN_APPROVE', {
      external_loan_id: externalId,
      approvedOnDate: '12 January 2026',
    })
    await operate(call, 'LOAN_DISBURSE', {
      external_loan_id: externalId,
      actualDisbursementDate: '13 January 2026',
      utr_payment_id: `UTR-${externalId}`,
    })
  }
  await operate(call, 'LOAN_APPROVE', {
    external_loan_id: 'L-9',
    approvedOnDate: '12 January 2026',
  })
  for (const event of [
    capturedA({ id: 'pay_posted', amount: 458_400, loan: 'L-1001' }),
    capturedA({ id: 'pay_nobody', amount: 1_234_550, notes: { order: 'unpaid <b>bill</b>' } }),
    capturedA({ id: 'pay_unknown_loan', amount: 99_900, loan: 'L-77' }),
    refundA({ id: 'rfnd_1', of: 'pay_posted' }),
  ])
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  await runBatch(url)
}

/** Posts what can be posted, and waits for the end of it. */
export async function runBatch(url: string): Promise<void> {
  const call = caller(url)
  const { body } = await call('POST', '/api/payments/batch')
  await until(async () => {
    const batch = await call('GET', `/api/payments/batches/${body.batch_id}`)
    return batch.body.status === 'completed'
  })
}
