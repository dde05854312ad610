import { displayName } from '../clients/client.ts'
import { clientById } from '../clients/find-client.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { day, rate } from '../http/wire.ts'
import { Exact } from '../money.ts'
import {
  type Charge,
  chargeCalculationType,
  chargePaymentMode,
  chargeTimeType,
  FLAT,
  WHEN_OVERDUE,
} from '../reference/charge.ts'
import { chargeById, chargeView } from '../reference/charges.ts'
import { currencyByCode } from '../reference/currency.ts'
import { ownTermsView } from '../reference/own-terms.ts'
import type { Product } from '../reference/product.ts'
import { productById, productWithCharges } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'

export function loanTemplate(ledger: Ledger, query: URLSearchParams) {
  if (!query.get('templateType')) {
    const message = 'The parameter `templateType` is mandatory.'
    const code = 'validation.msg.loan.templateType.cannot.be.blank'
    throw invalid([fieldError(code, 'templateType', message, null)])
  }
  const clientId = query.get('clientId')
  const productId = query.get('productId')
  return {
    ...(clientId === null ? {} : clientPart(ledger, Number(clientId))),
    productOptions: [...ledger.books.defined.products.values()].map(({ id, name }) => ({
      id,
      name,
    })),
    ...(productId === null ? {} : productPart(ledger, Number(productId))),
  }
}

function clientPart(ledger: Ledger, id: number) {
  const client = clientById(ledger, id)
  return { clientId: client.id, clientName: displayName(client) }
}

function productPart(ledger: Ledger, id: number) {
  const product = productById(ledger, id)
  const view = productWithCharges(ledger, product)
  const all = product.chargeIds.map(chargeId => chargeById(ledger, chargeId))
  const charges = all.filter(({ time }) => time !== WHEN_OVERDUE)
  return {
    loanProductId: id,
    loanProductName: product.name,
    ...termsOf(product, view),
    netDisbursalAmount: rate(netDisbursalOf(product, charges)),
    timeline: { expectedDisbursementDate: day(today(ledger)) },
    charges: charges.map(prefilled),
    overdueCharges: all.filter(({ time }) => time === WHEN_OVERDUE).map(chargeView),
    multiDisburseLoan: view.multiDisburseLoan,
    canDefineInstallmentAmount: view.canDefineInstallmentAmount,
    isLoanProductLinkedToFloatingRate: false,
    product: view,
  }
}

function termsOf(product: Product, view: ReturnType<typeof productWithCharges>) {
  const { repaymentEvery, numberOfRepayments } = product
  return {
    currency: view.currency,
    principal: view.principal,
    termFrequency: repaymentEvery * numberOfRepayments.usual,
    termPeriodFrequencyType: view.repaymentFrequencyType,
    numberOfRepayments: view.numberOfRepayments,
    repaymentEvery,
    repaymentFrequencyType: view.repaymentFrequencyType,
    interestRatePerPeriod: view.interestRatePerPeriod,
    interestRateFrequencyType: view.interestRateFrequencyType,
    annualInterestRate: view.annualInterestRate,
    amortizationType: view.amortizationType,
    interestType: view.interestType,
    interestCalculationPeriodType: view.interestCalculationPeriodType,
    transactionProcessingStrategyCode: view.transactionProcessingStrategyCode,
    ...ownTermsView(product.own),
  }
}

/** Fineract takes a percentage for an amount here. */
function netDisbursalOf({ principal }: Product, charges: Charge[]): string {
  const costs = charges.map(charge => charge.amount)
  return costs.reduce((net, cost) => net.minus(cost), new Exact(principal.usual)).toFixed()
}

function prefilled(charge: Charge) {
  const { id, name, penalty, amount, calculation } = charge
  return {
    chargeId: id,
    name,
    chargeTimeType: chargeTimeType(charge.time),
    chargeCalculationType: chargeCalculationType(calculation),
    percentage: calculation === FLAT ? undefined : rate(amount),
    currency: currencyByCode(charge.currencyCode),
    amount: rate(amount),
    amountOrPercentage: rate(amount),
    penalty,
    chargePaymentMode: chargePaymentMode(charge.paymentMode),
  }
}
