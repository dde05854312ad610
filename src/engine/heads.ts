import { sql } from 'kysely'

/**
 * Whether the row `o`, which was found by its id, is unfinished. It is not written as the predicate of our partial indexes:
 * with statistics from before a backlog, PostgreSQL would expect few rows in one and scan all of it.
 */
export const isUnfinished = sql`o.status || '' = 'processing'`

/** The id of each subject's oldest unfinished operation, as `oldest`. By the time its row is locked, it may have ended. */
export const headsOf = (subjects: string[]) => sql`
  unnest((select ${subjects}::text[])) as wanted (subject)
  cross join lateral (
    select id from loanops.operation
     where subject = wanted.subject and status = 'processing'
     order by seq limit 1) oldest`

/** The client's operations that this one must wait for. The offset keeps the look one by index per row. */
export function clientsUnfinished(row: 'o' | 'head') {
  return sql`select from loanops.operation client
    where client.subject = ${sql.ref(`${row}.waits_for`)} and client.status = 'processing'
      and client.seq < ${sql.ref(`${row}.seq`)} offset 0`
}
