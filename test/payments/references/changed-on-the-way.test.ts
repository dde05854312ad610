import t, { type Test } from 'tap'
import { makeLedgerLoan } from '../../support/ledger/ledger-loan.ts'
import { eventA } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

async function withAccount(t: Test) {
  const service = await paymentService(t)
  for (const loan of ['L-1', 'L-2']) await service.loan(loan)
  const path = '/api/references/gateway_a/virtual_account/va_1'
  const put = (loan: string, query = '') =>
    service.call('PUT', path + query, { external_loan_id: loan })
  return {
    ...service,
    put,
    replace: async (loan: string) => {
      const { status } = await put(loan, '?replace=true')
      if (status > 201) throw new Error(`not replaced: ${status}`)
    },
    remove: () => service.call('DELETE', path),
    transfer: (facts: object = {}) => service.webhook('gateway_a', transferA(facts), LENDER),
    pause: () => service.call('POST', '/api/ledger/pause', { reason: 'close of business' }),
    resume: () => service.call('POST', '/api/ledger/resume'),
    loans: async () => (await service.repayments()).map(({ loanExternalId }) => loanExternalId),
    fate: async () => {
      const { payment } = await service.payment('pay_1')
      const { state, reason, external_loan_id, matched_by } = payment
      return [state, reason, external_loan_id, matched_by]
    },
  }
}

const transferA = (facts: object) =>
  eventA('virtual_account.credited', {
    payload: { virtual_account: { entity: { id: 'va_1', notes: [] } } },
    ...facts,
  })

t.test('a reference that is replaced during a pause gives the payment to the new loan', async t => {
  const service = await withAccount(t)
  await service.put('L-1')
  await service.pause()
  await service.transfer()
  await service.batch()
  t.same(await service.fate(), ['waiting', null, 'L-1', 'virtual_account'])
  await service.replace('L-2')
  await service.batch()
  await service.resume()
  await until(async () => {
    const { payment } = await service.payment('pay_1')
    return payment.detail?.endsWith('its references changed') ? true : undefined
  }, 'the repayment is stopped')
  await service.batch()
  t.same(await service.fate(), ['posted', null, 'L-2', 'virtual_account'])
  t.same(await service.loans(), ['L-2'])
})

t.test('a reference that is deleted during a pause leaves the payment without a loan', async t => {
  const service = await withAccount(t)
  await service.put('L-1')
  await service.pause()
  await service.transfer()
  await service.batch()
  await service.remove()
  await service.resume()
  await service.ended('pay_1')
  t.same(await service.fate(), ['suspense', 'no_loan_named', null, null])
  t.same(await service.loans(), [])
})

t.test('a reference against the notes of a payment on its way holds it', async t => {
  const service = await withAccount(t)
  await service.pause()
  await service.transfer({ loan: 'L-1' })
  await service.batch()
  await service.put('L-2')
  await service.resume()
  await service.ended('pay_1')
  t.same(await service.fate(), ['suspense', 'events_disagree', 'L-1', 'notes'])
  t.same(await service.loans(), [])
})

t.test('a payment that may have arrived keeps its loan when its reference changes', async t => {
  const service = await withAccount(t)
  await service.put('L-1')
  await service.loseAnswer()
  await service.transfer()
  await service.batch()
  await service.replace('L-2')
  await service.batch()
  await service.faults([])
  t.match(await service.ended('pay_1'), { state: 'posted', external_loan_id: 'L-1' })
  t.same(await service.loans(), ['L-1'])
})

t.test('a payment that an operator assigned is posted whatever its reference says', async t => {
  const service = await withAccount(t)
  await service.transfer()
  await service.batch()
  await service.pause()
  await service.assign('pay_1', 'L-1')
  await service.batch()
  await service.replace('L-2')
  await service.resume()
  t.match(await service.ended('pay_1'), { state: 'posted', external_loan_id: 'L-1' })
})

t.test('a refused payment is posted once, to the loan that its reference then names', async t => {
  const service = await withAccount(t)
  const post = async (path: string, body: object) =>
    (await service.ledgerCall('POST', path, { ...body, dateFormat: 'yyyy-MM-dd', locale: 'en' }))
      .body
  const terms = { productId: 2, principal: 12_000, interestRatePerPeriod: 0 }
  const late = {
    day: '2026-03-01',
    until: 'disbursed',
    client: { activationDate: '2023-01-05' },
    terms,
  } as const
  await makeLedgerLoan(post, 'L-late', late)
  await service.put('L-late')
  await service.transfer()
  await service.batch()
  t.same(await service.fate(), ['suspense', 'ledger_refused', 'L-late', 'virtual_account'])
  await service.replace('L-2')
  for (let n = 0; n < 3; n++) await service.batch()
  t.same(await service.fate(), ['posted', null, 'L-2', 'virtual_account'])
  t.same(await service.loans(), ['L-2'])
})

t.test('a refused payment that the ledger has is not posted again by a reference', async t => {
  const service = await withAccount(t)
  await service.put('L-late')
  await service.transfer()
  await service.batch()
  t.same(await service.fate(), ['suspense', 'loan_unknown', 'L-late', 'virtual_account'])
  // The ledger is as an attempt leaves it whose answer nobody got, and that a person has declared failed.
  await service.bookAt('L-1', 1_000, { externalId: 'gateway_a-pay_1' })
  await service.replace('L-2')
  for (let n = 0; n < 2; n++) await service.batch()
  t.same(await service.fate(), ['suspense', 'ledger_refused', 'L-2', 'virtual_account'])
  t.same(await service.loans(), ['L-1'])
})
