import t from 'tap'
import {
  approval,
  atLedger,
  clientData,
  disbursal,
  givenCharge,
  LATER_DAY,
  ledgerLoanBody,
  loanData,
  newName,
} from '../support/loans.ts'
import { operate, startTestService } from '../support/service.ts'

t.test('all seven operations end in success, each with the ledger’s own answer', async t => {
  const service = await startTestService(t)
  const run = (status: string, data: object) => operate(service.call, status, data)
  const client = newName('C')
  const loan = newName('L')

  const created = await run('CLIENT_CREATE', clientData(client))
  t.match(created, { status: 'success', success_response: { resourceExternalId: client } })
  t.match(await run('CLIENT_UPDATE', { externalId: client, emailAddress: 'asha@example.in' }), {
    status: 'success',
    success_response: { changes: { emailAddress: 'asha@example.in' } },
  })
  t.match(await run('LOAN_CREATE', loanData(loan, client)), {
    status: 'success',
    success_response: { resourceExternalId: loan, loanId: Number },
  })
  t.match(await run('LOAN_UPDATE', { externalId: loan, principal: 60_000 }), { status: 'success' })
  t.match(await run('LOAN_APPROVE', approval(loan)), {
    status: 'success',
    success_response: { changes: { status: { id: 200 } } },
  })
  t.match(await run('LOAN_DISBURSE', { ...disbursal(loan), utr_payment_id: 'UTR1' }), {
    status: 'success',
    success_response: { subResourceId: Number },
  })
  const gone = newName('L')
  await run('LOAN_CREATE', loanData(gone, client))
  t.match(await run('LOAN_DELETE', { external_loan_id: gone }), {
    status: 'success',
    success_response: { resourceExternalId: gone },
  })

  const atEnd = await atLedger(
    service,
    'GET',
    `/loans/external-id/${loan}?associations=transactions`,
  )
  t.match(atEnd, { status: { id: 300 }, principal: 60_000 })
  t.equal(atEnd.transactions[0].paymentDetailData.receiptNumber, 'UTR1')
})

t.test('create, approve and disburse sent back to back run in order', async t => {
  const { call } = await startTestService(t)
  const client = newName('C')
  const loan = newName('L')
  const sent: [string, object][] = [
    ['CLIENT_CREATE', clientData(client)],
    ['LOAN_CREATE', loanData(loan, client)],
    ['LOAN_APPROVE', { ...approval(loan), approvedOnDate: LATER_DAY }],
    ['LOAN_DISBURSE', { ...disbursal(loan), actualDisbursementDate: LATER_DAY }],
  ]
  const ids: string[] = []
  for (const [status, data] of sent) {
    const { body } = await call('POST', '/api/ledger/operate', { status, data })
    ids.push(body.tracking_id)
  }
  const ends: string[] = []
  for (const id of ids) {
    const { body } = await call('GET', `/api/ledger/track/${encodeURIComponent(id)}?wait=20`)
    t.equal(body.status, 'success', body.error_message)
    ends.push(body.processed_at)
  }
  t.same(ends, ends.toSorted())
})

t.test('a failed predecessor does not fail its followers: the ledger answers each', async t => {
  const { call } = await startTestService(t)
  const client = newName('C')
  const loan = newName('L')
  await operate(call, 'CLIENT_CREATE', clientData(client))
  const refused = call('POST', '/api/ledger/operate', {
    status: 'LOAN_APPROVE',
    data: approval(loan),
  })
  await refused
  const created = await operate(call, 'LOAN_CREATE', loanData(loan, client))
  t.equal(created.status, 'success')
  const { body } = await call('GET', `/api/ledger/operations?external_id=${loan}`)
  t.same(
    body.operations.map((one: any) => [one.operation_type, one.status]),
    [
      ['LOAN_CREATE', 'success'],
      ['LOAN_APPROVE', 'failed'],
    ],
  )
  t.match(body.operations[1], {
    failure_response: { httpStatusCode: '404' },
    error_message: /404/,
  })
})

t.test(
  'an update to a term that is not a multiple of the repayments is refused in the ledger’s format',
  async t => {
    const { call } = await startTestService(t)
    const client = newName('C')
    const loan = newName('L')
    await operate(call, 'CLIENT_CREATE', clientData(client))
    await operate(call, 'LOAN_CREATE', loanData(loan, client))
    t.match(await operate(call, 'LOAN_UPDATE', { externalId: loan, numberOfRepayments: 7 }), {
      status: 'failed',
      failure_response: {
        httpStatusCode: '400',
        errors: [{ userMessageGlobalisationCode: 'loanops.term.not.multiple' }],
      },
    })
  },
)

t.test('an update keeps the charges of the loan', async t => {
  const service = await startTestService(t)
  const client = newName('C')
  const loan = newName('L')
  await operate(service.call, 'CLIENT_CREATE', clientData(client))
  const { id: clientId } = await atLedger(service, 'GET', `/clients/external-id/${client}`)
  const chargeId = await givenCharge(service, { amount: 500 })
  await atLedger(service, 'POST', '/loans', {
    ...ledgerLoanBody(loan, clientId),
    charges: [{ chargeId, amount: 500, dueDate: LATER_DAY }],
  })
  await operate(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 70_000 })
  const after = await atLedger(service, 'GET', `/loans/external-id/${loan}?associations=charges`)
  t.match(after, { principal: 70_000, charges: [{ chargeId, amount: 500 }] })
})
