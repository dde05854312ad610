import { type RawBuilder, sql } from 'kysely'
import {
  PgBoss,
  type Job as QueuedJob,
  type Queue as QueueOptions,
  type WorkOptions,
} from 'pg-boss'
import type { Database, Trx } from '../database/database.ts'
import { LONG_STATEMENT_MS, poolConfig } from '../database/pool/pool-config.ts'
import { oncePer } from '../log/once-per.ts'
import { publicError } from '../log/public-error.ts'
import type { Job } from './job.ts'
import { steadyClock } from './steady-clock.ts'
import { wakeAtCommit } from './wake-workers.ts'

/** `options` is what PostgreSQL stores, `work` how a worker fetches. */
export type Queue<Data extends object> = {
  name: string
  options: Omit<QueueOptions, 'name'>
  work: WorkOptions
  /** This member only carries the type of a job's data. */
  data?: Data
}

/**
 * How often workers look for jobs that wake nobody: a retry, a dead worker's job, a job added while nobody is
 * listening. This is the shortest interval that pg-boss allows, because somebody may be waiting for each of them.
 */
export const WATCHED = { pollingIntervalSeconds: 0.5 } as const

/** pg-boss's fetch: each loop repeats it twice a second, and planning it takes twenty times as long as finding no job. */
export const FETCH = /^\s*WITH\s+next AS/

/** Connections fetch and complete jobs: one for each of the five loops of the busy queues, and one for all the others. */
const BOSS_POOL_MAX = 6
/** A connection that is silent for longer than a statement may take is closed. */
const LISTENER_HEARTBEAT_MS = 2_000
/**
 * A dead worker's jobs are noticed after the heartbeat plus this, so that its work continues within 15 s;
 * pg-boss's default is a minute. One worker at a time checks, counting whole job tables: about 15 ms for
 * the 30,000 jobs that 250 operations a second leave, which is affordable as long as maintenance keeps the
 * tables short.
 */
const MONITOR_INTERVAL_SECONDS = 2
/**
 * How long a job, and the personal data in it, may outlive its `deleteAfterSeconds`. Until then every count
 * reads it.
 */
const MAINTENANCE_INTERVAL_SECONDS = 60
/** A connection is kept for longer than the interval: connecting each time took as long as the checks. */
const HOUSEKEEPING_IDLE_MS = 3_000

/** Schedules follow PostgreSQL's clock: half a minute after one of the clocks was set, they do so again. */
const CLOCK_CHECK_SECONDS = 30

/** Each of pg-boss's loops reports an outage twice a second; the log needs it only this often. */
const SAME_ERROR_EVERY_MS = 10_000

/** Makes the last run that was due while no worker ran follow once one does: machines may be off at night. */
export const CATCH_UP = { missed: 'once' } as const

type BossOptions = { name: string; onError: (error: Error) => void }

/** Opens pg-boss on the schema that `migrate` created. A worker also runs the schedules. */
export function openQueue(url: string, options: BossOptions & { isWorker: boolean }): PgBoss {
  const { isWorker, name } = options
  const isNews = oncePer(SAME_ERROR_EVERY_MS)
  const onError = (error: Error) => {
    if (isNews(error.message)) options.onError(error)
  }
  const boss = new PgBoss({
    ...poolConfig(url, { max: BOSS_POOL_MAX, name, keepsPlans: FETCH, avoidsScans: true }),
    migrate: false,
    createSchema: false,
    useListenNotify: isWorker,
    notifyHeartbeatIntervalMs: LISTENER_HEARTBEAT_MS,
    supervise: false,
    schedule: isWorker,
    clock: steadyClock(),
    clockMonitorIntervalSeconds: CLOCK_CHECK_SECONDS,
  })
  boss.on('error', onError)
  // A warning is, for example, that pg-boss cannot listen and only polls. Readyz compares the clocks, which a steady one cannot.
  boss.on('warning', ({ message }) => {
    if (!message.includes('Clock skew')) onError(new Error(message))
  })
  return boss
}

/**
 * Fails the jobs of dead workers and deletes finished ones. The housekeeping is separate from the queue, because
 * counting and deleting a million jobs may take longer than a fetch may. One connection is enough, because it does
 * one thing at a time.
 */
export function openHousekeeping(url: string, { name, onError }: BossOptions): PgBoss {
  const boss = new PgBoss({
    ...poolConfig(url, {
      max: 1,
      name: `${name}-housekeeping`,
      statementMs: LONG_STATEMENT_MS,
      idleMs: HOUSEKEEPING_IDLE_MS,
    }),
    migrate: false,
    createSchema: false,
    schedule: false,
    monitorIntervalSeconds: MONITOR_INTERVAL_SECONDS,
    superviseIntervalSeconds: MONITOR_INTERVAL_SECONDS,
    maintenanceIntervalSeconds: MAINTENANCE_INTERVAL_SECONDS,
    clock: steadyClock(),
  })
  boss.on('error', onError)
  return boss
}

type NewJob<Data extends object> = {
  data: Data
  /** Polling finds a job that starts later. */
  startAfter?: Date
}

/**
 * Inserts jobs in the transaction that writes the facts behind them: they exist, and wake the workers, only if it
 * commits.
 */
export async function insertJobs<Data extends object>(
  boss: PgBoss,
  trx: Trx,
  queue: Queue<Data>,
  jobs: NewJob<Data>[],
): Promise<void> {
  await insertJobsQuietly(boss, trx, queue, jobs)
  if (jobs.some(({ startAfter }) => startAfter === undefined)) await wakeAtCommit(trx, queue)
}

/**
 * Inserts jobs without waking workers. Call it outside a transaction only if the job is the only record, as for webhook
 * events. The caller wakes the workers once the jobs are committed.
 */
export async function insertJobsQuietly<Data extends object>(
  boss: PgBoss,
  db: Database,
  queue: Queue<Data>,
  jobs: NewJob<Data>[],
): Promise<void> {
  if (jobs.length > 0) await (await insertingJobs(boss, queue, jobs)).execute(db)
}

/** pg-boss's own statement that inserts jobs, so that it can be a part of the one that writes the facts behind them. */
export async function insertingJobs<Data extends object>(
  boss: PgBoss,
  queue: Queue<Data>,
  jobs: NewJob<Data>[],
): Promise<RawBuilder<unknown>> {
  const rows = jobs.map(({ data, startAfter }) => ({ data, ...(startAfter ? { startAfter } : {}) }))
  let statement = sql``
  const executeSql = async (text: string, values: unknown[] = []) => {
    const [before = '', after = ''] = text.split('$1')
    statement = sql`${sql.raw(before)}${values[0]}${sql.raw(after)}`
    return { rows: [] }
  }
  await boss.insert(queue.name, rows, { db: { executeSql }, returnId: false })
  return statement
}

/** Works the jobs of a queue. Those not fetched when it is stopped are left to other workers. */
export async function work<Data extends object>(
  boss: PgBoss,
  queue: Queue<Data>,
  handler: (jobs: QueuedJob<Data>[]) => Promise<unknown>,
): Promise<Job> {
  await boss.work<Data>(queue.name, queue.work, jobs => handler(jobs).catch(fail))
  return { stop: () => boss.offWork(queue.name, { wait: false }) }
}

/** pg-boss stores every member of an error in the job's output, so only public ones are kept. */
function fail(error: Error): never {
  const { message, stack, code } = publicError(error)
  throw Object.assign(new Error(message), { stack, code })
}
