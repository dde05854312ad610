import { Decimal } from 'decimal.js'
import type { Body } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import type { Product, Range } from '../reference/product.ts'
import { amountText } from './amount-text.ts'
import type { LoanRequest } from './loan-request.ts'

/** A missing principal passes. */
export function checkLimits(
  check: Checks,
  product: Product,
  request: LoanRequest,
  body: Body,
): void {
  const { principal, numberOfRepayments, interestRatePerPeriod } = request
  const { least = 1, most = Number.MAX_SAFE_INTEGER } = product.numberOfRepayments
  const money = (limit: string) => new Decimal(limit).toFixed(2)
  between(check, 'principal', principal, body.principal, product.principal, money)
  check.within('numberOfRepayments', numberOfRepayments, least, most)
  const rate = body.interestRatePerPeriod
  const limits = product.interestRatePerPeriod
  between(check, 'interestRatePerPeriod', interestRatePerPeriod, rate, limits, asDouble)
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

/** The limit as Java prints a double, which the ledger's messages show. */
const asDouble = (limit: string): string => amountText(Number(limit))

function between(
  check: Checks,
  name: string,
  value: Decimal | undefined,
  sent: unknown,
  { least = '0', most = '1e30' }: Range<string>,
  show: (limit: string) => string,
): void {
  if (value === undefined || (value.gte(least) && value.lte(most))) return
  const message = `The parameter \`${name}\` amount ${amountText(sent)} must be between ${show(least)} and ${show(most)} .`
  const limits = [new Decimal(least).toNumber(), new Decimal(most).toNumber()]
  check.fail(name, 'amount.is.not.within.min.max.range', message, value.toNumber(), ...limits)
}
