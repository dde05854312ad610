import { displayName } from '../clients/client.ts'
import { clientById } from '../clients/find-client.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { amount, day, rate } from '../http/wire.ts'
import {
  amortization,
  frequency,
  interestMethod,
  PER_YEAR,
  SAME_AS_REPAYMENT,
} from '../reference/options.ts'
import { productById, productsOf } from '../reference/products.ts'
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
    productOptions: productsOf(ledger).map(({ id, name }) => ({ id, name })),
    ...(productId === null ? {} : productPart(ledger, Number(productId))),
  }
}

function clientPart(ledger: Ledger, id: number) {
  const client = clientById(ledger, id)
  return { clientId: client.id, clientName: displayName(client) }
}

function productPart(ledger: Ledger, id: number) {
  const product = productById(ledger, id)
  return {
    loanProductId: id,
    loanProductName: product?.name,
    currency: product.currency,
    principal: amount(50_000_00),
    termFrequency: 12,
    termPeriodFrequencyType: frequency('termFrequency', 2),
    numberOfRepayments: 12,
    repaymentEvery: 1,
    repaymentFrequencyType: frequency('repaymentFrequency', 2),
    interestRatePerPeriod: rate('18'),
    interestRateFrequencyType: PER_YEAR,
    annualInterestRate: rate('18'),
    amortizationType: amortization(1),
    interestType: interestMethod(0),
    interestCalculationPeriodType: SAME_AS_REPAYMENT,
    transactionProcessingStrategyCode: 'mifos-standard-strategy',
    timeline: { expectedDisbursementDate: day(today(ledger)) },
    charges: [],
    multiDisburseLoan: false,
    isLoanProductLinkedToFloatingRate: false,
    product,
  }
}
