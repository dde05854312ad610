import type { Database } from '../database/database.ts'
import type { SetUpBehind } from '../engine/attempt/running-attempt.ts'
import { codeOf } from '../ledger/answers/error-body.ts'
import type { Finding } from '../ledger/check/finding.ts'
import { savedFindings } from '../ledger/check/saved-findings.ts'
import { isPast, sortable } from '../ledger/day-format.ts'
import { NOT_EXACT } from './rounding-refusal.ts'

/** The codes with which the ledger refuses each application for a product. */
const PRODUCT_CODES = [
  'error.msg.loan.application.submitted.on.date.cannot.be.before.the.loan.product.start.date',
  'error.msg.loan.application.submitted.on.date.cannot.be.after.the.loan.product.close.date',
  'validation.msg.loan.interestRatePerPeriod.not.supported.loanproduct.linked.to.floating.rate',
  'error.msg.disbursementData.required',
]
const FUTURE_DAY_CODES = /\.in\.the\.future$|\.be\.a\.future\.date$/

/**
 * Finds the fault in the ledger's set-up that explains a refusal: with the right set-up, the ledger would accept the
 * operation. Payments have reasons of suspense for it.
 */
export function openSetUpBehind(db: Database, timeZone: string): SetUpBehind {
  return async ({ origin, data }, refused) => {
    const code = codeOf(refused.body) ?? ''
    const check = origin === 'payment' ? undefined : checkOf(code, data as Data)
    if (check === undefined) return undefined
    const { findings } = await savedFindings(db)
    return findings.find(
      one => one.check === check && one.state === 'breaks' && isAbout(one, data as Data),
    )
  }

  function checkOf(code: string, data: Data): string | undefined {
    if (code === NOT_EXACT) return 'currency'
    // Only an application says whose product it is for.
    if (PRODUCT_CODES.includes(code)) return data.lenderConfig === undefined ? undefined : 'product'
    if (!FUTURE_DAY_CODES.test(code)) return undefined
    const days = Object.values(data).filter(value => typeof value === 'string' && sortable(value))
    return days.every(day => isPast(String(day), timeZone)) ? 'time_zone' : undefined
  }
}

type Data = Record<string, unknown>

/** An operation on a loan does not say whose it is. */
const isAbout = ({ lender }: Finding, { lenderConfig = lender }: Data) =>
  lender === null || lender === lenderConfig
