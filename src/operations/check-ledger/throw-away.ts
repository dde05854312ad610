import { randomBytes } from 'node:crypto'
import type { Lender } from '../../config/lenders.ts'
import { textOfIso } from '../../day.ts'
import type { LoanProduct } from '../../ledger/loans/product.ts'
import type { ReferenceData } from '../../ledger/reference/reference.ts'

const PRINCIPAL = 10_000
const REPAYMENTS = 12
const RATE = 12

/** Only the check's own records have this prefix. */
export const THROW_AWAY = 'loanops-check-'

/** The name of the client, the loan and the repayment. */
export const throwAwayName = () => `${THROW_AWAY}${randomBytes(4).toString('hex')}`

/** The data of each operation, within the limits of the lender's product. */
export async function throwAwayData(reference: ReferenceData, lender: Lender, name: string) {
  const product = await reference.product(lender.product, lender.code)
  const day = textOfIso(await reference.businessDate())
  const numberOfRepayments = within(
    REPAYMENTS,
    product.minNumberOfRepayments,
    product.maxNumberOfRepayments,
  )
  return {
    client: { externalId: name, firstname: 'LoanOps', lastname: 'Check', activationDate: day },
    loan: {
      lenderConfig: lender.code,
      externalId: name,
      clientId: name,
      principal: within(PRINCIPAL, product.minPrincipal, product.maxPrincipal),
      submittedOnDate: day,
      numberOfRepayments,
      loanTermFrequency: numberOfRepayments * termOf(product),
      interestRatePerPeriod: within(
        RATE,
        product.minInterestRatePerPeriod,
        product.maxInterestRatePerPeriod,
      ),
    },
    approval: { external_loan_id: name, approvedOnDate: day },
    disbursal: { external_loan_id: name, actualDisbursementDate: day, utr_payment_id: name },
    repayment: { loanExternalId: name, externalId: name, receiptNumber: name, day, amount: '1' },
    deletion: { external_loan_id: name },
  }
}

const termOf = ({ repaymentEvery = 1 }: LoanProduct) => repaymentEvery

const within = (wanted: number, least = wanted, most = wanted) =>
  Math.min(Math.max(wanted, least), most)
