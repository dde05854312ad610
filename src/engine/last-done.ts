import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Catalogue, LastDone } from './operation.ts'

/** Replicas lag by seconds; a person may undo what we did, but rarely so soon. */
const SHOWN_WITHIN_MINUTES = 10

/**
 * What an operation last did to a subject, if that was so lately that the ledger's reads may not show it yet.
 * @returns undefined too if it removed the subject
 */
export async function lastDone(
  db: Database,
  catalogue: Catalogue,
  subject: string,
): Promise<LastDone | undefined> {
  const externalId = subject.slice(subject.indexOf(':') + 1)
  const { rows } = await sql<LastDone & { isRecent: boolean }>`
    select operation_type as "operationType", data,
           processed_at > now() - ${SHOWN_WITHIN_MINUTES} * interval '1 minute' as "isRecent"
      from loanops.operation
     where external_id = ${externalId} and subject = ${subject} and status = 'success'
     order by seq desc limit 1`.execute(db)
  const [last] = rows
  if (!last?.isRecent || catalogue.get(last.operationType)?.loanState === 'deleted')
    return undefined
  return last
}
