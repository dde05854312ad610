import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import { inSteps } from '../../database/in-steps.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { rowById } from '../../http/row-by-id.ts'

/** Deleting this many rows takes some 50 ms, in which payments cannot be settled. */
const ROWS_AT_ONCE = 2_000

/** Withdraws a file: from now on, no day counts as complete because of it. Repeating the call deletes what a crash left. */
export async function withdrawStatement(
  db: Database,
  gateway: string,
  id: string,
  asker: Asker,
): Promise<void> {
  await inTransaction(db, async trx => {
    const withdrawn = sql<{ is_new: boolean }>`
      select is_new from core.withdraw_file(${gateway}, ${id}, ${asker.actor})`
    const { is_new } = await rowById(trx, id, `No statement ${id} of ${gateway}`, withdrawn)
    if (is_new)
      await audit(trx, { ...asker, action: 'statement.withdraw', subject: id, detail: { gateway } })
  })
}

/** Deletes the rows of a withdrawn file. */
export async function deleteRowsOf(db: Database, id: string): Promise<void> {
  await inSteps(true, async () => {
    const { rows } = await sql<{ more: boolean }>`
      select core.delete_rows_of(${id}, ${ROWS_AT_ONCE}) as more`.execute(db)
    return rows[0]?.more === true ? true : null
  })
}
