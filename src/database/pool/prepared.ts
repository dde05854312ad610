import { hash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'

const MARK = /^\/\* prepared: (\w+) \*\//

/**
 * Plans a statement once per session: its text must be constant, and its rows found by index. Arrays are
 * passed as `(select $1)`, which hides from the planner how short they are.
 */
export const prepared = (name: string): RawBuilder<unknown> => sql.raw(`/* prepared: ${name} */`)

/** Keeps the plans of statements that begin with `prepared`, and of a library's statements that match `unmarked`. */
export function keepPlans(client: pg.ClientBase, unmarked?: RegExp): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const preparing = (text: unknown, values: unknown, ...others: unknown[]) => {
    const name = typeof text === 'string' ? nameOf(text) : undefined
    return name === undefined
      ? query(text, values, ...others)
      : query({ name, text, values }, ...others)
  }
  client.query = preparing as typeof client.query

  function nameOf(text: string): string | undefined {
    return MARK.exec(text)?.[1] ?? (unmarked?.test(text) ? hash('sha1', text) : undefined)
  }
}
