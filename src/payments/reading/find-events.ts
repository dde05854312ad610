import type { Static } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, pageOf, withList } from '../../http/lists/cursor.ts'
import type { EventRecord } from './history-record.ts'

const EVENTS_PER_PAGE = 50
/** A response has at most 8 MiB: the rest is for the payment and its attempts. */
const BYTES_PER_PAGE = 6 * 1024 * 1024
const NO_CONTENT = { headers: null, body_base64: null }

type PaymentKey = { gateway: string; gateway_payment_id: string; kind: string }
type EventQuery = { withBodies: boolean; cursor?: string }
type Place = { source: string; rawId: string; receivedAtUs: string; reason: string | null }
type Row = { raw_id: string }
type Size = { bytes: number }
type Content = { headers: object; body_base64: string }

export async function findEvents(db: Database, payment: PaymentKey, query: EventQuery) {
  const places = await findPlaces(db, payment, query.cursor)
  const rows = await findRows(db, places)
  const limit = query.withBodies ? howManyFit(places, rows) : EVENTS_PER_PAGE
  const { page, next_cursor } = pageOf(places, limit, ({ receivedAtUs, rawId, source }) => [
    receivedAtUs,
    rawId,
    source,
  ])
  const contents = query.withBodies ? await findContents(db, page) : undefined
  // Old events of closed payments are deleted; core still knows what they said.
  const kept = page.filter(place => rows.has(keyOf(place)))
  const events = kept.map(place => {
    const { headers, body_base64 } = contents?.get(keyOf(place)) ?? NO_CONTENT
    const row = { ...rows.get(keyOf(place)), counts: place.reason ?? true, headers, body_base64 }
    return asJson<Static<typeof EventRecord>>(row)
  })
  return { events, next_cursor: withList('events', next_cursor) }
}

/** The places of one more event than a page has. An index orders the events that were set aside, however many there are. */
async function findPlaces(db: Database, payment: PaymentKey, cursor?: string): Promise<Place[]> {
  const { gateway, gateway_payment_id: id, kind } = payment
  const newest = (condition: RawBuilder<unknown>) => sql`
    select e.source, e.raw_id, e.received_at, e.set_aside, e.address, core.statement_of(e) as statement
      from core.event e
     where e.gateway_payment_id = ${id} and e.gateway = ${gateway} and e.kind = ${kind}
       and ${condition} and ${isAfter(cursor)}
     order by e.received_at desc, e.raw_id desc, e.source desc
     limit ${EVENTS_PER_PAGE + 1}`
  const { rows } = await sql<Place>`
    with fact as materialized (
      select w.reason, e.address, core.statement_of(e) as statement
        from core.transaction t
       cross join lateral core.why_not_counted(t) w
        join core.event e on e.source = w.source and e.raw_id = w.raw_id and e.kind = t.kind
                         and e.gateway_payment_id = t.gateway_payment_id
       where t.gateway_payment_id = ${id} and t.gateway = ${gateway} and t.kind = ${kind}
    )
    select page.source, page.raw_id as "rawId",
           (extract(epoch from page.received_at) * 1000000)::bigint::text as "receivedAtUs",
           case when page.set_aside = 'too_many' or equal.is_read is null then 'too_many_events' else equal.reason end as reason
      from ((${newest(sql`e.set_aside is null`)}) union all (${newest(sql`e.set_aside is not null`)})) page
      left join lateral (
        select reason, true as is_read from fact
         where fact.statement = page.statement and fact.address is not distinct from page.address
         limit 1) equal on true
     order by page.received_at desc, page.raw_id desc, page.source desc
     limit ${EVENTS_PER_PAGE + 1}`.execute(db)
  return rows
}

function isAfter(cursor: string | undefined): RawBuilder<unknown> {
  if (cursor === undefined) return sql`true`
  const [us, rawId, source] = decodeCursor(cursor, ['bigint', 'uuid', 'name'])
  return sql`(e.received_at, e.raw_id, e.source)
    < (timestamptz 'epoch' + interval '1 microsecond' * ${us}::bigint, ${rawId}::uuid, ${source}::text)`
}

function howManyFit(places: Place[], rows: Map<string, Row & Size>): number {
  let bytes = 0
  const tooMany = places.findIndex(place => {
    bytes += rows.get(keyOf(place))?.bytes ?? 0
    return bytes > BYTES_PER_PAGE
  })
  return tooMany === -1 ? EVENTS_PER_PAGE : Math.min(Math.max(tooMany, 1), EVENTS_PER_PAGE)
}

/** Rows without headers and bodies: `bytes` is what these would take in a response. */
const findRows = (db: Database, places: Place[]) =>
  ofEachSource(places, (source, ids) =>
    sql<Row & Size>`
      select ${`raw.${source}`} as raw_table, id as raw_id, event_id, event_type, received_at, host(address) as address,
             verified_by, octet_length(headers::text) + (octet_length(body) + 2) / 3 * 4 as bytes
        from ${sql.table(`raw.${source}`)}
       where id = any(${ids}::uuid[])`.execute(db),
  )

const findContents = (db: Database, places: Place[]) =>
  ofEachSource(places, (source, ids) =>
    sql<Row & Content>`
      select id as raw_id, headers, translate(encode(body, 'base64'), E'\n', '') as body_base64
        from ${sql.table(`raw.${source}`)}
       where id = any(${ids}::uuid[])`.execute(db),
  )

async function ofEachSource<R extends Row>(
  places: Place[],
  load: (source: string, ids: string[]) => Promise<{ rows: R[] }>,
): Promise<Map<string, R>> {
  const found = new Map<string, R>()
  for (const [source, ofSource] of Map.groupBy(places, one => one.source)) {
    const ids = ofSource.map(({ rawId }) => rawId)
    for (const row of (await load(source, ids)).rows)
      found.set(keyOf({ source, rawId: row.raw_id }), row)
  }
  return found
}

const keyOf = ({ source, rawId }: Pick<Place, 'source' | 'rawId'>) => `${source} ${rawId}`
