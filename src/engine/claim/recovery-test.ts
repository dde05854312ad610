import type { Database } from '../../database/database.ts'
import type { Origin } from '../origin.ts'
import { overdueSubjects, untriedSubjects } from './subject-pages.ts'

/** Enough operations that one is likely to succeed once the ledger has recovered. */
const PER_TEST = 5

/**
 * @returns the subjects to try next: those that were never tried first, and one of the others in its turn, so that those
 * that fail every time do not block the others
 */
export function openRecoveryTest(db: Database): (origins: Origin[]) => Promise<string[]> {
  const untried = inTurn(untriedSubjects)
  const others = inTurn(overdueSubjects)
  return async origins => {
    const first = await untried(db, origins, PER_TEST - 1)
    return [...first, ...(await others(db, origins, PER_TEST - first.length))]
  }
}

function inTurn(find: typeof overdueSubjects) {
  let takenUpTo = ''
  return async (db: Database, origins: Origin[], count: number) => {
    const { subjects, next } = await find(db, origins, count, takenUpTo)
    takenUpTo = subjects.length === count ? (subjects.at(-1) as string) : (next ?? '')
    return subjects
  }
}
