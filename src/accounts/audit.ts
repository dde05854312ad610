import { sql } from 'kysely'
import type { Trx } from '../database.ts'
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
