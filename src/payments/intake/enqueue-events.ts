import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import {
  CALLERS_PATIENCE_MS,
  groupCommit,
  MAX_CONCURRENT_GROUPS,
} from '../../database/group-commit/group-commit.ts'
import { Unavailable } from '../../database/unavailable.ts'
import type { Watch } from '../../database/watch.ts'
import { within } from '../../database/within.ts'
import { insertJobsQuietly } from '../../queue/queue.ts'
import { openWaker } from '../../queue/wake-workers.ts'
import type { PaymentEvent } from '../payment-event.ts'
import { eventQueue } from '../queue.ts'

const MAX_CHARACTERS_PER_JOB = 2_000_000
/** Limits the memory for events that wait for a commit, in characters of base64, in each of the two lines. */
const MAX_CHARACTERS_WAITING = 32_000_000

type Enqueue = (event: PaymentEvent) => Promise<void>

/**
 * Events that a signature proves wait in a line of their own, which no stranger can fill.
 * @throws if the commit takes too long; if it succeeds after all, the gateway's repeat changes nothing
 */
export function enqueueEvents(db: Database, boss: PgBoss, watch: Watch): Enqueue {
  const watched = watch.over('payment events')
  const wake = openWaker(db, eventQueue)
  const commitEvents = async (events: PaymentEvent[]) => {
    const jobs = jobsOf(events).map(data => ({ data }))
    await watched(() => insertJobsQuietly(boss, db, eventQueue, jobs))
    crashPoint('webhook.committed')
    wake()
    return events.map(() => undefined)
  }
  const options = { onWaited: watch.waited('payment events'), groups: MAX_CONCURRENT_GROUPS }
  const [proved, others] = [inLine(commitEvents, options), inLine(commitEvents, options)]
  return event => (event.verifiedBy === null ? others(event) : proved(event))
}

function inLine(...committing: Parameters<typeof groupCommit<PaymentEvent, void>>): Enqueue {
  const commit = groupCommit(...committing)
  let waiting = 0
  return event => {
    const size = event.body.length
    if (waiting + size > MAX_CHARACTERS_WAITING)
      return Promise.reject(new Unavailable('too many events are waiting'))
    waiting += size
    const committed = commit.submit(event).finally(() => {
      waiting -= size
    })
    // The event stays in memory even if its caller gives up.
    return within(CALLERS_PATIENCE_MS, committed, 'the database is slow')
  }
}

function jobsOf(events: PaymentEvent[]): { events: PaymentEvent[] }[] {
  const jobs: { events: PaymentEvent[] }[] = []
  let room = 0
  for (const event of events) {
    if (room < event.body.length) {
      jobs.push({ events: [] })
      room = MAX_CHARACTERS_PER_JOB
    }
    jobs.at(-1)?.events.push(event)
    room -= event.body.length
  }
  return jobs
}
