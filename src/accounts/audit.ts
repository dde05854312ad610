import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { newId } from '../ids.ts'

/** Who asks, and from where: `askerOf(request)` tells. */
export type Asker = { actor: string; address: string | null; requestId: string | null }
export type AuditEntry = Asker & {
  /** What was done: `<feature>.<verb>`, as `account.register`. */
  action: string
  /** To what: a username, a tracking id, `<gateway>/<payment id>`. */
  subject: string
  /** What else a reader wants to know; never a secret. */
  detail?: object
}

/** Keeps who did what in the transaction that does it: one is not there without the other. */
export async function audit(trx: Trx, entry: AuditEntry): Promise<void> {
  const { actor, action, subject, address, requestId, detail = {} } = entry
  await sql`
    insert into loanops.audit (id, actor, action, subject, address, request_id, detail)
    values (${newId()}, ${actor}, ${action}, ${subject}, ${address}, ${requestId}, ${JSON.stringify(detail)})`.execute(
    trx,
  )
}

/**
 * Keeps what no other row stands for, such as a login, without waiting for the disk: only a crash of PostgreSQL within
 * the next second could lose it, and then with everything committed after it, such as what was done with that login.
 */
export function auditAlone(db: Database, entry: AuditEntry): Promise<void> {
  return db.transaction().execute(async trx => {
    await sql`set local synchronous_commit = off`.execute(trx)
    await audit(trx, entry)
  })
}
