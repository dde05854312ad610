import type { Day } from '../../day.ts'
import type { Answer } from '../answers/answer.ts'
import { atExternalId, lastRead, noteRead } from '../calls/by-external-id.ts'
import type { Reader, Reading, Write, Writer } from '../calls/client.ts'
import { lookUp, lookUpAnswer } from '../calls/look-up.ts'
import { ofAsked, ofNumber } from '../calls/of-asked.ts'
import { ledgerPath } from '../calls/path.ts'
import type { LedgerLoan, Option } from './loan.ts'
import type { LedgerTransaction } from './transaction.ts'

export type LoanWithTransactions = LedgerLoan & { transactions?: LedgerTransaction[] }
/** A loan has neither a summary nor a balance per instalment before it is disbursed. */
export type LoanWithDues = LoanWithTransactions & {
  summary?: {
    totalRepayment: number
    totalOutstanding: number
    totalOverdue: number
    overdueSinceDate?: Day
  }
  repaymentSchedule?: {
    /** The first period is the disbursement, and has no number. */
    periods: {
      period?: number
      dueDate: Day
      complete?: boolean
      totalOutstandingForPeriod: number
    }[]
  }
}

type Loans = {
  alone: LedgerLoan
  charges: LedgerLoan
  transactions: LoanWithTransactions
  dues: LoanWithDues
}
type Query = Record<string, string>
type Body = Record<string, unknown>
const QUERIES: Record<keyof Loans, Query> = {
  alone: {},
  charges: { associations: 'charges,meeting' },
  transactions: { associations: 'transactions' },
  dues: { associations: 'transactions,repaymentSchedule' },
}

function read<T>(
  ledger: Reader,
  externalId: string,
  query: Query = {},
  below: (string | number)[] = [],
): Promise<Reading<T>> {
  const wanted = { kind: 'loans', externalId, query, below } as const
  return atExternalId<Reading<T>>(ledger, wanted, path => ledger.read<T>(path))
}

function write(
  { ledger, key }: Writer,
  externalId: string,
  call: Omit<Write, 'path' | 'key'> & { query?: Query; below?: (string | number)[] },
): Promise<Answer> {
  const { query = {}, below = [], ...request } = call
  const wanted = { kind: 'loans', externalId, query, below, isWrite: true } as const
  const named = {
    loanId: lastRead(ledger, wanted),
    ...(below.length === 0 ? { resourceExternalId: externalId } : {}),
    ...call.named,
  }
  return atExternalId<Answer>(ledger, wanted, path =>
    ledger.write({ ...request, named, path, key }),
  )
}

/** @param part what is read with the loan */
export async function readLoan<Part extends keyof Loans = 'alone'>(
  ledger: Reader,
  externalId: string,
  part?: Part,
): Promise<Reading<Loans[Part]>> {
  const query = QUERIES[part ?? 'alone']
  // Some ledgers leave the transactions out of a loan that has none.
  const isWhole = ({ timeline, transactions }: Partial<LoanWithTransactions>) =>
    !query.associations?.includes('transactions') ||
    Array.isArray(transactions) ||
    (timeline !== undefined && timeline.actualDisbursementDate === undefined)
  const answer = await ofAsked<Loans[Part]>(externalId, read(ledger, externalId, query), isWhole)
  if (answer.outcome === 'done') noteRead(ledger, { kind: 'loans', externalId, id: answer.body.id })
  return answer
}

export function findLoan<Part extends keyof Loans = 'alone'>(
  ledger: Reader,
  externalId: string,
  part?: Part,
) {
  return lookUp(readLoan(ledger, externalId, part))
}

export function findLoanAnswer(ledger: Reader, externalId: string) {
  return lookUpAnswer(readLoan(ledger, externalId))
}

export function findTransaction<T extends LedgerTransaction = LedgerTransaction>(
  ledger: Reader,
  loanExternalId: string,
  externalId: string,
) {
  const below = ['transactions', 'external-id', externalId]
  return lookUp(ofAsked(externalId, read<T>(ledger, loanExternalId, {}, below)))
}

/** The ledger refuses with this code to show a transaction as one of a loan that is not its own. */
const TRANSACTION_OF_ANOTHER_LOAN = 'error.msg.loan.transaction.id.invalid'

/** @param loan undefined if the loan is not there yet: any other one tells as well */
export async function isTransactionOfAnotherLoan(
  ledger: Reader,
  loan: Option | undefined,
  externalId: string,
): Promise<boolean> {
  const asked = loan ?? (await anyLoan(ledger))
  if (asked === undefined) return false
  const path = ledgerPath(['loans', asked.id, 'transactions', 'external-id', externalId])
  const { code, outcome } = await ledger.read(path)
  return code === TRANSACTION_OF_ANOTHER_LOAN || (loan === undefined && outcome === 'done')
}

/** Whether no loan has a transaction of this external id, as far as the ledger's reads show. */
export async function lacksTransaction(ledger: Reader, loan: string, externalId: string) {
  const { code } = await read(ledger, loan, {}, ['transactions', 'external-id', externalId])
  return code === 'error.msg.loan.transaction.external.id.invalid'
}

async function anyLoan(ledger: Reader): Promise<Option | undefined> {
  const listed = await ledger.read<{ pageItems?: Option[] }>(ledgerPath(['loans'], { limit: '1' }))
  return listed.outcome === 'done' ? listed.body.pageItems?.[0] : undefined
}

export function findTransactionById(ledger: Reader, loanExternalId: string, id: number) {
  const below = ['transactions', id]
  return lookUp(ofNumber(id, read<LedgerTransaction>(ledger, loanExternalId, {}, below)))
}

export function submitLoan({ ledger, key }: Writer, body: Body & { externalId: string }) {
  return ledger.write({
    method: 'POST',
    path: ledgerPath(['loans']),
    body,
    key,
    promisedId: 'loanId',
    named: { resourceExternalId: body.externalId },
    isApplication: true,
  })
}

/** @param changed the members of the body that differ from the loan */
export function updateLoan(writer: Writer, externalId: string, body: object, changed: string[]) {
  return write(writer, externalId, { method: 'PUT', body, changed, promisedId: 'loanId' })
}

export function approveLoan(writer: Writer, externalId: string, body: object) {
  return commandLoan(writer, externalId, 'approve', { body })
}

/** @param own the external id of the disbursement */
export function disburseLoan(writer: Writer, externalId: string, own: string, body: object) {
  const named = { subResourceExternalId: own }
  return commandLoan(writer, externalId, 'disburse', { body, named })
}

function commandLoan(
  writer: Writer,
  externalId: string,
  command: string,
  call: Pick<Write, 'body' | 'named'>,
) {
  const query = { command }
  return write(writer, externalId, { method: 'POST', query, promisedId: 'loanId', ...call })
}

export function deleteLoan(writer: Writer, externalId: string) {
  return write(writer, externalId, { method: 'DELETE', promisedId: 'loanId' })
}

/** @param externalId the transaction's, if it can be called by it */
export function undoTransaction(
  writer: Writer,
  loanExternalId: string,
  { id, externalId }: { id: number; externalId: string | undefined },
  body: object,
) {
  const one = externalId === undefined ? [id] : ['external-id', externalId]
  return write(writer, loanExternalId, {
    method: 'POST',
    below: ['transactions', ...one],
    query: { command: 'undo' },
    body,
    promisedId: 'resourceId',
    named: { resourceId: id, ...(externalId && { resourceExternalId: externalId }) },
  })
}

/** @param own the external id of the repayment */
export function repayLoan(writer: Writer, externalId: string, own: string, body: Body) {
  return write(writer, externalId, {
    method: 'POST',
    below: ['transactions'],
    query: { command: 'repayment' },
    body,
    promisedId: 'resourceId',
    named: { resourceExternalId: own },
  })
}
