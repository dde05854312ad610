import { type RawBuilder, sql } from 'kysely'

/** The condition that each column equals its value, where one is given. */
export function equalTo(values: Record<string, string | undefined>): RawBuilder<unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const each = given.map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  return sql.join([sql`true`, ...each], sql` and `)
}
