import { domainRule, notFound } from '../http/refusal.ts'

const ADVANCED = 'advanced-payment-allocation-strategy'

const names: Record<string, string> = {
  'mifos-standard-strategy': 'Penalties, Fees, Interest, Principal order',
  'heavensfamily-strategy': 'HeavensFamily Unique',
  'creocore-strategy': 'Creocore Unique',
  'rbi-india-strategy': 'Overdue/Due Fee/Int,Principal',
  'principal-interest-penalties-fees-order-strategy': 'Principal, Interest, Penalties, Fees Order',
  'interest-principal-penalties-fees-order-strategy': 'Interest, Principal, Penalties, Fees Order',
  'early-repayment-strategy': 'Early Repayment Strategy',
  'due-penalty-fee-interest-principal-in-advance-principal-penalty-fee-interest-strategy':
    'Due penalty, fee, interest, principal, In advance principal, penalty, fee, interest',
  'due-penalty-interest-principal-fee-in-advance-penalty-interest-principal-fee-strategy':
    'Due penalty, interest, principal, fee, In advance penalty, interest, principal, fee',
}

export function refuseStrategy(code: string): void {
  if (code === ADVANCED) {
    const message = `Loan transaction processing strategy cannot be Advanced Payment Allocation Strategy if it's not configured on loan product`
    throw domainRule('strategy.cannot.be.advanced.payment.allocation.if.not.configured', message)
  }
  if (code in names) return
  const message = `Loan transaction processing strategy with code ${code} does not exist`
  throw notFound('error.msg.transactions.processing.strategy.code.invalid', message, code)
}

export function strategyName(code: string): string | undefined {
  return names[code]
}
