import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { pageOfView } from '../../http/page-of-view.ts'
import type { Reference } from './reference-record.ts'

export const referenceColumns = sql`gateway, kind, value, external_loan_id, valid_from::text, valid_until::text, created_by, created_at`

export type ReferenceFilter = { loan?: string; gateway?: string; kind?: string }
type Query = ReferenceFilter & { limit: number; cursor?: string }

export function matchingReferences({ loan, gateway, kind }: ReferenceFilter) {
  const where = [sql`true`]
  if (loan !== undefined) where.push(sql`external_loan_id = ${loan}`)
  if (gateway !== undefined) where.push(sql`gateway = ${gateway}`)
  if (kind !== undefined) where.push(sql`kind = ${kind}`)
  return sql.join(where, sql` and `)
}

/** References, newest first. */
export async function findReferences(db: Database, query: Query) {
  const all = sql<{ id: string }>`select id, ${referenceColumns} from core.reference`
  const { page, next_cursor } = await pageOfView(db, query, 'id', all, matchingReferences(query))
  return { references: page.map(({ id: _, ...row }) => asJson<Reference>(row)), next_cursor }
}
