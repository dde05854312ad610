import { sql } from 'kysely'

type Row = 'o' | 'head' | 'claimed'

/** Whether an operation may run now: while the ledger is paused, only one that may end without a write. */
export function mayRun(row: Row) {
  return sql`(not exists (select from ops.ledger_pause) or ${mayEndUnwritten(row)})`
}

export function mayEndUnwritten(row: Row) {
  const column = (name: string) => sql.ref(`${row}.${name}`)
  return sql`(${column('unknown_since')} is not null or ${column('resolution')} is not distinct from 'failed'
              or ${column('waiting_for')} is not distinct from 'ledger_approval' and ${column('resolution')} is null)`
}
