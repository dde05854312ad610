import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Database } from '../../database/database.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import { asError, type Log } from '../../log/log.ts'
import type { Metrics } from '../../ops/metrics.ts'
import { type Job, restAfter, startLoop } from '../../queue/job.ts'
import { insertJobs } from '../../queue/queue.ts'
import { headsOf, isUnfinished, released } from '../claim/heads.ts'
import { expiredSubjects, MAX_REST_MS, type SubjectPage } from '../claim/subject-pages.ts'
import { engineCounters } from '../engine-signals.ts'
import { ORIGINS, type Origin } from '../origin.ts'
import { bulkQueue, liveQueue, queueOf, wakesOf } from '../queue.ts'

/** The shortest rest between two looks. A dead worker's work resumes within 11 s of its last renewal, unless looks take long. */
const LOOK_EVERY_MS = 1_000
/** A claim that a look cannot see yet began at most a statement's 4 s before it, so it is valid for longer than this. */
const LOOK_AT_LEAST_EVERY_MS = 5_000
/** One page holds what a few dead processes had claimed. The next look, which follows at once, finds the rest. */
const MAX_SUBJECTS_PER_PAGE = 200
/** While the ledger is down, its probe decides when work goes on; trying sooner would only be refused again. */
const NEXT_TRY_WHILE_DOWN_MS = 5_000

/** The expiry is separate from the sweep, which waits for its probe as long as the ledger hangs, and skips full lanes. */
export function startExpiry(
  db: Database,
  boss: PgBoss,
  { ledger, metrics, log }: ExpiryContext,
): Job {
  const onError = asError(log, 'expired claims could not be ended')
  return startLoop({ everyMs: LOOK_EVERY_MS, onError }, async () => {
    const startedAt = performance.now()
    const nextTryMs = ledger.breaker.isOpen() ? NEXT_TRY_WHILE_DOWN_MS : 0
    const lookAfterMs = await endExpiredClaims(db, boss, nextTryMs, lost =>
      metrics.of(engineCounters).claimsLost.inc(lost),
    )
    // Each look scans all waiting subjects.
    return lookAfterMs === 0 ? 0 : restAfter(startedAt, lookAfterMs, MAX_REST_MS)
  })
}

type ExpiryContext = {
  ledger: Pick<Ledger, 'breaker'>
  metrics: Pick<Metrics, 'of'>
  log: Pick<Log, 'error'>
}

/**
 * Ends expired claims without a call to the ledger: even while it is down, an operation must show what it waits for.
 * @returns the milliseconds after which to look again
 */
export async function endExpiredClaims(
  db: Database,
  boss: PgBoss,
  nextTryMs: number,
  onLost: (claims: number) => void = () => {},
): Promise<number> {
  let lookAfterMs = LOOK_AT_LEAST_EVERY_MS
  for (let after: string | null = ''; after !== null; ) {
    const page: SubjectPage = await expiredSubjects(db, ORIGINS, MAX_SUBJECTS_PER_PAGE, after)
    const { subjects, next, validForMs } = page
    if (subjects.length > 0) onLost(await endExpired(db, boss, subjects, nextTryMs))
    if (subjects.length === MAX_SUBJECTS_PER_PAGE) return 0
    // An expired claim whose row was locked is still there: look again at once.
    const untilNextMs = subjects.length > 0 ? 0 : (validForMs ?? LOOK_AT_LEAST_EVERY_MS)
    lookAfterMs = Math.min(lookAfterMs, untilNextMs)
    after = next
  }
  return Math.max(lookAfterMs, LOOK_EVERY_MS)
}

async function endExpired(db: Database, boss: PgBoss, subjects: string[], nextTryMs: number) {
  return db.transaction().execute(async trx => {
    const { rows } = await sql<{ subject: string; origin: Origin; nextTryAt: Date }>`
      with expired as (
        select o.id, o.attempt, o.claimed_at, o.claimed_until, o.unstarted_attempt is distinct from o.attempt as was_started,
               o.sent_attempt is not distinct from o.attempt as was_sent
          from ${headsOf(subjects)}
          join loanops.operation o on o.id = oldest.id and ${isUnfinished}
         where o.claimed_until < now()
        -- Whoever has locked the row is recording how the attempt ended.
           for update of o skip locked
      ), lost as (
        insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
        select id, attempt, claimed_at, claimed_until, 'unknown' from expired where was_started
      )
      update loanops.operation o
         set ${released},
             attempts = o.attempts + was_started::integer,
             look_first = o.look_first or was_started,
             may_still_run = o.may_still_run or was_sent,
             unknown_since = coalesce(o.unknown_since, case when was_started then o.claimed_at end),
             -- An operation that is due at once waits for nothing: a batch run waits for its end. And the
             -- approver must not get a second request.
             waiting_for = case when not was_started or ${nextTryMs} = 0 or o.waiting_for = 'ledger_approval' then o.waiting_for
                                else 'outcome_unknown' end,
             last_error = case when was_started then 'the worker stopped before it recorded how its attempt ended'
                               else o.last_error end,
             next_try_at = now() + ${nextTryMs} * interval '1 millisecond'
        from expired
       where o.id = expired.id
      -- The time is the same for all. A JavaScript date drops the microseconds: a wake-up must not come too early.
      returning o.subject, o.origin,
                o.next_try_at + interval '1 millisecond' as "nextTryAt"`.execute(trx)
    for (const queue of [liveQueue, bulkQueue]) {
      const lost = rows.filter(({ origin }) => queueOf(origin) === queue)
      const subjects = lost.map(({ subject }) => subject)
      const startAfter = nextTryMs > 0 ? lost[0]?.nextTryAt : undefined
      await insertJobs(boss, trx, queue, wakesOf(subjects, startAfter))
    }
    return rows.length
  })
}
