import { businessDate } from './business-date.ts'
import { closedLoans } from './closed-loans.ts'
import { currency } from './currency.ts'
import type { Check } from './finding.ts'
import { idempotency } from './idempotency.ts'
import { interestRecalculation } from './interest-recalculation.ts'
import { makerChecker } from './maker-checker.ts'
import { office } from './office.ts'
import { overApplied } from './over-applied.ts'
import { passwordExpiry } from './password-expiry.ts'
import { paymentType } from './payment-type.ts'
import { permissions } from './permissions.ts'
import { product } from './product.ts'
import { productCharges } from './product-charges.ts'
import { productLimits } from './product-limits.ts'
import { timeZone } from './time-zone.ts'
import { version } from './version.ts'

/** What is checked once the ledger accepts our calls, in this order. */
export const CHECKS: Check[] = [
  passwordExpiry,
  permissions,
  office,
  timeZone,
  businessDate,
  currency,
  paymentType,
  product,
  productLimits,
  interestRecalculation,
  overApplied,
  productCharges,
  makerChecker,
  closedLoans,
  idempotency,
  version,
]
