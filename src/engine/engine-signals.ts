import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import type { Measured } from '../ops/measured.ts'
import { laneOf, ORIGINS } from './origin.ts'

export const ENGINE_CRASH_POINTS = [
  'intake.committed',
  'claim.committed',
  'start.committed',
  'look.answered',
  'remember.committed',
  'write.unrecorded',
  'write.unsent',
  'write.answered',
  'finish.committed',
  'wake.client-done',
  'stop.handing-back',
] as const

export function engineCounters(registers: Registry[]) {
  return {
    operations: new Counter({
      name: 'loanops_operations_total',
      help: 'Operations that became final, by type and status',
      labelNames: ['operation_type', 'status'],
      registers,
    }),
    claimsLost: new Counter({
      name: 'loanops_claims_lost_total',
      help: 'Claims that this process ended because their worker stopped renewing them',
      registers,
    }),
  }
}

/** Beyond this the exact number does not matter, and counting takes tenths of a second. */
const MAX_COUNTED = 100_000
const LIVE = ORIGINS.filter(origin => laneOf(origin) === 'live')

const backlog: Measured = {
  metrics: {
    operations: {
      name: 'loanops_operations_unfinished',
      help: `Unfinished operations by lane and by what they wait for, counted up to ${MAX_COUNTED}`,
      labels: ['lane', 'waiting_for'],
    },
    oldest: {
      name: 'loanops_operations_oldest_seconds',
      help: 'Age of the oldest unfinished operation counted, by lane and by what it waits for; for outcome_unknown, how long it has been unknown',
      labels: ['lane', 'waiting_for'],
    },
    claimed: {
      name: 'loanops_claims_held',
      help: 'Operations that a worker holds, by lane',
      labels: ['lane'],
    },
  },
  // A lane without work has a figure too: an empty panel would look like a worker that is down.
  query: sql`
    with unfinished as materialized (
      select subject, waits_for, seq, origin, waiting_for, unknown_since, claimed_by is not null as is_claimed,
             loanops.is_pausable(o) as is_pausable, accepted_at
        from loanops.operation o
       where status = 'processing'
       order by subject, seq limit ${MAX_COUNTED}
    ), reason as (
      select case when origin = any(${LIVE}) then 'live' else 'bulk' end as lane, coalesce(unknown_since, accepted_at) as since,
             is_claimed, seq,
             loanops.reason_to_wait(unknown_since is not null, is_pausable and exists (select from ops.ledger_pause),
               row_number() over (partition by subject order by seq) > 1,
               exists (select from loanops.operation earlier
                        where earlier.subject = unfinished.waits_for and earlier.status = 'processing' and earlier.seq < unfinished.seq),
               coalesce(waiting_for, 'nothing')) as waiting_for
        from unfinished
      union all
      select lane, null, null, null, 'nothing' from unnest(array['live', 'bulk']) lane
    )
    select lane, waiting_for, count(seq)::integer as operations, (count(*) filter (where is_claimed))::integer as claimed,
           greatest(0, extract(epoch from now() - min(since)))::float8 as oldest
      from reason
     group by lane, waiting_for`,
}

const queues: Measured = {
  metrics: {
    jobs: {
      name: 'loanops_queue_jobs',
      help: 'Jobs in each queue, by state',
      labels: ['queue', 'state'],
    },
  },
  query: sql`
    select q.name as queue, s.state, s.jobs
      from pgboss.queue q
     cross join lateral (values ('ready', q.ready_count), ('active', q.active_count), ('deferred', q.deferred_count),
                                ('failed', q.failed_count)) s (state, jobs)
     where q.name not like '\\_\\_pgboss%'`,
}

export const engineGauges = [backlog, queues]
