import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { pageOfView } from '../../http/lists/page-of-view.ts'
import type { Reference, ReferenceFilter, ReferenceName } from './reference-record.ts'

export const referenceColumns = sql`gateway, kind, value, external_loan_id, valid_from::text, valid_until::text, created_by, created_at`

export const ofValue = ({ gateway, kind, value }: ReferenceName) =>
  sql`key = core.reference_key(${kind}, ${value}) and gateway = ${gateway}`

type Query = ReferenceFilter & { limit: number; cursor?: string }

export const matchingReferences = ({ loan, gateway, kind }: ReferenceFilter) =>
  equalTo({ external_loan_id: loan, gateway, kind })

export async function findReferences(db: Database, query: Query) {
  const all = sql<{ id: string }>`select id, ${referenceColumns} from core.reference`
  const view = { key: 'id', select: all, wanted: matchingReferences(query) } as const
  const { page, next_cursor } = await pageOfView(db, query, view)
  return { page: page.map(({ id: _, ...row }) => asJson<Reference>(row)), next_cursor }
}
