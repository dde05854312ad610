import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { fileFields } from '../../http/fields/file-facts.ts'
import { NullableText, oneOf } from '../../http/fields/schemas.ts'
import { pageOfView } from '../../http/lists/page-of-view.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export const StatementFile = Type.Object(
  {
    statement_id: Type.String(),
    gateway: oneOf(GATEWAYS),
    lender: Type.String(),
    ...fileFields,
    rows: Type.Integer(),
    valid_rows: Type.Integer(),
    invalid_rows: Type.Integer(),
    uploaded_by: Type.String(),
    uploaded_at: Type.String(),
    withdrawn_by: NullableText,
    withdrawn_at: NullableText,
  },
  { title: 'StatementFile' },
)

const files = sql<{ statement_id: string }>`
  select statement_id, gateway, lender, file_name, file_sha256, same_as, rows::float8, valid_rows::float8,
         invalid_rows::float8, uploaded_by, uploaded_at, withdrawn_by, withdrawn_at
    from ops.statement_file`

type Query = { gateway?: string; limit: number; cursor?: string }

export async function findStatements(db: Database, query: Query) {
  const wanted = equalTo({ gateway: query.gateway })
  const view = { key: 'statement_id', select: files, wanted } as const
  const { page, next_cursor } = await pageOfView(db, query, view)
  return { statements: page.map(asJson<Static<typeof StatementFile>>), next_cursor }
}

type Found = {
  /** An error without a line says why the file was refused after some rows. */
  errors: { line: number | null; reason: string }[]
  ignored_columns: string[]
}

/** The result of a file's upload: the first invalid rows. Nothing is known of an upload that a crash interrupted. */
export async function findUploadOf(db: Database, id: string): Promise<Found> {
  const { rows } = await sql<Found>`
    select coalesce(errors, '[]') as errors, coalesce(ignored_columns, '{}') as ignored_columns
      from core.statement_file where id = ${id}`.execute(db)
  return rows[0] ?? { errors: [], ignored_columns: [] }
}

export async function findStatement(
  db: Database,
  id: string,
): Promise<Static<typeof StatementFile>> {
  const one = sql<object>`${files} where statement_id = ${id}`
  return asJson<Static<typeof StatementFile>>(await rowById(db, id, `No statement ${id}`, one))
}
