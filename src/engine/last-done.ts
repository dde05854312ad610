import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Catalogue, LastDone } from './operation.ts'

/** Replicas lag by seconds. What is missing for longer was removed by others, and nobody should have to wait for the reason. */
const SHOWN_WITHIN_SECONDS = 60

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
           processed_at > now() - ${SHOWN_WITHIN_SECONDS} * interval '1 second' as "isRecent"
      from loanops.operation
     where external_id = ${externalId} and subject = ${subject} and status = 'success'
     order by seq desc limit 1`.execute(db)
  const [last] = rows
  if (!last?.isRecent || catalogue.get(last.operationType)?.loanState === 'deleted')
    return undefined
  return last
}
