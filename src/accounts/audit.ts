import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { newId } from '../ids.ts'

export type Asker = {
  actor: string
  caller: string | null
  address: string | null
  requestId: string | null
  /** The approval of an act that a second person approved. */
  approval?: { approval_id: string; approved_by: string }
}

/** Who asks when nobody called: a command or a setting of this program. */
export const programAsker = (actor: string): Asker => ({
  actor,
  caller: null,
  address: null,
  requestId: null,
})

type AuditEntry = Asker & {
  /** The act: `<feature>.<verb>`, such as `account.register`. */
  action: string
  /** The thing it was done to: a username, a tracking id, `<gateway>/<payment id>`. */
  subject: string
  detail?: object
}

/** Audits an act in the transaction that does it: neither exists without the other. */
export async function audit(trx: Trx, entry: AuditEntry): Promise<void> {
  const { actor, caller, action, subject, address, requestId, detail, approval } = entry
  await sql`
    insert into loanops.audit (id, actor, caller, action, subject, address, request_id, detail)
    values (${newId()}, ${actor}, ${caller}, ${action}, ${subject}, ${address}, ${requestId},
            ${JSON.stringify({ ...detail, ...approval })})`.execute(trx)
}

/**
 * Audits an act by itself, without waiting for the disk: only a crash of PostgreSQL could lose the entry, with
 * everything committed after it.
 */
export function auditAlone(db: Database, entry: AuditEntry): Promise<void> {
  return db.transaction().execute(async trx => {
    await sql`set local synchronous_commit = off`.execute(trx)
    await audit(trx, entry)
  })
}

/** Audits an export: a file may contain the personal data of many. Templates, which contain none, are no export. */
export function auditExport(db: Database, asker: Asker, file: string, filter: object) {
  return auditAlone(db, { ...asker, action: 'list.export', subject: file, detail: filter })
}
