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

/** Ids begin with their time, so an index finds them; but not those of a portfolio's rows, which come later than any day's. */
const timedIds = sql`id < core.first_id_at(now() + interval '1 day') and origin <> 'migration'`

/** The history in steps of ten minutes. */
export async function readHistory(db: Database, timeZone: string): Promise<History> {
  const step = sql`make_interval(mins => ${BUCKET_MINUTES})`
  const { rows } = await sql<TimeBucket>`
    with ended as (
      select date_bin(${step}, processed_at, timestamptz 'epoch') as at,
             count(*)::integer as finished, (count(*) filter (where is_failed))::integer as failed
        from (select processed_at, status = 'failed' as is_failed from loanops.operation
               where status <> 'processing' and purged_at is null
                 and processed_at > now() - make_interval(hours => ${HOURS + 1})
               order by processed_at desc limit ${MAX_ENDED}) newest
       group by 1
    ), step as (
      select at, (select min(seq) from (
                    (select seq from loanops.operation where id >= core.first_id_at(at) and ${timedIds} order by id limit 1)
                    union all
                    (select seq from loanops.operation where origin <> 'payment' and accepted_at >= at order by accepted_at limit 1)) one) as first
        from generate_series(date_bin(${step}, now(), timestamptz 'epoch') - make_interval(hours => ${HOURS}), now(), ${step}) at
    ), accepted as (
      select at, greatest(coalesce(lead(first) over (order by at), after_all.seq) - first, 0) as number
        from step
       cross join (select max(seq) + 1 as seq from (
                     (select seq from loanops.operation where ${timedIds} order by id desc limit 1)
                     union all
                     (select seq from loanops.operation where origin <> 'payment' order by accepted_at desc limit 1)) newest) after_all
    )
    select at, number::integer as accepted, coalesce(finished, 0) as finished, coalesce(failed, 0) as failed
      from accepted left join ended using (at)
     order by at`.execute(db)
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
              (select 1 from loanops.operation where id >= core.first_id_at(now() - interval '1 minute') and ${timedIds} limit ${MAX_ENDED})
              union all
              (select 1 from loanops.operation where origin = 'migration' and accepted_at > now() - interval '1 minute'
                limit ${MAX_ENDED})) accepted) as "acceptedLastMinute",
           (select count(*)::integer from (
              select from loanops.operation
               where status <> 'processing' and purged_at is null and processed_at > now() - interval '1 minute'
               limit ${MAX_ENDED}) ended) as "finishedLastMinute"`.execute(db)
  return rows[0] ?? { acceptedLastMinute: 0, finishedLastMinute: 0 }
}
