import type { Database } from '../../database/database.ts'
import {
  ENTRIES_PER_PAGE,
  type Entry,
  findActions,
  findCallbacks,
  findOperations,
  findPaymentEntries,
  type Shown,
  type Subject,
} from './entries.ts'

type Page = { entries: Entry[]; older: Shown | null }

/** The entries of a subject, the newest first. */
export async function findEntries(db: Database, subject: Subject, shown: Shown): Promise<Page> {
  const [callbacks, actions, operations, payments] = await Promise.all([
    findCallbacks(db, subject, shown),
    findActions(db, subject, shown),
    findOperations(db, subject, shown),
    findPaymentEntries(db, subject, shown),
  ])
  // If entries have the same time, an effect is listed above its cause, as the newest come first.
  const found = merged([
    callbacks.map(callback => ({ ...placed(callback), kind: 'callback' as const, callback })),
    actions.map(action => ({ ...placed(action), kind: 'action' as const, action })),
    operations.map(operation => ({ ...placed(operation), kind: 'operation' as const, operation })),
    payments.map(payment => ({ ...placed(payment), kind: 'payment' as const, payment })),
  ])
  const entries = found.slice(0, ENTRIES_PER_PAGE)
  const last = Object.fromEntries(entries.map(({ kind, place }) => [kind, place]))
  return { entries, older: found.length > entries.length ? { ...shown, ...last } : null }
}

const placed = ({ at, place }: Pick<Entry, 'at' | 'place'>) => ({ at, place })

/** Merges lists and keeps the order within each: the next page begins where each of them was left. */
function merged(lists: Entry[][]): Entry[] {
  const left = lists.map(list => [...list])
  const all: Entry[] = []
  for (;;) {
    const [first] = left.filter(list => list.length > 0).toSorted((a, b) => headOf(b) - headOf(a))
    const newest = first?.shift()
    if (newest === undefined) return all
    all.push(newest)
  }
}

const headOf = ([first]: Entry[]) => first?.at.getTime() ?? 0
