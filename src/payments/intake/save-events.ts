import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Trx } from '../../database/database.ts'
import type { Log } from '../../log/log.ts'
import { publicError } from '../../log/public-error.ts'
import type { Job } from '../../queue/job.ts'
import { insertJobs, work } from '../../queue/queue.ts'
import { isDataError } from '../data-error.ts'
import type { PaymentEvent } from '../payment-event.ts'
import { deadEventQueue, eventQueue } from '../queue.ts'

/** This time-out is below the statement's own limit; the job is retried. */
const LOCK_TIMEOUT_MS = 3_000

type SaveOptions = { onRepeats(gateway: string, repeats: number): void; log: Pick<Log, 'error'> }

/** Saves the events of jobs. A repeated job finds its events already saved. */
export function workEvents(db: Database, boss: PgBoss, options: SaveOptions): Promise<Job> {
  return work(boss, eventQueue, async jobs => {
    const events = jobs.flatMap(({ data }) => data.events)
    try {
      await save(db, events, options)
      crashPoint('events.saved')
    } catch {
      await saveEach(db, boss, events, options)
    }
  })
}

/**
 * Saves events one by one: a poisoned event must not fail the others in its job, nor one unwritable table the events
 * of other tables.
 */
async function saveEach(db: Database, boss: PgBoss, events: PaymentEvent[], options: SaveOptions) {
  const poisoned: { data: { events: PaymentEvent[]; error: object } }[] = []
  const inTrouble = new Map<string, unknown>()
  for (const event of events) {
    if (inTrouble.has(storeOf(event))) continue
    try {
      await save(db, [event], options)
    } catch (error) {
      if (isDataError(error)) {
        options.log.error({ err: error, gateway: event.gateway }, 'event cannot be saved')
        const { message, code } = publicError(error as Error)
        poisoned.push({ data: { events: [event], error: { message, code } } })
      } else inTrouble.set(storeOf(event), error)
    }
  }
  // The job is retried as a whole. Only the attempt that saves all other events sends the poisoned ones to
  // the dead letters, once.
  for (const error of inTrouble.values()) throw error
  await db.transaction().execute(trx => insertJobs(boss, trx, deadEventQueue, poisoned))
}

const storeOf = ({ lender, gateway }: PaymentEvent) => `${lender} ${gateway}`

async function save(db: Database, events: PaymentEvent[], options: SaveOptions): Promise<void> {
  const repeats = await db.transaction().execute(trx => saveEvents(trx, events))
  for (const { gateway, count } of repeats) options.onRepeats(gateway, count)
}

export async function saveEvents(trx: Trx, events: PaymentEvent[]) {
  const repeats: { gateway: string; count: number }[] = []
  await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(trx)
  for (const [, ofStore] of inFixedOrder(Map.groupBy(events, storeOf))) {
    const [{ lender, gateway }] = ofStore as [PaymentEvent]
    const { rows } = await sql<{ store: string }>`
      select raw.make_store(${lender}, ${gateway}) as store`.execute(trx)
    const { numAffectedRows = 0n } = await sql`
      insert into ${sql.table(`raw.${rows[0]?.store}`)} (received_at, event_id, event_type, body, headers, address,
        verified_by)
      select "receivedAt", "eventId", "eventType", decode(body, 'base64'), headers, address, "verifiedBy"
        from json_to_recordset(${JSON.stringify(ofStore)}) as e (
          "receivedAt" timestamptz, "eventId" text, "eventType" text, body text, headers jsonb, address inet,
          "verifiedBy" text)
       order by md5(body), "eventId"
      on conflict do nothing`.execute(trx)
    repeats.push({ gateway, count: ofStore.length - Number(numAffectedRows) })
  }
  return repeats
}

/** The groups in an order in which two workers that write the same rows cannot deadlock. */
export const inFixedOrder = <T>(groups: Map<string, T>): [string, T][] =>
  [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
