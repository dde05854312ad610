import { type Administrator, superUser } from '../access/user.ts'
import type { SandboxFlags } from '../flags.ts'
import { AnswerStore, type StoredAnswer } from './answer-store.ts'
import type { Books, Changes } from './books.ts'
import { firstBooks } from './first-books.ts'
import { type Journal, noJournal, openJournal, readJournal } from './journal.ts'
import type { PendingCommand } from './pending-command.ts'
import { type LoggedWrite, WriteLog } from './write-log.ts'

export type JournalEntry = Changes & {
  answer?: StoredAnswer
  stuck?: { scope: string; key: string }
  write?: LoggedWrite
  businessDate?: string
}

export type Ledger = {
  books: Books
  answers: AnswerStore
  log: WriteLog
  journal: Journal
  administrator: Administrator
  flags: SandboxFlags
  calendarDay(): string
  businessDate: string | undefined
  /** Then it is still listed, and the calendar counts. */
  isBusinessDateOff: boolean
  /** Commands that wait for a checker, by number; a restart forgets them. */
  pending: Map<number, PendingCommand>
}

export function openLedger(
  booksFile: string | undefined,
  administrator: Administrator,
  flags: SandboxFlags,
  calendarDay: () => string,
): Ledger {
  const settings = { administrator, flags, calendarDay }
  const ledger: Ledger = { ...empty(administrator, flags), journal: noJournal(), ...settings }
  if (booksFile === undefined) return ledger
  for (const entry of readJournal(booksFile)) restore(ledger, entry as JournalEntry)
  // Its credentials are a setting, not part of the books.
  ledger.books.define('users', superUser(administrator))
  ledger.journal = openJournal(booksFile)
  ledger.journal.replaceBy(everything(ledger))
  return ledger
}

export function today(ledger: Ledger): string {
  return ledger.isBusinessDateOff
    ? ledger.calendarDay()
    : (ledger.businessDate ?? ledger.calendarDay())
}

export function emptyLedger(ledger: Ledger): void {
  Object.assign(ledger, empty(ledger.administrator, ledger.flags))
  ledger.journal.replaceBy([])
}

function empty(administrator: Administrator, flags: SandboxFlags) {
  return {
    books: firstBooks(administrator, flags),
    businessDate: flags.get('business-date')?.[0],
    isBusinessDateOff: false,
    pending: new Map<number, PendingCommand>(),
    answers: new AnswerStore(),
    log: new WriteLog(),
  }
}

function restore(ledger: Ledger, entry: JournalEntry): void {
  ledger.books.apply(entry)
  if (entry.answer) ledger.answers.keep(entry.answer)
  if (entry.stuck) ledger.answers.stick(entry.stuck.scope, entry.stuck.key, undefined)
  if (entry.write) ledger.log.restore(entry.write)
  if (entry.businessDate !== undefined) ledger.businessDate = entry.businessDate || undefined
}

function* everything(ledger: Ledger): Generator<JournalEntry> {
  yield* ledger.books.everything()
  yield* ledger.answers.everything()
  yield* ledger.log.everything()
  if (ledger.businessDate) yield { businessDate: ledger.businessDate }
}
