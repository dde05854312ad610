import { sql } from 'kysely'

/** This is not the predicate of our partial indexes: with old statistics, PostgreSQL would scan all of one. */
export const isUnfinished = sql`o.status || '' = 'processing'`

export const released = sql`claimed_by = null, claimed_at = null, claimed_until = null`

/** The heads of the subjects. By the time a head's row is locked, it may have ended: check isUnfinished. */
export const headsOf = (subjects: string[]) => sql`
  unnest((select ${subjects}::text[])) as wanted (subject)
  cross join lateral (
    select id from loanops.operation
     where subject = wanted.subject and status = 'processing'
     order by seq limit 1) oldest`

/** The client's operations that this one must wait for. The `offset 0` keeps this an index lookup per row. */
export function clientsUnfinished(row: 'o' | 'head') {
  return sql`select from loanops.operation client
    where client.subject = ${sql.ref(`${row}.waits_for`)} and client.status = 'processing'
      and client.seq < ${sql.ref(`${row}.seq`)} offset 0`
}
