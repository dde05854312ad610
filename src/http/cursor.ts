import { UUID } from '../ids.ts'
import { FieldErrors } from './problem.ts'

const SHAPES = {
  // Any eighteen digits fit into a bigint; the sequence will never need a nineteenth.
  bigint: /^\d{1,18}$/,
  uuid: new RegExp(UUID),
  name: /^[a-z][a-z0-9_]{0,62}$/,
}

/** Where a list continues: the last row's sort values, opaque to callers. */
function encodeCursor(values: string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * @param rows up to one more than `limit`; the extra row shows that there is a next page
 * @returns the page, and the cursor of the next one
 */
export function pageOf<Row>(rows: Row[], limit: number, sortValues: (row: Row) => string[]) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next_cursor: rows.length > limit && last ? encodeCursor(sortValues(last)) : null }
}

/** @throws FieldErrors if it is not a cursor of this list */
export function decodeCursor(cursor: string, shapes: (keyof typeof SHAPES)[]): string[] {
  const values = parsed(cursor)
  const fits =
    Array.isArray(values) &&
    values.length === shapes.length &&
    shapes.every((shape, i) => typeof values[i] === 'string' && SHAPES[shape].test(values[i]))
  if (!fits)
    throw new FieldErrors('INVALID_QUERY', [
      { path: '/cursor', message: 'is not a cursor of this list' },
    ])
  return values
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
