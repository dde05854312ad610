import type { Body } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { decimalOf, integerOf } from '../fields/number.ts'
import { trueOf } from '../fields/text.ts'
import { rate } from '../http/wire.ts'

/** What a product may prescribe and a loan has only if its request carries it. */
export type OwnTerms = {
  graceOnPrincipalPayment?: number | undefined
  graceOnInterestPayment?: number | undefined
  graceOnInterestCharged?: number | undefined
  graceOnArrearsAgeing?: number | undefined
  // A decimal text.
  inArrearsTolerance?: string | undefined
  // Percent of the principal that falls due with each instalment but the last, as a decimal text.
  fixedPrincipalPercentagePerInstallment?: string | undefined
  isEqualAmortization?: boolean | undefined
}

const SHARE = 'fixedPrincipalPercentagePerInstallment'

const GRACES = [
  'graceOnPrincipalPayment',
  'graceOnInterestPayment',
  'graceOnInterestCharged',
  'graceOnArrearsAgeing',
] as const

export function readOwnTerms(body: Body): OwnTerms {
  const graces = GRACES.map(name => [name, integerOf(body, name)])
  return {
    ...(Object.fromEntries(graces) as OwnTerms),
    inArrearsTolerance: decimalOf(body, 'inArrearsTolerance')?.toFixed(),
    [SHARE]: decimalOf(body, SHARE)?.toFixed(),
    isEqualAmortization:
      body.isEqualAmortization === undefined ? undefined : trueOf(body, 'isEqualAmortization'),
  }
}

export function checkOwnTerms(check: Checks, terms: OwnTerms): void {
  for (const name of GRACES) check.zeroOrMore(name, terms[name])
  const { inArrearsTolerance, [SHARE]: share } = terms
  if (share !== undefined) check.within(SHARE, Number(share), 1, 100)
  check.zeroOrMore(
    'inArrearsTolerance',
    inArrearsTolerance === undefined ? undefined : Number(inArrearsTolerance),
  )
}

/** Fineract shows none of them that is 0. */
export function ownTermsView(terms: OwnTerms) {
  const { inArrearsTolerance: tolerance, [SHARE]: share } = terms
  return {
    ...Object.fromEntries(GRACES.map(name => [name, terms[name] || undefined])),
    ...(tolerance && Number(tolerance) > 0 ? { inArrearsTolerance: rate(tolerance) } : {}),
    [SHARE]: share && rate(share),
    isEqualAmortization: terms.isEqualAmortization ?? false,
  }
}
