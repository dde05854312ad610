import { hash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'

const MARK = /^\/\* prepared: (\w+) \*\//
/** pg-boss's fetch: each loop repeats it twice a second, and planning it takes twenty times as long as finding no job. */
const FETCH = /^\s*WITH\s+next AS/

/**
 * Plans a statement once per session: its text must be constant, and its rows found by index. Arrays are
 * passed as `(select $1)`, which hides from the planner how short they are.
 */
export const prepared = (name: string): RawBuilder<unknown> => sql.raw(`/* prepared: ${name} */`)

/** Keeps the plans of statements that begin with `prepared`, and of the queue's fetches. */
export function keepPlans(client: pg.ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const preparing = (text: unknown, values: unknown, ...others: unknown[]) => {
    const name = typeof text === 'string' ? nameOf(text) : undefined
    return name === undefined
      ? query(text, values, ...others)
      : query({ name, text, values }, ...others)
  }
  client.query = preparing as typeof client.query
}

const nameOf = (text: string) =>
  MARK.exec(text)?.[1] ?? (FETCH.test(text) ? hash('sha1', text) : undefined)
