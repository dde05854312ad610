import type { Body } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf } from '../fields/number.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { day, rate } from '../http/wire.ts'
import { type OwnTerms, ownTermsView, readOwnTerms } from '../reference/own-terms.ts'
import type { Product } from '../reference/product.ts'

/** What gives a schedule its shape beside amount, rate and number of instalments. */
export type Shape = OwnTerms & {
  repaymentsStartingFromDate?: string | undefined
  interestChargedFromDate?: string | undefined
  fixedEmiAmount?: string | undefined
}

export function readShape(body: Body): Shape {
  return {
    ...readOwnTerms(body),
    repaymentsStartingFromDate: dateOf(body, 'repaymentsStartingFromDate'),
    interestChargedFromDate: dateOf(body, 'interestChargedFromDate'),
    fixedEmiAmount: decimalOf(body, 'fixedEmiAmount')?.toFixed(),
  }
}

export function shapeFor({ own, overrides }: Product, sent: Shape): Shape {
  const { graceOnPrincipalPayment, graceOnInterestPayment } = own
  const { inArrearsTolerance, graceOnArrearsAgeing } = own
  return {
    ...sent,
    ...(overrides.graceOnPrincipalAndInterestPayment
      ? {}
      : { graceOnPrincipalPayment, graceOnInterestPayment }),
    ...(overrides.inArrearsTolerance ? {} : { inArrearsTolerance }),
    ...(overrides.graceOnArrearsAgeing ? {} : { graceOnArrearsAgeing }),
  }
}

/** A term that was not sent stays as it was. */
export function keptShape(before: Shape, sent: Shape): Shape {
  const named = Object.entries(sent).filter(([, value]) => value !== undefined)
  return { ...before, ...Object.fromEntries(named) }
}

/** Dates as they were sent, with their format. */
export function shapeAsChanges(before: Shape, sent: Shape, body: Body): Record<string, unknown> {
  const isSame = (name: string, value: unknown) =>
    value === undefined || value === (before[name as keyof Shape] ?? DEFAULTS[name])
  const changed = Object.entries(sent).filter(([name, value]) => !isSame(name, value))
  const formats = changed.some(([name]) => name.endsWith('Date'))
    ? { dateFormat: body.dateFormat, locale: body.locale }
    : {}
  return { ...Object.fromEntries(changed.map(([name]) => [name, body[name]])), ...formats }
}

const DEFAULTS: Record<string, unknown> = {
  graceOnPrincipalPayment: 0,
  graceOnInterestPayment: 0,
  graceOnInterestCharged: 0,
  graceOnArrearsAgeing: 0,
  inArrearsTolerance: '0',
  isEqualAmortization: false,
}

export function refuseFixedEmi(product: Product, body: Body): void {
  if (product.canDefineInstallmentAmount || body.fixedEmiAmount === undefined) return
  const name = 'fixedEmiAmount'
  const message = `The parameter ${name} is not supported.`
  throw invalid([fieldError('error.msg.parameter.unsupported', name, message, name)])
}

/** Fineract checks the grace against the number of repayments even if no grace was requested. */
export function checkGrace(check: Checks, shape: Shape, repayments: number | undefined): void {
  if (repayments === undefined) return
  const { graceOnPrincipalPayment = 0, graceOnInterestPayment = 0 } = shape
  const tooLong = (name: string) => {
    const message = 'Failed data validation due to: mustBeLessThan.numberOfRepayments.'
    check.fail(name, 'mustBeLessThan.numberOfRepayments', message, null)
  }
  if (graceOnPrincipalPayment >= repayments) tooLong('graceOnPrincipalPayment')
  if (graceOnInterestPayment >= repayments) tooLong('graceOnInterestPayment')
  if ((shape.graceOnInterestCharged ?? 0) > repayments) tooLong('graceOnInterestCharged')
}

const EQUAL_INSTALMENTS = 1

export function checkFixedShare(check: Checks, shape: Shape, amortizationType: number | undefined) {
  const name = 'fixedPrincipalPercentagePerInstallment'
  if (shape[name] === undefined || amortizationType !== EQUAL_INSTALMENTS) return
  const suffix = 'not.supported.principal.fixing.not.allowed.with.equal.installments'
  check.fail(name, suffix, `Failed data validation due to: ${suffix}.`, null)
}

export function shapeView(shape: Shape) {
  return {
    ...ownTermsView(shape),
    fixedEmiAmount: shape.fixedEmiAmount && rate(shape.fixedEmiAmount),
    interestChargedFromDate: day(shape.interestChargedFromDate),
    expectedFirstRepaymentOnDate: day(shape.repaymentsStartingFromDate),
  }
}
