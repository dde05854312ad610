import t from 'tap'
import { atLedger, control, disbursal, givenLoan, loanData } from '../support/ledger/loans.ts'
import { operate, startTestService } from '../support/service.ts'

t.test('an operation is refused if, and only if, the ledger would round its amount', async t => {
  const rounding = { product: 1, decimalPlaces: 0, inMultiplesOf: 50 }
  const service = await startTestService(
    t,
    {},
    { atLedger: sandbox => control(sandbox, 'PUT', '/rounding', rounding) },
  )
  const { call } = service
  const created = await givenLoan(call)
  const approved = await givenLoan(call, 'approved')
  const { clientExternalId: client } = await atLedger(
    service,
    'GET',
    `/loans/external-id/${created}`,
  )

  const refused = async (name: string, data: object) =>
    t.match(await operate(call, name, data), {
      status: 'failed',
      failure_response: {
        httpStatusCode: '400',
        errors: [{ userMessageGlobalisationCode: 'loanops.amount.not.exact' }],
      },
    })

  t.test('LOAN_CREATE refuses an amount that the ledger would round', async () => {
    await refused('LOAN_CREATE', { ...loanData('L-decimals', client), principal: 50_000.5 })
    await refused('LOAN_CREATE', { ...loanData('L-multiples', client), principal: 50_020 })
  })
  t.test('LOAN_UPDATE refuses an amount that the ledger would round', () =>
    refused('LOAN_UPDATE', { externalId: created, principal: 60_020 }),
  )
  t.test('LOAN_DISBURSE refuses an amount that the ledger would round', () =>
    refused('LOAN_DISBURSE', { ...disbursal(approved), transactionAmount: 40_020 }),
  )

  t.test('LOAN_DISBURSE accepts an amount that the ledger books exactly', async t => {
    const data = { ...disbursal(approved), transactionAmount: 40_050 }
    t.match(await operate(call, 'LOAN_DISBURSE', data), { status: 'success' })
  })
})
