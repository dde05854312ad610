import { html } from 'hono/html'
import { type Day, isoDay } from '../../day.ts'
import { LedgerTrouble } from '../../ledger/answer.ts'
import { findClient } from '../../ledger/client-record.ts'
import { findLoanWithDues } from '../../ledger/loan-calls.ts'
import { isNotReversed } from '../../ledger/transaction.ts'
import { facts } from '../frame/facts.ts'
import { amount } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import type { Subject } from './entries.ts'
import { loanDues } from './loan-dues.ts'

/** A page must be answered within five seconds, whatever the ledger does. */
const PATIENCE_MS = 2_500

export async function ledgerNow(context: PageContext, subject: Subject): Promise<Html> {
  const trouble = (detail: string) =>
    html`<p class="alert" role="alert">${detail} Our own records are below.</p>`
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Html>(resolve => {
    timer = setTimeout(() => resolve(trouble('The ledger did not respond in time.')), PATIENCE_MS)
  })
  const read = context.slots
    .run('live', () =>
      subject.kind === 'loan' ? loanNow(context, subject.id) : clientNow(context, subject.id),
    )
    .catch(error => {
      if (error instanceof LedgerTrouble) return trouble('The ledger cannot be read.')
      throw error
    })
  try {
    return html`<section class="box"><h2>At the ledger now</h2>${await Promise.race([read, late])}</section>`
  } finally {
    clearTimeout(timer)
    // A late failure must not become an unhandled rejection.
    read.catch(() => undefined)
  }
}

async function loanNow({ ledger, formats }: PageContext, id: string): Promise<Html> {
  const loan = await findLoanWithDues(ledger, id)
  if (loan === undefined) return html`<p>The ledger has no loan ${id}.</p>`
  const { currency, timeline, transactions = [] } = loan
  const dayOf = (day: Day | undefined) => (day === undefined ? null : isoDay(day))
  const rows = transactions.map(one => ({
    id: String(one.id),
    day: dayOf(one.date),
    type: one.type?.value ?? '',
    amount: amount(String(one.amount), currency.code),
    external_id: one.externalId ?? null,
    state: isNotReversed(one) ? 'in effect' : 'reversed',
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
  { name: 'id', title: 'Transaction' },
  { name: 'day', title: 'Day' },
  { name: 'type', title: 'Type' },
  { name: 'amount', title: 'Amount', isNumber: true },
  { name: 'external_id', title: 'External id', isId: true },
  { name: 'state', title: 'State' },
]

async function clientNow({ ledger }: PageContext, id: string): Promise<Html> {
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
