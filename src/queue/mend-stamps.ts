import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { leaseEnd } from '../database/lease.ts'
import { asError, type Log } from '../log/log.ts'
import { type Job, startLoop } from './job.ts'

const EVERY_MS = 30_000

/**
 * When PostgreSQL's clock was set back, pg-boss would wait until the times at which it last looked have come again, and
 * would leave out what it started at later times, for each of which it keeps a job. What dead processes held would be theirs
 * until then, too: no lease of ours ends later than one that begins now.
 */
export function mendStamps({ db, log }: { db: Database; log: Pick<Log, 'error'> }): Job {
  const mend = () =>
    sql`
    with schedules as (update pgboss.version set cron_on = now() where cron_on > now() returning cron_on),
         starts as (
           delete from pgboss.job
            where name = '__pgboss__send-it' and singleton_on > now() at time zone 'UTC' and state = 'completed'),
         ${sql.join(LEASES.map(shortened))}
    update pgboss.queue set monitor_on = least(monitor_on, now()), maintain_on = least(maintain_on, now())
     where greatest(monitor_on, maintain_on) > now()`.execute(db)
  const onError = asError(log, 'could not check the queue’s times against PostgreSQL’s clock')
  return startLoop({ everyMs: EVERY_MS, onError }, async () => void (await mend()))
}

/** Each table with leases, the column of their ends, and which rows have one. */
const LEASES = [
  ['loanops.operation', 'claimed_until', sql`status = 'processing'`],
  ['loanops.ledger_share', 'leased_until', sql`true`],
  ['loanops.migration', 'worked_until', sql`true`],
  ['core.batch_run', 'claimed_until', sql`status = 'running'`],
  ['core.readback_run', 'claimed_until', sql`status = 'running'`],
  ['core.backfill', 'claimed_until', sql`status = 'running'`],
] as const

const shortened = ([table, end, isLeased]: (typeof LEASES)[number]) => sql`
  ${sql.ref(`short_${table.split('.')[1]}`)} as (
    update ${sql.table(table)} set ${sql.ref(end)} = ${leaseEnd}
     where ${sql.ref(end)} > ${leaseEnd} and ${isLeased} and exists (select from schedules))`
