import { sql } from 'kysely'

/**
 * Whether an operation may run now: while the ledger is paused, only one that may end without a write. `needsNoWrite`
 * says the same.
 */
export function mayRun(row: 'o' | 'head') {
  const column = (name: string) => sql.ref(`${row}.${name}`)
  return sql`(not exists (select from ops.ledger_pause)
              or ${column('unknown_since')} is not null or ${column('resolution')} = 'failed'
              or ${column('waiting_for')} = 'ledger_approval' and ${column('resolution')} is null)`
}

type Paused = { unknownSince: Date | null; waitingFor: string | null; resolution: string | null }

export function needsNoWrite({ unknownSince, waitingFor, resolution }: Paused): boolean {
  return (
    unknownSince !== null ||
    resolution === 'failed' ||
    (waitingFor === 'ledger_approval' && resolution === null)
  )
}
