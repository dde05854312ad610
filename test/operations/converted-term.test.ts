import t from 'tap'
import { atLedger, clientData, loanData } from '../support/loans.ts'
import { ending, submit } from '../support/operations.ts'
import { startTestService } from '../support/service.ts'

t.test('a term becomes one in months or days where only that divides it', async t => {
  const service = await startTestService(t)
  const { call } = service
  const succeed = async (status: string, data: object) =>
    t.match(await ending(call, await submit(call, status, data)), { status: 'success' })
  const refusedWith = async (status: string, data: object) =>
    (await call('POST', '/api/ledger/operate', { status, data })).body.errors
  const termOf = async (id: string) => {
    const loan = await atLedger(service, 'GET', `/loans/external-id/${id}`)
    const { termFrequency, termPeriodFrequencyType, repaymentEvery, numberOfRepayments } = loan
    return [termFrequency, termPeriodFrequencyType.id, numberOfRepayments, repaymentEvery]
  }
  const term = (loanTermFrequency: number, loanTermFrequencyType: string, n: number) => ({
    loanTermFrequency,
    loanTermFrequencyType,
    numberOfRepayments: n,
  })
  await succeed('CLIENT_CREATE', clientData('C-1'))
  await succeed('LOAN_CREATE', { ...loanData('L-1', 'C-1'), ...term(1, 'years', 12) })
  t.same(await termOf('L-1'), [12, 2, 12, 1])
  await succeed('LOAN_CREATE', { ...loanData('L-2', 'C-1'), ...term(2, 'years', 2) })
  t.same(await termOf('L-2'), [2, 3, 2, 1], 'a whole number of years stays one')
  await succeed('LOAN_CREATE', { ...loanData('L-3', 'C-1'), ...term(2, 'weeks', 14) })
  t.same(await termOf('L-3'), [14, 0, 14, 1])

  t.same(await refusedWith('LOAN_CREATE', { ...loanData('L-4', 'C-1'), ...term(1, 'years', 7) }), [
    {
      path: '/data/loanTermFrequency',
      message: 'must be a multiple of numberOfRepayments: 1 is no multiple of 7',
    },
  ])
  t.same(await refusedWith('LOAN_UPDATE', { externalId: 'L-1', loanTermFrequency: 24 }), [
    {
      path: '/data/loanTermFrequencyType',
      message: "is required, because the loan's term of 1 years became 12 months",
    },
  ])
  await succeed('LOAN_UPDATE', { externalId: 'L-2', loanTermFrequency: 4 })
  await succeed('LOAN_UPDATE', {
    externalId: 'L-1',
    loanTermFrequency: 2,
    loanTermFrequencyType: 'years',
  })
  t.same(await termOf('L-1'), [24, 2, 12, 2])
  await succeed('LOAN_UPDATE', { externalId: 'L-1', ...term(36, 'months', 12) })
  await succeed('LOAN_UPDATE', { externalId: 'L-1', loanTermFrequency: 12 })
  t.same(await termOf('L-1'), [12, 2, 12, 1], 'months that were sent as months need no type')
})
