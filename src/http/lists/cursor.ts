import { UUID } from '../../ids.ts'
import { invalidField } from '../problem.ts'

const SHAPES = {
  // Any eighteen digits fit into a bigint; the sequence will never need a nineteenth.
  bigint: '[0-9]{1,18}',
  uuid: UUID.slice(1, -1),
  name: '[a-z][a-z0-9_]{0,62}',
  // Go refuses a pattern, and with it the contract, that repeats something more than a thousand times.
  text: '(0[1-9a-f]|[1-9a-f][0-9a-f])+',
}
export type Shape = keyof typeof SHAPES

/** A cursor without its list's name comes from an earlier version, which may still be running beside this one. */
export function cursorPattern(shapes: readonly Shape[], list?: string): string {
  const name = list === undefined ? '' : `(?:${list}~)?`
  return `^${name}${shapes.map(shape => SHAPES[shape]).join('\\.')}$`
}

/** A cursor with the name of its list, so that no other list takes it. */
export const withList = (list: string, cursor: string | null) => cursor && `${list}~${cursor}`

export type FoundPage<Row> = { page: Row[]; next_cursor: string | null }

export function pageOf<Row>(rows: Row[], limit: number, sortValues: (row: Row) => string[]) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next_cursor: rows.length > limit && last ? sortValues(last).join('.') : null }
}

/** A text as a value of a cursor: it may contain the dot that separates values. */
export const hex = (text: string) => Buffer.from(text).toString('hex')

export function decodeCursor(cursor: string | undefined, shapes: readonly Shape[]): string[] {
  if (cursor === undefined) return []
  const values = cursor.replace(/^\w+~/, '')
  if (!new RegExp(cursorPattern(shapes)).test(values))
    throw invalidField('/cursor', 'is not a cursor of this list', 'INVALID_QUERY')
  const textOf = (value: string) => Buffer.from(value, 'hex').toString()
  return values.split('.').map((value, n) => (shapes[n] === 'text' ? textOf(value) : value))
}
