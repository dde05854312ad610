import type { TestService } from '../service.ts'
import { atLedger, givenCharge } from './loans.ts'

type AtLedger = Pick<TestService, 'ledger'>

/** Defines a product at the ledger, by default one that prescribes nothing. @returns its number */
export async function givenProduct(
  service: AtLedger,
  name: string,
  changes: object = {},
): Promise<number> {
  // A short name has at most four letters, and no other product may have it.
  const shortName = String(await givenCharge(service, { amount: 1 }))
  const { resourceId } = await atLedger(service, 'POST', '/loanproducts', {
    name,
    shortName,
    currencyCode: 'INR',
    digitsAfterDecimal: 2,
    inMultiplesOf: 0,
    principal: 50_000,
    numberOfRepayments: 12,
    repaymentEvery: 1,
    repaymentFrequencyType: 2,
    interestRatePerPeriod: 18,
    interestRateFrequencyType: 3,
    amortizationType: 1,
    interestType: 0,
    interestCalculationPeriodType: 1,
    transactionProcessingStrategyCode: 'mifos-standard-strategy',
    accountingRule: 1,
    isInterestRecalculationEnabled: false,
    daysInYearType: 1,
    daysInMonthType: 1,
    ...changes,
  })
  return resourceId
}

/** At disbursement 1, per instalment 8, overdue 9. */
const flatCharge = (service: AtLedger, chargeTimeType: number, amount: number) =>
  givenCharge(service, { chargeTimeType, amount, penalty: chargeTimeType === 9 })

/** Creates a product with grace, tolerances and charges of each kind that a request can carry. */
export async function givenProductWithTerms(service: AtLedger, name: string): Promise<number> {
  const charges = [
    await flatCharge(service, 1, 500),
    await flatCharge(service, 8, 50),
    await givenCharge(service, { chargeTimeType: 1, chargeCalculationType: 2, amount: 1 }),
    await flatCharge(service, 9, 100),
  ]
  return givenProduct(service, name, {
    graceOnPrincipalPayment: 2,
    graceOnInterestPayment: 1,
    graceOnInterestCharged: 1,
    inArrearsTolerance: 5,
    graceOnArrearsAgeing: 3,
    charges: charges.map(id => ({ id })),
  })
}
