import { html } from 'hono/html'
import { amount } from '../frame/formats.ts'
import { loanPath, paymentPath } from '../frame/paths.ts'
import type { ListColumn } from './list.ts'

export const paymentColumn: ListColumn<Parameters<typeof paymentPath>[0]> = {
  name: 'gateway_payment_id',
  title: 'Payment',
  isId: true,
  cell: row => html`<a href="${paymentPath(row)}">${row.gateway_payment_id}</a>`,
}

export const amountColumn: ListColumn<{ amount: string | null; currency: string | null }> = {
  name: 'amount',
  title: 'Amount',
  isNumber: true,
  cell: row => amount(row.amount, row.currency),
}

export const loanColumn: ListColumn<{ external_loan_id: string | null }> = {
  name: 'external_loan_id',
  title: 'Loan',
  isId: true,
  cell: row =>
    row.external_loan_id === null
      ? null
      : html`<a href="${loanPath(row.external_loan_id)}">${row.external_loan_id}</a>`,
}
