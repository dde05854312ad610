import { type RawBuilder, sql } from 'kysely'

/** A time as answers carry it. */
export const utc = (time: RawBuilder<unknown>) =>
  sql<string | null>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
