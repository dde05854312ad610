import { html } from 'hono/html'
import { type Day, isoDay } from '../../day.ts'
import { LedgerTrouble } from '../../ledger/answers/answer.ts'
import type { Reader } from '../../ledger/calls/client.ts'
import { findClient } from '../../ledger/client-record.ts'
import { findLoan, type LoanWithDues } from '../../ledger/loans/loan-calls.ts'
import { stands } from '../../ledger/loans/transaction.ts'
import { amount, type Formats } from '../frame/formats.ts'
import { type Content, facts, type Html } from '../frame/html.ts'
import { column, idColumn, numberColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import type { Subject } from './entries.ts'

/** A page must be answered within five seconds, whatever the ledger does. */
const PATIENCE_MS = 2_500

/** @param asked aborted once nobody waits for the page */
export async function ledgerNow(
  { ledger, formats }: PageContext,
  subject: Subject,
  asked: AbortSignal,
): Promise<Html> {
  const late = AbortSignal.timeout(PATIENCE_MS)
  const reader = ledger.forCaller(AbortSignal.any([asked, late]))
  const now = await (subject.kind === 'loan' ? loanNow : clientNow)(
    reader,
    subject.id,
    formats,
  ).catch(error => {
    if (!(error instanceof LedgerTrouble)) throw error
    return trouble({ isLate: late.aborted })
  })
  return html`<section class="box"><h2>At the ledger now</h2>${now}</section>`
}

function trouble({ isLate }: { isLate: boolean }): Html {
  const detail = isLate ? 'The ledger did not respond in time.' : 'The ledger cannot be read.'
  return html`<p class="alert" role="alert">${detail} Our own records are below.</p>`
}

async function loanNow(ledger: Reader, id: string, formats: Formats): Promise<Html> {
  const loan = await findLoan(ledger, id, 'dues')
  if (loan === undefined) return html`<p>The ledger has no loan ${id}.</p>`
  const { currency, timeline, transactions = [] } = loan
  const dayOf = (day: Day | undefined) => (day === undefined ? null : isoDay(day))
  const rows = transactions.map(one => ({
    id: String(one.id),
    day: dayOf(one.date),
    type: one.type?.value ?? '',
    amount: amount(String(one.amount), currency.code),
    external_id: one.externalId ?? null,
    state: stands(one) ? 'in effect' : 'reversed',
  }))
  return html`${facts([
    ['Status', loan.status.value],
    ['Product', loan.loanProductName],
    ['Principal', amount(String(loan.principal), currency.code)],
    ['Submitted', dayOf(timeline.submittedOnDate)],
    ['Approved', dayOf(timeline.approvedOnDate)],
    ['Disbursed', dayOf(timeline.actualDisbursementDate)],
    ...loanDues(loan, formats.day(new Date())),
    ['Id at the ledger', String(loan.id)],
  ])}
${rows.length === 0 ? html`<p>It has no transactions.</p>` : table(TRANSACTION_COLUMNS, rows, 'Transactions at the ledger')}`
}

const TRANSACTION_COLUMNS = [
  column('id', 'Transaction'),
  column('day', 'Day'),
  column('type', 'Type'),
  numberColumn('amount', 'Amount'),
  idColumn('external_id', 'External id'),
  column('state', 'State'),
]

async function clientNow(ledger: Reader, id: string): Promise<Html> {
  const client = await findClient(ledger, id)
  if (client === undefined) return html`<p>The ledger has no client ${id}.</p>`
  return facts([
    [
      'Name',
      client.displayName ?? client.fullname ?? `${client.firstname ?? ''} ${client.lastname ?? ''}`,
    ],
    ['Active', client.active === true ? 'yes' : 'no'],
    ['Id at the ledger', String(client.id)],
  ])
}

/** The amounts that the ledger calls paid, overdue and due next. */
function loanDues(loan: LoanWithDues, today: string): [string, Content][] {
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
