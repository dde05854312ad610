import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database, Trx } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { idBefore, pageOf } from '../../http/cursor.ts'
import type { NewReference, Reference } from './reference-record.ts'

type Found = Static<typeof Reference>

const columns = sql`gateway, kind, value, external_loan_id, valid_from::text as valid_from, valid_until::text as valid_until,
  created_by, created_at`

export type ReferenceFilter = { loan?: string; gateway?: string; kind?: string }

export function matchingReferences({ loan, gateway, kind }: ReferenceFilter) {
  const where = [sql`true`]
  if (loan !== undefined) where.push(sql`external_loan_id = ${loan}`)
  if (gateway !== undefined) where.push(sql`gateway = ${gateway}`)
  if (kind !== undefined) where.push(sql`kind = ${kind}`)
  return sql.join(where, sql` and `)
}

/** Newest first. */
export async function findReferences(
  db: Database,
  { limit, cursor, ...filter }: ReferenceFilter & { limit: number; cursor?: string },
) {
  const before = cursor === undefined ? sql`true` : sql`id < ${idBefore(cursor)}`
  const { rows } = await sql<{ id: string }>`
    select id, ${columns} from core.reference where ${matchingReferences(filter)} and ${before}
     order by id desc limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.id])
  return { references: page.map(({ id: _, ...row }) => asJson<Found>(row)), next_cursor }
}

export async function findReference(trx: Trx, reference: NewReference): Promise<Found> {
  const { gateway, kind, value, external_loan_id: loan } = reference
  const { rows } = await sql<object>`
    select ${columns} from core.reference
     where key = core.reference_key(${kind}, ${value}) and gateway = ${gateway} and external_loan_id = ${loan}`.execute(
    trx,
  )
  return asJson<Found>(rows[0] ?? {})
}
