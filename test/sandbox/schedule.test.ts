import t from 'tap'
import type { LoanTerms } from '../../src/sandbox/loans/loan.ts'
import { duesOf as duesOfLoan } from '../../src/sandbox/loans/schedule.ts'

const TERMS: LoanTerms = {
  loanTermFrequency: 12,
  loanTermFrequencyType: 2,
  numberOfRepayments: 12,
  repaymentEvery: 1,
  repaymentFrequencyType: 2,
  interestRatePerPeriod: '18',
  interestType: 0,
  interestCalculationPeriodType: 1,
  amortizationType: 1,
  transactionProcessingStrategyCode: 'mifos-standard-strategy',
}

const duesOf = (paise: number, terms: Partial<LoanTerms>) =>
  duesOfLoan({
    terms: { ...TERMS, ...terms },
    scheduled: {
      principal: paise,
      interestRatePerPeriod: terms.interestRatePerPeriod ?? TERMS.interestRatePerPeriod,
      from: '2024-01-15',
    },
  })

t.test('with flat interest, the last instalment takes the rounding difference', async t => {
  const interest = (paise: number, interestRatePerPeriod: string) =>
    duesOf(paise, { interestType: 1, interestRatePerPeriod }).map(due => due.interest)
  t.strictSame(interest(10_000_00, '10'), [...Array(11).fill(83_33), 83_37])
  t.strictSame(interest(50_000_00, '12.5'), [...Array(11).fill(520_83), 520_87])
})

t.test('with a rate whose monthly fraction never ends, half a paisa is not quite half', async t => {
  const [first] = duesOf(75_000_00, { interestRatePerPeriod: '13.25', numberOfRepayments: 8 })
  t.match(first, { interest: 828_13, principal: 9_018_66 })
  const twenty = duesOf(5_000_00, { interestRatePerPeriod: '20', numberOfRepayments: 20 })
  t.match(twenty[18], { interest: 9_63, principal: 286_41 })
  const quarters = { interestRatePerPeriod: '20', numberOfRepayments: 10, repaymentEvery: 3 }
  t.match(duesOf(1_000_00, quarters)[1], { interest: 46_03 })
})

t.test('an exact half paisa is rounded to even', async t => {
  const interest = (paise: number, interestRatePerPeriod: string) =>
    duesOf(paise, { interestRatePerPeriod })[0]?.interest
  t.equal(interest(100_50, '12'), 1_00)
  t.equal(interest(101_50, '12'), 1_02)
  t.equal(interest(1_80, '10'), 2, 'truncated to 19 digits and multiplied, it is whole again')
})

t.test('a principal without interest is divided as doubles', async t => {
  t.equal(duesOf(100_02, { interestRatePerPeriod: '0' })[0]?.principal, 8_33)
})
