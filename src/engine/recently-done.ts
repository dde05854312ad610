import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Catalogue, RecentlyDone } from './operation.ts'

/** Replicas lag by seconds. What is missing for longer was removed by others, and nobody should have to wait for the reason. */
const SHOWN_WITHIN_SECONDS = 60
/** A loan gets its repayments after all that could be lost by a read that lags, and these may be many. */
const MOST_OPERATIONS = 20

type Row = RecentlyDone['done'][number] & { recordId: string | null }

/** What operations did to a subject so lately that the ledger's reads may not show it yet. */
export async function recentlyDone(
  db: Database,
  catalogue: Catalogue,
  subject: string,
): Promise<RecentlyDone> {
  const externalId = subject.slice(subject.indexOf(':') + 1)
  const { rows } = await sql<Row>`
    select operation_type as "operationType", data, response ->> 'resourceId' as "recordId"
      from (select * from loanops.operation
             where external_id = ${externalId} and subject = ${subject} and status = 'success'
             order by seq desc limit ${MOST_OPERATIONS}) o
     where processed_at > now() - ${SHOWN_WITHIN_SECONDS} * interval '1 second'
     order by seq`.execute(db)
  const isRemoval = ({ operationType }: Row) =>
    catalogue.get(operationType)?.loanState === 'deleted'
  return {
    done: rows.slice(rows.findLastIndex(isRemoval) + 1),
    removed: rows.filter(isRemoval).map(({ recordId }) => Number(recordId)),
  }
}
