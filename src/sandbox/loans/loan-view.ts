import { displayName } from '../clients/client.ts'
import { accountNo } from '../clients/client-view.ts'
import { clientById } from '../clients/find-client.ts'
import { amount, day, rate } from '../http/wire.ts'
import { rupee } from '../reference/currency.ts'
import {
  amortization,
  frequency,
  interestCalculation,
  interestMethod,
  PER_YEAR,
  rateFrequency,
} from '../reference/options.ts'
import { productById } from '../reference/products.ts'
import { annualRate } from '../reference/rates.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { associationsOf } from './associations.ts'
import { atDisbursement } from './fees.ts'
import type { Loan } from './loan.ts'
import { SAME_FOR_ALL } from './same-for-all.ts'
import { duesOf } from './schedule.ts'
import { shapeView } from './shape.ts'
import { isDisbursed, statusView } from './status.ts'
import { strategyName } from './strategy.ts'
import { overdueInstalments, summaryView } from './summary-view.ts'
import { timelineView } from './timeline-view.ts'

export function loanView(ledger: Ledger, loan: Loan, query: URLSearchParams) {
  return {
    id: loan.id,
    accountNo: accountNo(loan.id),
    externalId: loan.externalId,
    status: statusView(loan.status),
    ...ownersView(ledger, loan),
    ...termsView(loan),
    timeline: timelineView(loan),
    ...SAME_FOR_ALL,
    ...shapeView(loan.terms.shape ?? {}),
    feeChargesAtDisbursementCharged: amount(atDisbursement(loan.charges, duesOf(loan))),
    isInterestRecalculationEnabled: loan.terms.recalculates ?? false,
    ...moneyView(ledger, loan),
    ...associationsOf(ledger, loan, query),
  }
}

function ownersView(ledger: Ledger, loan: Loan) {
  const client = clientById(ledger, loan.clientId)
  const product = productById(ledger, loan.productId)
  return {
    clientId: client.id,
    clientAccountNo: accountNo(client.id),
    clientName: displayName(client),
    clientExternalId: client.externalId,
    clientOfficeId: client.officeId,
    loanProductId: loan.productId,
    loanProductName: product.name,
    loanProductDescription: product.description,
    isLoanProductLinkedToFloatingRate: false,
    loanType: { id: 1, code: 'accountType.individual', value: 'Individual' },
  }
}

function termsView(loan: Loan) {
  const { terms } = loan
  const { productRateFrequency = PER_YEAR.id } = terms
  const rateFrequencyId = terms.interestRateFrequencyType ?? productRateFrequency
  return {
    currency: rupee(loan.terms.rounding),
    principal: amount(loan.principal),
    approvedPrincipal: amount(loan.approvedPrincipal),
    proposedPrincipal: amount(loan.proposedPrincipal),
    netDisbursalAmount: amount(loan.netDisbursalAmount),
    termFrequency: terms.loanTermFrequency,
    termPeriodFrequencyType: frequency('termFrequency', terms.loanTermFrequencyType),
    numberOfRepayments: terms.numberOfRepayments,
    repaymentEvery: terms.repaymentEvery,
    repaymentFrequencyType: frequency('repaymentFrequency', terms.repaymentFrequencyType),
    interestRatePerPeriod: rate(terms.interestRatePerPeriod),
    interestRateFrequencyType: rateFrequency(rateFrequencyId),
    annualInterestRate: annualRate(terms.interestRatePerPeriod, rateFrequencyId),
    isFloatingInterestRate: false,
    amortizationType: amortization(terms.amortizationType),
    interestType: interestMethod(terms.interestType),
    interestCalculationPeriodType: interestCalculation(terms.interestCalculationPeriodType),
    allowPartialPeriodInterestCalculation: false,
    transactionProcessingStrategyCode: terms.transactionProcessingStrategyCode,
    transactionProcessingStrategyName: strategyName(terms.transactionProcessingStrategyCode),
  }
}

function moneyView(ledger: Ledger, loan: Loan) {
  if (!isDisbursed(loan.status)) return { inArrears: false }
  const account = ledger.books.accountOf(loan)
  const day = today(ledger)
  return {
    summary: summaryView(loan, account, day),
    inArrears: overdueInstalments(account, day).length > 0,
    ...(account.overpaid > 0 ? { totalOverpaid: amount(account.overpaid) } : {}),
  }
}

export function loanAccountView(ledger: Ledger, loan: Loan) {
  return {
    id: loan.id,
    accountNo: accountNo(loan.id),
    externalId: loan.externalId,
    productId: loan.productId,
    productName: productById(ledger, loan.productId).name,
    status: statusView(loan.status),
    loanType: { id: 1, code: 'accountType.individual', value: 'Individual' },
    timeline: { submittedOnDate: day(loan.submittedOn) },
    inArrears: false,
  }
}
