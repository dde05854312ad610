import { Decimal } from 'decimal.js'
import type { Body } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { LIMITS } from '../reference/product-limits.ts'
import { amountText } from './amount-text.ts'
import type { LoanRequest } from './loan-request.ts'

/** A missing principal passes. */
export function checkLimits(check: Checks, request: LoanRequest, body: Body): void {
  const { principal, numberOfRepayments, interestRatePerPeriod } = request
  const [least, most] = LIMITS.numberOfRepayments
  between(check, 'principal', principal, body.principal, LIMITS.principal)
  check.within('numberOfRepayments', numberOfRepayments, least, most)
  const rate = body.interestRatePerPeriod
  between(check, 'interestRatePerPeriod', interestRatePerPeriod, rate, LIMITS.interestRate)
}

/** Fineract checks the grace against the number of repayments even if no grace was requested. */
export function checkGrace(check: Checks, numberOfRepayments: number | undefined): void {
  if (numberOfRepayments === undefined || numberOfRepayments > 0) return
  const graces = ['graceOnPrincipalPayment', 'graceOnInterestPayment']
  if (numberOfRepayments < 0) graces.push('graceOnInterestCharged')
  for (const name of graces) {
    const message = 'Failed data validation due to: mustBeLessThan.numberOfRepayments.'
    check.fail(name, 'mustBeLessThan.numberOfRepayments', message, null)
  }
}

type Term = {
  loanTermFrequency: number
  loanTermFrequencyType: number
  numberOfRepayments: number
  repaymentEvery: number
  repaymentFrequencyType: number | undefined
}

export function refuseTerm(term: Term): void {
  const { loanTermFrequency, numberOfRepayments, repaymentEvery } = term
  const suggested = numberOfRepayments * repaymentEvery
  const code = 'validation.msg.loan.loanTermFrequency'
  const args = [loanTermFrequency, numberOfRepayments, repaymentEvery]
  const indicated = 'as indicated by numberOfRepayments and repaymentEvery.'
  if (term.loanTermFrequencyType !== term.repaymentFrequencyType) {
    const message =
      'The parameters loanTermFrequencyType and repaymentFrequencyType must be the same.'
    throw invalid([
      fieldError(
        `${code}Type.not.the.same.as.repaymentFrequencyType`,
        'loanTermFrequencyType',
        message,
        term.loanTermFrequencyType,
        term.repaymentFrequencyType,
      ),
    ])
  }
  if (loanTermFrequency === suggested) return
  const [relation, message] =
    loanTermFrequency < suggested
      ? ['less', 'The parameter loanTermFrequency is less than the suggest loan term']
      : ['greater', 'The parameter loanTermFrequency is greater than the suggested loan term']
  throw invalid([
    fieldError(
      `${code}.${relation}.than.repayment.structure.suggests`,
      'loanTermFrequency',
      `${message} ${indicated}`,
      ...args,
    ),
  ])
}

function between(
  check: Checks,
  name: string,
  value: Decimal | undefined,
  sent: unknown,
  [least, most]: readonly [string, string],
): void {
  if (value === undefined || (value.gte(least) && value.lte(most))) return
  const message = `The parameter \`${name}\` amount ${amountText(sent)} must be between ${least} and ${most} .`
  const limits = [new Decimal(least).toNumber(), new Decimal(most).toNumber()]
  check.fail(name, 'amount.is.not.within.min.max.range', message, value.toNumber(), ...limits)
}
