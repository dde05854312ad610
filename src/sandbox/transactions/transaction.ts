import type { Paise } from '../money.ts'

export type PaymentDetail = {
  paymentTypeId: number
  accountNumber: string
  checkNumber: string
  routingCode: string
  receiptNumber: string
  bankNumber: string
}

export type Split = {
  principal: Paise
  interest: Paise
  fees: Paise
  overpayment: Paise
  balance: Paise
}

type TransactionType =
  | 'disbursement'
  | 'repayment'
  | 'repaymentAtDisbursement'
  | 'accrual'
  | 'chargeback'
  | 'writeOff'
  | 'initiateTransfer'
  | 'approveTransfer'

export type Transaction = Split & {
  id: number
  loanId: number
  // The client's office when the transaction was posted.
  officeId: number
  type: TransactionType
  date: string
  amount: Paise
  externalId?: string | undefined
  note?: string | undefined
  payment?: PaymentDetail | undefined
  submittedOn: string
  manuallyReversed: boolean
  // What became of it: reallocated, or charged back.
  relations?: { type: 'REPLAYED' | 'CHARGEBACK'; amount: Paise; to?: number }[] | undefined
  reversedOn?: string | undefined
  reversalExternalId?: string | undefined
  // Undoing a disbursal removes its transactions from the loan's list, not from the books.
  unlisted?: boolean | undefined
}

export const NO_SPLIT: Split = { principal: 0, interest: 0, fees: 0, overpayment: 0, balance: 0 }
