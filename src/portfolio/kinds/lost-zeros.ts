import { type RawBuilder, sql } from 'kysely'
import { REMEDY } from '../../csv/damaged-ids.ts'
import type { Database } from '../../database/database.ts'
import { clientSubject, loanSubject } from '../../engine/operation.ts'
import { loanDelete } from '../../operations/loan-delete.ts'
import type { Rule } from './kind.ts'

const SUBJECTS = {
  loan: { name: 'loan_external_id', column: sql`loan_external_id`, subject: loanSubject('') },
  client: {
    name: 'client_external_id',
    column: sql`client_external_id`,
    subject: clientSubject(''),
  },
}

/**
 * Whether the loan or client of the operation `o` exists: the operation did not fail, and no later one of ours deleted what
 * it made.
 */
const leavesIt = sql`(o.status <> 'failed' and not (o.operation_type = ${sql.lit(loanDelete.name)} and o.status = 'success')
  and not exists (select from loanops.operation d
                   where d.external_id = o.external_id and d.subject = o.subject and d.seq > o.seq
                     and d.operation_type = ${sql.lit(loanDelete.name)} and d.status = 'success'))`

/**
 * Finds ids of digits that exist, here or in the file, with another number of leading zeros: a spreadsheet drops these
 * zeros, and what exists would be created once more. An id that exists exactly as written is valid.
 */
export const lostZeros =
  (kind: keyof typeof SUBJECTS): Rule =>
  id => {
    const { name, column, subject } = SUBJECTS[kind]
    const ourId = sql`${column} collate "default"`
    // The limit makes PostgreSQL look each id up by index. Without it, PostgreSQL overestimates the number of ids and reads
    // all operations.
    const existing = (id: RawBuilder<unknown>, which: RawBuilder<unknown>) => sql`
      (select ${id} as id from loanops.operation o
        where ${which} and o.subject = ${subject}::text || o.external_id and ${leavesIt} limit 1)`
    const withZeros = sql`ltrim(o.external_id, '0') = number and o.external_id ~ '^0[0-9]*$' and o.external_id <> mine.id`
    const withoutZeros = sql`o.external_id = number and number <> mine.id`
    return sql`
  select r.line, ${name}::text || ': ' || coalesce('line ' || other.line || ' has ', ${`the ${kind} exists as `})
           || other.id || ${`: ${REMEDY}`}
    from (with mine as materialized (
            select ${ourId} as id, ltrim(${ourId}, '0') as number, min(line) as line
              from loanops.migration_row where migration_id = ${id} and ${column} ~ '^0*[1-9][0-9]*$' group by 1
          ), several as materialized (
            select * from mine where number in (select number from mine group by 1 having count(*) > 1)
          )
          select distinct on (wanted_id) * from (
            select mine.id as wanted_id, found.id, null::integer as line
              from mine
             cross join lateral (${existing(sql`o.external_id`, withZeros)}
                                 union all ${existing(sql`o.external_id`, withoutZeros)}) found
            union all
            select m.id, o.id, o.line from several m join several o on o.number = m.number and o.id <> m.id) others
           where ${existing(sql`true`, sql`o.external_id = wanted_id`)} is null
           order by wanted_id, line nulls first) other
    join loanops.migration_row r on r.migration_id = ${id} and ${sql.ref(`r.${name}`)} collate "default" = other.wanted_id`
  }

/** What to do about a loan that the ledger does not have, if we know one whose id differs in zeros before it. */
export async function loanWithOtherZeros(db: Database, id: string): Promise<string | undefined> {
  if (!/^0*[1-9][0-9]*$/.test(id)) return undefined
  const number = id.replace(/^0+/, '')
  const known = (which: RawBuilder<unknown>) => sql`
    (select o.external_id as id from loanops.operation o
      where ${which} and o.external_id <> ${id} and o.subject = ${loanSubject('')}::text || o.external_id
        and o.status = 'success' and ${leavesIt} limit 1)`
  const withZeros = sql`ltrim(o.external_id, '0') = ${number} and o.external_id ~ '^0[0-9]*$'`
  const { rows } = await sql<{ id: string }>`
    ${known(withZeros)} union all ${known(sql`o.external_id = ${number}`)}`.execute(db)
  return rows[0] && `LoanOps knows the loan ${rows[0].id}: ${REMEDY}`
}
