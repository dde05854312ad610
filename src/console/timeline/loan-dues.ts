import { type Day, isoDay } from '../../day.ts'
import type { LoanWithDues } from '../../ledger/loans/loan-calls.ts'
import { amount } from '../frame/formats.ts'
import type { Content } from '../frame/html.ts'

/** The amounts that the ledger calls paid, overdue and due next. */
export function loanDues(loan: LoanWithDues, today: string): [string, Content][] {
  const { summary, repaymentSchedule, currency } = loan
  if (summary === undefined) return []
  const sum = (value: number) => amount(String(value), currency.code)
  const next = repaymentSchedule?.periods.find(
    ({ period, complete, dueDate }) =>
      period !== undefined && complete !== true && isoDay(dueDate) >= today,
  )
  return [
    ['Payments received', sum(summary.totalRepayment)],
    [
      'Due next',
      next === undefined
        ? 'nothing'
        : `${sum(next.totalOutstandingForPeriod)} on ${isoDay(next.dueDate)}`,
    ],
    ['Overdue', overdue(summary.totalOverdue, summary.overdueSinceDate)],
    ['Outstanding in all', sum(summary.totalOutstanding)],
  ]

  function overdue(total: number, since: Day | undefined): string {
    if (total === 0) return 'nothing'
    return since === undefined ? sum(total) : `${sum(total)} since ${isoDay(since)}`
  }
}
