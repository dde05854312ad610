import { html } from 'hono/html'
import { amount } from '../frame/formats.ts'
import { loanPath } from '../frame/paths.ts'
import type { ListColumn } from '../lists/list.ts'

type Paid = { amount: string | null; currency: string | null; external_loan_id: string | null }

export const amountColumn: ListColumn<Paid> = {
  name: 'amount',
  title: 'Amount',
  isNumber: true,
  cell: row => amount(row.amount, row.currency),
}

export const loanColumn: ListColumn<Paid> = {
  name: 'external_loan_id',
  title: 'Loan',
  isId: true,
  cell: row =>
    row.external_loan_id === null
      ? null
      : html`<a href="${loanPath(row.external_loan_id)}">${row.external_loan_id}</a>`,
}
