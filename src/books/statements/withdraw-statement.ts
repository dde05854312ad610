import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { rowById } from '../../http/lists/row-by-id.ts'

/** Withdraws a file: from now on, neither its rows nor its days count. `sweepWithdrawn` deletes the rows. */
export async function withdrawStatement(db: Database, gateway: string, id: string, asker: Asker) {
  await inTransaction(db, async trx => {
    const withdrawn = sql`select from core.withdraw_file(${gateway}, ${id}, ${asker.actor})`
    await rowById(trx, id, `No statement ${id} of ${gateway}`, withdrawn)
    await audit(trx, { ...asker, action: 'statement.withdraw', subject: id, detail: { gateway } })
  })
}
