import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { fileFields } from '../../http/fields/file-facts.ts'
import { NullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import { openView } from '../../http/lists/open-view.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export const StatementFile = titled('StatementFile', {
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
})

const files = sql<object>`
  select statement_id, gateway, lender, file_name, file_sha256, same_as, rows::float8, valid_rows::float8,
         invalid_rows::float8, uploaded_by, uploaded_at, withdrawn_by, withdrawn_at
    from ops.statement_file`
const view = openView<Static<typeof StatementFile>>(files, 'statement_id', 'statement')
export const findStatement = view.one

type Query = { gateway?: string; limit: number; cursor?: string }

export function findStatements(db: Database, query: Query) {
  return view.page(db, query, equalTo({ gateway: query.gateway }))
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
