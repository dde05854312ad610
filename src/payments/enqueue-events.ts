import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database/database.ts'
import { CALLERS_PATIENCE_MS, groupCommit } from '../database/group-commit.ts'
import { Unavailable } from '../database/unavailable.ts'
import type { Watch } from '../database/watch.ts'
import { insertJobs } from '../queue/queue.ts'
import type { PaymentEvent } from './payment-event.ts'
import { eventQueue } from './queue.ts'

/** One job carries no more: it is read, written and retried as a whole. */
const MAX_CHARACTERS_PER_JOB = 2_000_000
/** What may wait in memory for its commit, in characters of base64. */
const MAX_CHARACTERS_WAITING = 64_000_000
/**
 * Keeps events as jobs: resolves once the event's group is committed.
 * @throws when it could not be kept in time; one that is committed after all comes a second time, which changes nothing
 */
export function enqueueEvents(
  db: Database,
  boss: PgBoss,
  watch: Watch,
): (event: PaymentEvent) => Promise<void> {
  let waiting = 0
  const watched = watch.over('payment events')
  const commit = groupCommit<PaymentEvent, void>(async events => {
    const jobs = jobsOf(events).map(data => ({ data }))
    await watched(() => db.transaction().execute(trx => insertJobs(boss, trx, eventQueue, jobs)))
    crashPoint('webhook.committed')
    return events.map(() => undefined)
  }, CALLERS_PATIENCE_MS)

  return event => {
    const size = event.body.length
    if (waiting + size > MAX_CHARACTERS_WAITING)
      return Promise.reject(new Unavailable('too much is waiting'))
    waiting += size
    return commit.submit(event).finally(() => {
      waiting -= size
    })
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
