import t from 'tap'
import type { Attempt } from '../../src/engine/operation.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { loanDisburse } from '../../src/operations/loan-disburse.ts'
import { disbursal, givenLoan } from '../support/ledger/loans.ts'
import { operate, startTestService } from '../support/service.ts'

t.test('a look finds a disbursement even if the payment types cannot be read', async t => {
  const { call, config } = await startTestService(t)
  const loan = await givenLoan(call, 'approved')
  const data = { ...disbursal(loan), utr_payment_id: 'UTR1' }
  const { tracking_id, ...record } = await operate(call, 'LOAN_DISBURSE', data)
  const ledger = openLedger(config)
  t.teardown(ledger.close)
  const reference = { paymentTypeId: () => Promise.reject(new Error('not readable')) }
  const attempt = { ledger, reference, id: tracking_id.split('|')[1] } as unknown as Attempt
  const { changes } = record.success_response
  t.match(await loanDisburse.find(attempt, data), {
    state: 'there',
    body: { changes: { paymentTypeId: changes.paymentTypeId, receiptNumber: 'UTR1' } },
  })
  t.type(changes.paymentTypeId, 'number')
})
