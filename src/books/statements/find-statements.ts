import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { idBefore, pageOf } from '../../http/cursor.ts'
import { fileFacts } from '../../http/file-facts.ts'
import { NotFound } from '../../http/problem.ts'
import { NullableText, oneOf } from '../../http/schemas.ts'
import { isUuid } from '../../ids.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export const StatementFile = Type.Object(
  {
    statement_id: Type.String(),
    gateway: oneOf(GATEWAYS),
    lender: Type.String(),
    ...fileFacts,
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

const columns = sql`statement_id, gateway, lender, file_name, file_sha256, same_as, rows::float8, valid_rows::float8,
  invalid_rows::float8, uploaded_by, uploaded_at, withdrawn_by, withdrawn_at`

type Query = { gateway?: string; limit: number; cursor?: string }

export async function findStatements(db: Database, { gateway, limit, cursor }: Query) {
  const before = idBefore(cursor)
  const { rows } = await sql<{ statement_id: string }>`
    select ${columns} from ops.statement_file
     where (${gateway ?? null}::text is null or gateway = ${gateway ?? null})
       and (${before}::uuid is null or statement_id < ${before})
     order by statement_id desc limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.statement_id])
  return { statements: page.map(asJson<Static<typeof StatementFile>>), next_cursor }
}

type Found = { errors: { line: number; reason: string }[]; ignored_columns: string[] }

/** What the upload of a file found: the first invalid rows. Nothing is known of an upload that was interrupted. */
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
  const { rows } = isUuid(id)
    ? await sql<object>`select ${columns} from ops.statement_file where statement_id = ${id}`.execute(
        db,
      )
    : { rows: [] }
  if (rows[0] === undefined) throw new NotFound(`No statement ${id}`)
  return asJson<Static<typeof StatementFile>>(rows[0])
}
