import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import type { Origin } from '../origin.ts'
import { clientsUnfinished } from './heads.ts'
import { mayRun } from './may-run.ts'

/** A wake-up this late must have been lost: its worker died, or the database was down. */
const LATE_SECONDS = 2

/**
 * The longest rest between two looks at all subjects. After an outage or a death, work resumes by these looks, within 15 s:
 * one that took long, such as because the database did not answer, must not be followed by ten times as long a rest.
 */
export const MAX_REST_MS = 5_000

export type SubjectPage = {
  subjects: string[]
  next: string | null
  /** The time until the first of the valid claims that were seen expires. */
  validForMs: number | null
}

export const overdueSubjects = headsWhere(
  'overdue_subjects',
  sql`claimed_by is null and next_try_at < now() - make_interval(secs => ${LATE_SECONDS}) and ${mayRun('head')}`,
)

/** Heads that were never claimed, so that no attempt can have failed. */
export const untriedSubjects = headsWhere(
  'untried_subjects',
  sql`claimed_by is null and attempt = 0 and next_try_at <= now() and ${mayRun('head')}`,
)

export const expiredSubjects = headsWhere('expired_subjects', sql`claimed_until < now()`)

/**
 * The subjects whose heads can end without a write: past their deadline with nothing sent, or marked failed by an
 * operator.
 */
export const endableSubjects = (deadlineSeconds: number) =>
  headsWhere(
    'endable_subjects',
    sql`claimed_by is null and next_try_at <= now() and ${mayRun('head')}
        and (resolution = 'failed'
             or accepted_at < now() - make_interval(secs => ${deadlineSeconds})
                and unknown_since is null and not look_first)`,
  )

/** A page takes a few hundredths of a second: the statement must not time out when a million subjects are waiting. */
const SUBJECTS_PER_PAGE = 5_000

/** Walks the index from subject to subject, so that one with ten thousand waiting operations costs one step. */
function headsWhere(name: string, condition: RawBuilder<unknown>) {
  const columns = sql`subject, seq, origin, waits_for, accepted_at, claimed_by, claimed_until, next_try_at, unknown_since,
    look_first, waiting_for, resolution, attempt`
  return async (db: Database, origins: readonly Origin[], limit: number, after = '') => {
    const { rows } = await sql<SubjectPage>`${prepared(name)}
      with recursive head as (
        (select ${columns} from loanops.operation
          where status = 'processing' and subject > ${after} order by subject, seq limit 1)
        union all
        select next.* from head cross join lateral (
          select ${columns} from loanops.operation
           where status = 'processing' and subject > head.subject order by subject, seq limit 1) next
      ), walked as (
        select * from head limit ${SUBJECTS_PER_PAGE}
      )
      select array(select subject from walked head
                    where ${condition} and origin = any(${origins}) and not exists (${clientsUnfinished('head')})
                    limit ${limit}) as subjects,
             case when count(*) = ${SUBJECTS_PER_PAGE} then max(subject) end as next,
             extract(epoch from min(claimed_until) filter (where claimed_until >= now()) - now())::float8 * 1000 as "validForMs"
        from walked`.execute(db)
    return rows[0] as SubjectPage
  }
}
