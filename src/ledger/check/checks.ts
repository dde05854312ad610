import type { Check } from './finding.ts'
import { businessDate } from './set-up/business-date.ts'
import { closedLoans } from './set-up/closed-loans.ts'
import { currency } from './set-up/currency.ts'
import { idempotency } from './set-up/idempotency.ts'
import { interestRecalculation } from './set-up/interest-recalculation.ts'
import { makerChecker } from './set-up/maker-checker.ts'
import { office } from './set-up/office.ts'
import { overApplied } from './set-up/over-applied.ts'
import { passwordExpiry } from './set-up/password-expiry.ts'
import { paymentType } from './set-up/payment-type.ts'
import { permissions } from './set-up/permissions.ts'
import { product } from './set-up/product.ts'
import { productCharges } from './set-up/product-charges.ts'
import { productLimits } from './set-up/product-limits.ts'
import { timeZone } from './set-up/time-zone.ts'
import { fineractVersion } from './set-up/version.ts'

/** The checks to make once the ledger accepts our calls, in this order. @param needed permissions */
export const checksFor = (needed: string[]): Check[] => [
  passwordExpiry,
  permissions(needed),
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
  makerChecker(needed),
  closedLoans,
  idempotency,
  fineractVersion,
]
