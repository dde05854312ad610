// What deleting raw events costs where ten million are kept, and what a caller notices of it, compared with dropping a partition.
// It adds to the database of: node test/bench/console.ts --keep
import { sql } from 'kysely'
import { freePort } from '../../src/embedded/free-port.ts'
import { purgeEvents } from '../../src/payments/purge-events.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { startProcess } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { fireAt } from './fire.ts'
import { openHistoryDatabase } from './history-database.ts'
import { untilUp } from './stage.ts'

const STORE = 'lender_02_gateway_a'
/** Half of a million payments are gateway_a's; with the event that each of the million has, ten million. */
const EVENTS_PER_PAYMENT = 18
/** The history spans a hundred days. */
const KEPT_DAYS = 98
const LOAD = { connections: 16, perSecond: 100, seconds: 30, warmUpSeconds: 1 }

const history = await openHistoryDatabase()
const { db } = history
const store = sql.table(`raw.${STORE}`)
await timed('filled', fill)
const port = await freePort(0)
const service = startProcess(
  'api',
  testEnv(history.url, 'http://127.0.0.1:1/api/v1', { PORT: String(port) }),
)
const url = `http://127.0.0.1:${port}`
await untilUp(url)
try {
  await webhooks('before the deletion')
  const deletion = timed(`deleted what is older than ${KEPT_DAYS} days`, async () => {
    return `${await purgeEvents(db, KEPT_DAYS)} events`
  })
  await webhooks('during the deletion')
  await deletion
  await timed('vacuum of the table', () => sql`vacuum ${store}`.execute(db).then(() => ''))
  await sql`create table partition as select * from ${store} limit 1000000`.execute(db)
  await timed('a partition of a million dropped', () =>
    sql`drop table partition`.execute(db).then(() => ''),
  )
} finally {
  await service.kill('SIGTERM')
  await history.close({ keep: true })
}

async function timed(what: string, work: () => Promise<string>): Promise<void> {
  const since = performance.now()
  const result = await work()
  console.log(`${what}: ${Math.round(performance.now() - since)} ms ${result}`)
}

async function fill(): Promise<string> {
  const count = sql<{ rows: number }>`select count(*)::integer as rows from ${store}`
  const [before] = (await count.execute(db)).rows
  if (Number(before?.rows) > 1_000_000) return `already: ${before?.rows} rows`
  await db.connection().execute(async connection => {
    await sql`set session_replication_role = replica`.execute(connection)
    await sql`
      with e as (
        select (left(e.raw_id::text, 14) || '70' || lpad(to_hex(k), 2, '0') || substr(e.raw_id::text, 19))::uuid as id, e.received_at,
               e.gateway_payment_id, e.status, k
          from core.event e cross join generate_series(1, ${EVENTS_PER_PAYMENT}::integer) k
         where e.gateway = 'gateway_a' and e.kind = 'payment'
      ), added as (
        insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, amount, currency, paid_at, lender, received_at)
        select ${STORE}, id, 'gateway_a', 'payment', gateway_payment_id, status, 1000, 'INR', received_at, 'LENDER_02', received_at from e
      )
      insert into ${store} (id, received_at, event_type, body)
      select id, received_at, 'payment.captured', convert_to('{"id":"' || gateway_payment_id || '","k":' || k || '}', 'UTF8')
        from e`.execute(connection)
  })
  await sql`vacuum analyze ${store}, core.event`.execute(db)
  return `${(await count.execute(db)).rows[0]?.rows} rows`
}

async function webhooks(when: string): Promise<void> {
  let sent = 0
  const body = () => JSON.stringify(capturedA({ loan: `L-${when}-${sent++}` }))
  const { p50, p99, refused } = await fireAt(
    `${url}/api/webhooks/gateway_a?lender=LENDER_02`,
    body,
    LOAD,
  )
  console.log(`webhooks at 100/s ${when}: p50 ${p50} ms, p99 ${p99} ms, ${refused} refused`)
}
