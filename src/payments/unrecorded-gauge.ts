import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import { FIRST_ID } from '../ids.ts'
import type { Log } from '../log/log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'

/** How many events each measurement reads: reading a long history at once would take minutes. */
const EVENTS_AT_ONCE = 10_000
const START = { source: '', id: FIRST_ID }

/** Reads all events, round by round, and shows what the last whole round found, or this one if that is more. */
export function unrecordedGauge(
  registry: Registry,
  db: Database,
  log: Pick<Log, 'warn'>,
  everyMs?: number,
): Job {
  const unrecorded = new Gauge({
    name: 'loanops_payment_events_without_row',
    help: 'Events that count towards a payment, refund or chargeback without a row in core.transaction',
    registers: [registry],
  })
  let place = START
  let found = 0
  let foundBefore = 0
  const refresh = async () => {
    const { rows } = await sql<{ events: number; source: string | null; id: string }>`
      select events::integer as events, last_source as source, last_id as id
        from core.unrecorded(${place.source}, ${place.id}, ${EVENTS_AT_ONCE})`.execute(db)
    const [{ events, source, id } = { events: 0, source: null, id: '' }] = rows
    found += events
    const isEnd = source === null
    if (isEnd) foundBefore = found
    unrecorded.set(Math.max(found, foundBefore))
    if (isEnd) found = 0
    place = isEnd ? START : { source, id }
  }
  return measureEvery({ refresh, forget: () => unrecorded.remove() }, log, everyMs)
}
