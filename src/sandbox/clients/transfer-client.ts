import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { idOf } from '../fields/number.ts'
import { domainRule } from '../http/refusal.ts'
import { ACTIVE, TRANSFER_IN_PROGRESS } from '../loans/status.ts'
import { officeById } from '../reference/offices.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { NO_SPLIT, type Transaction } from '../transactions/transaction.ts'
import type { Client } from './client.ts'

const KEYS = new Set('destinationOfficeId transferDate note locale dateFormat'.split(' '))

export function proposeTransfer(ledger: Ledger, client: Client, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const check = checks('client')
  const officeId = idOf(body, 'destinationOfficeId')
  check.required('destinationOfficeId', officeId)
  const date = dateOf(body, 'transferDate') ?? today(ledger)
  check.throwIfAny()
  const transfer = { officeId: officeById(ledger, officeId).id, date }
  ledger.books.saveClient({ ...client, transfer })
  for (const loan of loansOf(ledger, client)) {
    if (loan.status !== ACTIVE) continue
    ledger.books.saveLoan({ ...loan, status: TRANSFER_IN_PROGRESS })
    note(ledger, client, loan.id, 'initiateTransfer', date)
  }
  return { clientId: client.id, resourceId: client.id }
}

/** As in Fineract, its loans stay in transfer. */
export function acceptTransfer(ledger: Ledger, client: Client, body: Body) {
  refuseUnknownKeys(body, new Set(['note']))
  const { transfer } = client
  if (!transfer) {
    const message = `Client with id ${client.id} is not in transfer`
    throw domainRule('error.msg.client.is.not.in.transfer', message, client.id)
  }
  const { officeId, date } = transfer
  const moved = { ...client, officeId, joinedOfficeOn: date, transfer: undefined }
  ledger.books.saveClient(moved)
  for (const loan of loansOf(ledger, client)) {
    if (loan.status === TRANSFER_IN_PROGRESS) note(ledger, moved, loan.id, 'approveTransfer', date)
  }
  return { clientId: client.id, resourceId: client.id }
}

function note(
  ledger: Ledger,
  { officeId }: Client,
  loanId: number,
  type: Transaction['type'],
  date: string,
): void {
  const loan = ledger.books.loans.get(loanId)
  if (!loan) return
  const { outstanding, balance } = ledger.books.accountOf(loan)
  const id = ledger.books.nextId('transaction')
  const facts = { id, loanId, officeId, type, date, amount: outstanding }
  const rest = { submittedOn: today(ledger), manuallyReversed: false }
  ledger.books.saveTransaction({ ...NO_SPLIT, ...facts, principal: balance, balance, ...rest })
}

function loansOf({ books }: Ledger, { id }: Client) {
  const ids = [...(books.loansOfClient.get(id) ?? [])]
  return ids.map(loanId => books.loans.get(loanId)).filter(loan => loan !== undefined)
}
