import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'
import { laneOf, ORIGINS } from './origin.ts'

/** Beyond this the exact number no longer matters, and counting takes tenths of a second. */
const MAX_COUNTED = 100_000
const LIVE = ORIGINS.filter(origin => laneOf(origin) === 'live')

type Backlog = {
  lane: string
  waiting_for: string
  operations: number
  oldest: number
  claimed: number
}
type Queued = { queue: string; ready: number; active: number; deferred: number; failed: number }

export function engineGauges(
  registry: Registry,
  db: Database,
  log: Pick<Log, 'warn'>,
  everyMs?: number,
): Job {
  const show = openGauges([registry])
  return measureEvery(
    async () => show(await measureBacklog(db), await measureQueues(db)),
    log,
    everyMs,
  )
}

function openGauges(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers })
  const waiting = gauge(
    'loanops_operations_unfinished',
    `Unfinished operations by lane and by what they wait for, counted up to ${MAX_COUNTED}`,
    ['lane', 'waiting_for'],
  )
  const oldest = gauge(
    'loanops_operations_oldest_seconds',
    'Age of the oldest unfinished operation counted, by lane and by what it waits for',
    ['lane', 'waiting_for'],
  )
  const claims = gauge('loanops_claims_held', 'Operations that a worker holds, by lane', ['lane'])
  const queues = gauge('loanops_queue_jobs', 'Jobs in each queue, by state', ['queue', 'state'])

  return (backlog: Backlog[], queued: Queued[]) => {
    for (const one of [waiting, oldest, claims, queues]) one.reset()
    // A lane without work has a figure too: an empty panel would look like a worker that is down.
    for (const lane of ['live', 'bulk']) {
      claims.set({ lane }, 0)
      for (const one of [waiting, oldest]) one.set({ lane, waiting_for: 'nothing' }, 0)
    }
    for (const { lane, waiting_for, operations, oldest: seconds, claimed } of backlog) {
      waiting.set({ lane, waiting_for }, operations)
      oldest.set({ lane, waiting_for }, seconds)
      claims.inc({ lane }, claimed)
    }
    for (const { queue, ...states } of queued)
      for (const [state, jobs] of Object.entries(states)) queues.set({ queue, state }, jobs)
  }
}

async function measureBacklog(db: Database): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    with unfinished as materialized (
      select subject, seq, origin, waiting_for, unknown_since, claimed_by, accepted_at
        from loanops.operation
       where status = 'processing'
       order by subject, seq limit ${MAX_COUNTED}
    ), reason as (
      select case when origin = any(${LIVE}) then 'live' else 'bulk' end as lane, accepted_at, claimed_by,
             case when unknown_since is not null then 'outcome_unknown'
                  when row_number() over (partition by subject order by seq) > 1 then 'predecessor'
                  else coalesce(waiting_for, 'nothing') end as waiting_for
        from unfinished
    )
    select lane, waiting_for, count(*)::integer as operations, count(claimed_by)::integer as claimed,
           greatest(0, extract(epoch from now() - min(accepted_at)))::float8 as oldest
      from reason
     group by lane, waiting_for`.execute(db)
  return rows
}

async function measureQueues(db: Database): Promise<Queued[]> {
  const { rows } = await sql<Queued>`
    select name as queue, ready_count as ready, active_count as active, deferred_count as deferred,
           failed_count as failed
      from pgboss.queue where name not like '\\_\\_pgboss%'`.execute(db)
  return rows
}
