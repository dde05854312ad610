import type { Database } from '../../database/database.ts'
import type { Origin } from '../origin.ts'
import { overdueSubjects } from './subject-pages.ts'

/** Enough operations that one of them can succeed if the ledger has recovered. */
const PER_TRIAL = 5

/** @returns the subjects to try next: in turn, so that those that fail every time do not block the others */
export function openTrial(db: Database): (origins: Origin[]) => Promise<string[]> {
  let triedUpTo = ''
  return async origins => {
    const { subjects, next } = await overdueSubjects(db, origins, PER_TRIAL, triedUpTo)
    triedUpTo = subjects.length === PER_TRIAL ? (subjects.at(-1) as string) : (next ?? '')
    return subjects
  }
}
