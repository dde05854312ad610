import { Type } from '@sinclair/typebox'
import type { FileKind } from './column.ts'
import { InvalidRow } from './invalid-row.ts'
import { describeColumns, template } from './template.ts'

export const templateSchema = <Named extends object>(file: FileKind, named: Named) => ({
  ...named,
  description: describeColumns(file),
  produces: ['text/csv'],
  response: { 200: Type.String() },
})

export const fileSchema = (file: FileKind, limit: string, title: string) => ({
  description: describeColumns(file),
  consumes: ['multipart/form-data'],
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        description: `CSV, at most ${limit}`,
        examples: [template(file)],
      }),
    },
    { additionalProperties: false, title },
  ),
})

export const rowCounts = {
  rows: Type.Integer(),
  valid_rows: Type.Integer(),
  invalid_rows: Type.Integer(),
  errors: Type.Array(InvalidRow, { description: 'the first hundred invalid rows' }),
}
