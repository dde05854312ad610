import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'

const MARK = /^\/\* prepared: (\w+) \*\//

/**
 * Begins a statement that each session plans once. Its text must not depend on its parameters, and it must
 * find all of its rows by index. PostgreSQL keeps a plan that seems no worse than one for the values at
 * hand, so arrays are passed as `(select $1)`, which hides how short they are.
 */
export const prepared = (name: string): RawBuilder<unknown> => sql.raw(`/* prepared: ${name} */`)

/** For statements that begin with `prepared`. */
export async function keepPlans(client: pg.ClientBase): Promise<void> {
  // A plan made while a table was small would go on reading all of it.
  await client.query('set enable_seqscan = off')
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const preparing = (text: unknown, values: unknown, ...others: unknown[]) => {
    const name = typeof text === 'string' ? MARK.exec(text)?.[1] : undefined
    return name === undefined
      ? query(text, values, ...others)
      : query({ name, text, values }, ...others)
  }
  client.query = preparing as typeof client.query
}
