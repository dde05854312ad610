import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

export function withNote(ledger: Ledger, loan: Loan, note: string | undefined): Loan {
  if (note === undefined) return loan
  return { ...loan, notes: [...loan.notes, { id: ledger.books.nextId('note'), note }] }
}
