import { LOAN_COLUMNS, REPAYMENT_COLUMNS } from './portfolio.ts'

const loan: Record<string, string> = {
  client_external_id: 'C-1',
  client_firstname: 'Asha',
  client_lastname: 'Rao',
  client_activation_date: '05 January 2024',
  lender: 'LENDER_02',
  loan_external_id: 'L-1',
  principal: '1200.00',
  interest_rate_per_period: '12',
  loan_term_frequency: '12',
  number_of_repayments: '12',
  submitted_on_date: '2024-01-10',
  approved_on_date: '11 January 2024',
  disbursed_on_date: '12 January 2024',
}
const repayment: Record<string, string> = {
  loan_external_id: 'L-1',
  transaction_date: '2024-02-12',
  amount: '100.50',
  payment_reference: 'p-1',
}

/** A loans file: each row is a valid one with these changes. */
export const loansCsv = (...rows: Record<string, string>[]) => csv(LOAN_COLUMNS, loan, rows)
export const repaymentsCsv = (...rows: Record<string, string>[]) =>
  csv(REPAYMENT_COLUMNS, repayment, rows)

function csv(header: string, base: Record<string, string>, rows: Record<string, string>[]): string {
  const lines = rows.map(row =>
    header
      .split(',')
      .map(name => ({ ...base, ...row })[name] ?? '')
      .map(cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
      .join(','),
  )
  return `${[header, ...lines].join('\n')}\n`
}
