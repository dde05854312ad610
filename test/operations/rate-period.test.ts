import t from 'tap'
import { lendersFile } from '../support/config/lenders-file.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData, loanData } from '../support/ledger/loans.ts'
import { givenProduct } from '../support/ledger/products.ts'
import { operate, startTestService } from '../support/service.ts'

t.test('the data of an operation with a rate names the period of it, once it is known', async t => {
  const lenders = lendersFile(t, {
    LENDER_02: { product: 'Monthly' },
    LENDER_03: { product: 'Whole' },
  })
  const service = await startTestService(
    t,
    { LENDERS_FILE: lenders },
    {
      async atLedger(sandbox) {
        await givenProduct(sandbox, 'Monthly', { interestRateFrequencyType: 2 })
        await givenProduct(sandbox, 'Whole', { interestRateFrequencyType: 4 })
      },
    },
  )
  const { call } = service
  const dataOf = async (id: string) =>
    (await call('GET', `/api/ledger/operations/${encodeURIComponent(id)}`)).body.data
  const done = async (status: string, data: object) => {
    const id = await submit(call, status, data)
    t.match(await ending(call, id), { status: 'success' })
    return dataOf(id)
  }
  await operate(call, 'CLIENT_CREATE', clientData('C-1'))
  for (const [lenderConfig, interestRateFrequencyType] of [
    ['LENDER_01', 'years'],
    ['LENDER_02', 'months'],
    ['LENDER_03', 'whole term'],
  ] as const) {
    const loan = { ...loanData(lenderConfig, 'C-1'), lenderConfig }
    t.same(await done('LOAN_CREATE', loan), { ...loan, interestRateFrequencyType })
    const rate = { externalId: lenderConfig, interestRatePerPeriod: 12 }
    t.same(await done('LOAN_UPDATE', rate), { ...rate, interestRateFrequencyType })
    const principal = { externalId: lenderConfig, principal: 40_000 }
    t.same(await done('LOAN_UPDATE', principal), principal)
  }
  await call('POST', '/api/ledger/pause', { reason: 'test' })
  const unread = loanData('L-1', 'C-404')
  t.same(await dataOf(await submit(call, 'LOAN_CREATE', unread)), unread)
})
