import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { today } from '../../ledger/day-format.ts'
import { someMatching } from '../../operations/reading/find-operations.ts'
import { countUpTo, MAX_COUNTED } from '../lists/count.ts'

const HOURS = 6
const BUCKET_MINUTES = 10
/** Only this many of the newest operations are counted: more would take too long for a page. */
const MAX_ENDED = 100_000

export type TimeBucket = { at: Date; accepted: number; finished: number; failed: number }
export type History = {
  buckets: TimeBucket[]
  acceptedLastMinute: number
  finishedLastMinute: number
  /** The day in the ledger's time zone, and how many operations failed on it; null if counting takes too long. */
  today: string
  failedToday: number | null
}

/** The history in steps of ten minutes. Ids begin with their time, so an index finds the steps. */
export async function loadHistory(db: Database, timeZone: string): Promise<History> {
  const { rows } = await sql<TimeBucket>`
    with step as (
      select at, at + make_interval(mins => ${BUCKET_MINUTES}) as until
        from generate_series(date_bin('${sql.raw(String(BUCKET_MINUTES))} minutes', now(), timestamptz 'epoch')
                               - make_interval(hours => ${HOURS}), now(), make_interval(mins => ${BUCKET_MINUTES})) at
    ), ended as (
      select date_bin('${sql.raw(String(BUCKET_MINUTES))} minutes', processed_at, timestamptz 'epoch') as at,
             count(*)::integer as finished, (count(*) filter (where is_failed))::integer as failed
        from (select processed_at, status = 'failed' as is_failed from loanops.operation
               where status <> 'processing' and purged_at is null
                 and processed_at > now() - make_interval(hours => ${HOURS + 1})
               order by processed_at desc limit ${MAX_ENDED}) newest
       group by 1
    )
    select step.at, greatest(coalesce(after.seq, last.seq, 0) - coalesce(before.seq, after.seq, last.seq, 0), 0)::integer as accepted,
           coalesce(ended.finished, 0) as finished, coalesce(ended.failed, 0) as failed
      from step
      left join lateral (select seq from loanops.operation where id >= core.first_id_at(step.at) order by id limit 1) before on true
      left join lateral (select seq from loanops.operation where id >= core.first_id_at(step.until) order by id limit 1) after on true
     cross join (select max(seq) + 1 as seq from (select seq from loanops.operation order by id desc limit 1) newest) last
      left join ended using (at)
     order by step.at`.execute(db)
  return { buckets: rows, ...(await lastMinute(db)), ...(await failures(db, timeZone)) }
}

async function failures(db: Database, timeZone: string) {
  const day = today(timeZone)
  const filter = { failed_on: day, time_zone: timeZone }
  return { today: day, failedToday: await countUpTo(db, someMatching(filter, MAX_COUNTED + 1)) }
}

async function lastMinute(db: Database) {
  const { rows } = await sql<{ acceptedLastMinute: number; finishedLastMinute: number }>`
    select (select count(*)::integer from (
              select from loanops.operation where id >= core.first_id_at(now() - interval '1 minute')
               limit ${MAX_ENDED}) accepted) as "acceptedLastMinute",
           (select count(*)::integer from (
              select from loanops.operation
               where status <> 'processing' and purged_at is null and processed_at > now() - interval '1 minute'
               limit ${MAX_ENDED}) ended) as "finishedLastMinute"`.execute(db)
  return rows[0] ?? { acceptedLastMinute: 0, finishedLastMinute: 0 }
}
