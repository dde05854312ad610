import type { Transaction } from './transaction.ts'

const FLAGS = `disbursement repaymentAtDisbursement repayment merchantIssuedRefund payoutRefund
  goodwillCredit interestPaymentWaiver chargeRefund contra waiveInterest waiveCharges accrual writeOff
  recoveryRepayment initiateTransfer approveTransfer withdrawTransfer rejectTransfer chargePayment
  refund refundForActiveLoans creditBalanceRefund chargeAdjustment chargeback chargeoff downPayment
  reAge reAmortize accrualActivity interestRefund`.split(/\s+/)

const types = {
  disbursement: type(1, 'disbursement', 'Disbursement'),
  repayment: type(2, 'repayment', 'Repayment'),
  repaymentAtDisbursement: type(
    5,
    'repaymentAtDisbursement',
    'Repayment (at time of disbursement)',
  ),
  initiateTransfer: type(12, 'initiateTransfer', 'Initiate Transfer'),
  approveTransfer: type(13, 'approveTransfer', 'Approve Transfer'),
  writeOff: type(6, 'writeOff', 'Close (as written-off)'),
  chargeback: type(25, 'chargeback', 'Chargeback'),
  accrual: type(10, 'accrual', 'Accrual'),
}

export function transactionType(name: Transaction['type']) {
  return types[name]
}

function type(id: number, name: string, value: string) {
  const flags = FLAGS.map(flag => [flag, flag === name])
  return { id, code: `loanTransactionType.${name}`, value, ...Object.fromEntries(flags) }
}
