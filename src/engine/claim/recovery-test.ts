import type { Database } from '../../database/database.ts'
import type { Origin } from '../origin.ts'
import { overdueSubjects } from './subject-pages.ts'

/** Enough operations that one is likely to succeed once the ledger has recovered. */
const PER_TEST = 5

/** @returns the subjects to try next: each in its turn, so that those that fail every time do not block the others */
export function openRecoveryTest(db: Database): (origins: Origin[]) => Promise<string[]> {
  let triedUpTo = ''
  return async origins => {
    const { subjects, next } = await overdueSubjects(db, origins, PER_TEST, triedUpTo)
    triedUpTo = subjects.length === PER_TEST ? (subjects.at(-1) as string) : (next ?? '')
    return subjects
  }
}
