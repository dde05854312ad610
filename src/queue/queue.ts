import {
  fromKysely,
  PgBoss,
  type Job as QueuedJob,
  type Queue as QueueOptions,
  type WorkOptions,
} from 'pg-boss'
import { LONG_STATEMENT_MS, poolConfig, type Trx } from '../database/database.ts'
import { publicError } from '../public-error.ts'
import type { Job } from './job.ts'

/** A queue with its promise: `options` is what PostgreSQL keeps, `work` how a worker takes from it. */
export type Queue<Data extends object> = {
  name: string
  options: Omit<QueueOptions, 'name'>
  work: WorkOptions
  /** Only carries the type of a job's data. */
  data?: Data
}

/**
 * A queue with `notify` is looked into at once when something is put there, and this often for what comes back without
 * a word: a retry, a dead worker's job, whatever is put there while nobody can listen.
 */
export const WATCHED = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 } as const

/** Connections of pg-boss's own pool, which fetch and complete. */
const BOSS_POOL_MAX = 6
/** A listening connection that is silent for longer than a statement may take is closed: it has to speak before that. */
const LISTENER_SPEAKS_EVERY_MS = 2_000
/**
 * A dead worker's jobs are noticed after the heartbeat plus this, not after pg-boss's minute: its work goes on within 15 s.
 * One worker at a time looks, and counts whole job tables each time: some 15 ms for the 30,000 jobs that 250 operations a
 * second leave there, which is worth it as long as maintenance keeps the tables short.
 */
const MONITOR_INTERVAL_SECONDS = 2
/** How long a job may outlive its `deleteAfterSeconds`, with the personal data in it; every count reads past it. */
const MAINTENANCE_INTERVAL_SECONDS = 60

type BossOptions = { name: string; onError: (error: Error) => void }

/** pg-boss on the schema that `migrate` made. A worker also runs the schedules. */
export function openQueue(url: string, options: BossOptions & { isWorker: boolean }): PgBoss {
  const { isWorker, name, onError } = options
  const boss = new PgBoss({
    ...poolConfig(url, { max: BOSS_POOL_MAX, name }),
    migrate: false,
    createSchema: false,
    useListenNotify: isWorker,
    notifyHeartbeatIntervalMs: LISTENER_SPEAKS_EVERY_MS,
    supervise: false,
    schedule: isWorker,
  })
  boss.on('error', onError)
  return boss
}

/**
 * Fails the jobs of dead workers and deletes what is done. Apart from the queue, because counting and deleting a million
 * jobs may take longer than a fetch may, and on one connection, because it does one thing after the other.
 */
export function openHousekeeping(url: string, { name, onError }: BossOptions): PgBoss {
  const boss = new PgBoss({
    ...poolConfig(url, { max: 1, name: `${name}-housekeeping`, statementMs: LONG_STATEMENT_MS }),
    migrate: false,
    createSchema: false,
    schedule: false,
    monitorIntervalSeconds: MONITOR_INTERVAL_SECONDS,
    superviseIntervalSeconds: MONITOR_INTERVAL_SECONDS,
    maintenanceIntervalSeconds: MAINTENANCE_INTERVAL_SECONDS,
  })
  boss.on('error', onError)
  return boss
}

/**
 * Adds jobs in the transaction that made them true: they exist if, and only if, it commits.
 * @param startAfter when a job may start; such a job is found by the queue's polling
 */
export async function insertJobs<Data extends object>(
  boss: PgBoss,
  trx: Trx,
  queue: Queue<Data>,
  jobs: { data: Data; startAfter?: Date }[],
): Promise<void> {
  if (jobs.length === 0) return
  const rows = jobs.map(({ data, startAfter }) => ({ data, ...(startAfter ? { startAfter } : {}) }))
  await boss.insert(queue.name, rows, { db: fromKysely(trx), returnId: false })
}

/** Takes a queue's jobs until it is stopped; what is not fetched by then is another worker's. */
export async function work<Data extends object>(
  boss: PgBoss,
  queue: Queue<Data>,
  handler: (jobs: QueuedJob<Data>[]) => Promise<unknown>,
): Promise<Job> {
  await boss.work<Data>(queue.name, queue.work, jobs => handler(jobs).catch(fail))
  return { stop: () => boss.offWork(queue.name, { wait: false }) }
}

/** pg-boss keeps every member of an error in the job's output. */
function fail(error: Error): never {
  const { message, stack, code } = publicError(error)
  throw Object.assign(new Error(message), { stack, code })
}
