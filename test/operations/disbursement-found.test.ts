import t from 'tap'
import type { Attempt } from '../../src/engine/operation.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { loanDisburse } from '../../src/operations/loan-disburse.ts'
import { attemptsOf, ending, hurry, submit } from '../support/engine/operations.ts'
import { atLedger, control, disbursal, givenLoan, ledgerLoan } from '../support/ledger/loans.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { operate, startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** What the older loan of a top-up loan owed. */
const PAID_OFF = 10_000

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

t.test('a disbursement of a top-up loan is found once a second person has approved it', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service, 'approved')
  await control(service, 'PUT', '/faults', [
    { kind: 'makerChecker', times: 1, match: { externalId: loan, on: 'writes' } },
  ])
  // The ledger books the disbursement of such a loan without what its older loan owed.
  proxy.interferences = [
    {
      of: loan,
      on: 'reads',
      alters({ body }) {
        if (body.type?.disbursement) body.amount -= PAID_OFF
      },
    },
  ]
  const data = { ...disbursal(loan), transactionAmount: 50_000 }
  const id = await submit(service.call, 'LOAN_DISBURSE', data)
  await until(async () => (await attemptsOf(service, id))[0])
  const [pending] = await atLedger(service, 'GET', '/makercheckers')
  await atLedger(service, 'POST', `/makercheckers/${pending.id}?command=approve`)
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})
