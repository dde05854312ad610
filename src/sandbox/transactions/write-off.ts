import { clientById } from '../clients/find-client.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { textOf, textsOf } from '../fields/text.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import type { Loan } from '../loans/loan.ts'
import { loanResult } from '../loans/loan-result.ts'
import { ACTIVE, statusView, WRITTEN_OFF } from '../loans/status.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { refuseDay, refuseTransactionExternalId } from './post-repayment.ts'

const KEYS = new Set('transactionDate externalId note locale dateFormat'.split(' '))

export function writeOff(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const check = checks('loan.transaction')
  const date = dateOf(body, 'transactionDate') ?? ''
  check.required('transactionDate', date || undefined)
  check.throwIfAny()
  refuseUnless(loan, ACTIVE, 'error.msg.loan.write.off.account.is.not.active')
  refuseDay(ledger, loan, date)
  const externalId = textOf(body, 'externalId')
  refuseTransactionExternalId(ledger, externalId)
  const { books } = ledger
  const account = books.accountOf(loan)
  const { officeId } = clientById(ledger, loan.clientId)
  const id = books.nextId('transaction')
  const interest = account.interestCharged - account.interestPaid
  const fees = account.feesCharged - account.feesPaid
  books.saveTransaction({
    ...{ id, loanId: loan.id, officeId, date, externalId, amount: account.outstanding },
    ...{ principal: account.balance, interest, fees, overpayment: 0, balance: 0 },
    ...{ type: 'writeOff', submittedOn: today(ledger), manuallyReversed: false },
  })
  books.forgetAccount(loan)
  books.saveLoan({ ...loan, status: WRITTEN_OFF, closedOn: date })
  const sent = textOf(body, 'transactionDate')
  const changes = {
    ...textsOf(body, 'transactionDate', 'locale', 'dateFormat'),
    status: statusView(WRITTEN_OFF),
    closedOnDate: sent,
    writtenOffOnDate: sent,
    externalId,
  }
  return loanResult(ledger, loan, { resourceId: id, changes, resourceExternalId: externalId })
}

export function undoWriteOff(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, new Set(['note']))
  refuseUnless(loan, WRITTEN_OFF, 'error.msg.loan.undo.write.off.account.is.not.written.off')
  const { books } = ledger
  const written = books.transactionsOf(loan).find(({ type }) => type === 'writeOff')
  if (written) books.saveTransaction({ ...written, reversedOn: today(ledger), unlisted: true })
  books.forgetAccount(loan)
  books.saveLoan({ ...loan, status: ACTIVE, closedOn: undefined })
  const resourceExternalId = written?.externalId
  return loanResult(ledger, loan, { resourceId: written?.id, resourceExternalId })
}

function refuseUnless(loan: Loan, status: number, code: string): void {
  if (loan.status === status) return
  throw invalid([fieldError(code, 'id', 'The loan is not in the state that this needs.')])
}
