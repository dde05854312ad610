import { amount } from '../frame/formats.ts'
import { link, linked } from '../frame/html.ts'
import { loanPath, paymentPath } from '../frame/paths.ts'
import { idColumn, numberColumn } from './columns.ts'
import type { ListColumn } from './list.ts'

export const paymentColumn: ListColumn<Parameters<typeof paymentPath>[0]> = idColumn(
  'gateway_payment_id',
  'Payment',
  row => link(paymentPath(row), row.gateway_payment_id),
)

export const amountColumn: ListColumn<{ amount: string | null; currency: string | null }> =
  numberColumn('amount', 'Amount', row => amount(row.amount, row.currency))

export const loanColumn: ListColumn<{ external_loan_id: string | null }> = idColumn(
  'external_loan_id',
  'Loan',
  row => linked(row.external_loan_id, loanPath),
)
