// Raw → core: rows per second over 18 sources, and again for a few new rows on top of a long history.
// node test/bench/transform.ts [rows] [rows of history]
import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { openBenchDatabase } from './bench-database.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const history = Number(process.argv[3] ?? 0)
const NEW_ROWS = 10_000
const CHUNK = 5_000
const SOURCES = 18

const folder = resolve('.data/bench-transform')
rmSync(folder, { recursive: true, force: true })
mkdirSync(resolve('.data'), { recursive: true })
const postgres = await startPostgres({
  folder,
  password: 'bench',
  flags: ['-c', 'shared_buffers=512MB', '-c', 'max_wal_size=8GB', '-c', 'statement_timeout=0'],
})
const db = openBenchDatabase(postgres.url)
try {
  await migrate(postgres.url, allQueues)
  const stores = await makeStores(db)
  await fill(db, stores, 'warm', NEW_ROWS)
  await transformAll(db, stores)

  await report(db, stores, `${NEW_ROWS} rows on an empty store`, 'empty', NEW_ROWS)
  await report(db, stores, `${rows} rows over ${SOURCES} sources`, 'bulk', rows)
  if (history > rows) {
    for (let i = 0; i < (history - rows) / 1_000_000; i++) {
      await fill(db, stores, `history_${i}`, 1_000_000)
      await transformAll(db, stores)
      console.log(`history: ${(i + 1) * 1_000_000 + rows}`)
    }
    await sql`vacuum (analyze) core.event, core.transaction, core.pending_event`.execute(db)
  }
  await report(db, stores, `${NEW_ROWS} rows on top`, 'top', NEW_ROWS)
  await report(db, stores, `${NEW_ROWS} rows on top, again`, 'top2', NEW_ROWS)
} finally {
  await db.destroy()
  await postgres.close()
}

async function report(db: Database, stores: string[], what: string, tag: string, count: number) {
  await fill(db, stores, tag, count)
  const before = await buffers(db)
  const start = performance.now()
  await transformAll(db, stores)
  const ms = performance.now() - start
  const touched = (await buffers(db)) - before
  console.log(
    `${what}: ${ms.toFixed(0)} ms, ${((count / ms) * 1000).toFixed(0)} rows/s, ${touched} buffers`,
  )
}

async function makeStores(db: Database): Promise<string[]> {
  const stores: string[] = []
  for (let i = 1; i <= SOURCES / 2; i++) {
    for (const gateway of ['gateway_a', 'gateway_b']) {
      const made = await sql<{
        store: string
      }>`select raw.make_store(${`LENDER_0${i}`}, ${gateway}) as store`.execute(db)
      const store = made.rows[0]?.store as string
      await sql`select raw.register(${store})`.execute(db)
      stores.push(store)
    }
  }
  return stores
}

async function fill(db: Database, stores: string[], tag: string, count: number): Promise<void> {
  const each = Math.ceil(count / stores.length)
  for (const store of stores) {
    const body = store.endsWith('_a') ? bodyA(tag, store) : bodyB(tag, store)
    await sql`
      insert into ${sql.table(`raw.${store}`)} (event_id, event_type, body, headers, address, verified_by)
      select ${tag} || '_' || i, 'payment.captured', convert_to((${body})::text, 'UTF8'), '{"x-a":"b"}', '10.0.0.1', null
        from generate_series(1, ${each}::integer) i`.execute(db)
  }
}

function bodyA(tag: string, store: string): RawBuilder<unknown> {
  return sql`jsonb_build_object('entity', 'event', 'account_id', 'acc_1', 'event', 'payment.captured', 'created_at', 1770265805,
    'contains', jsonb_build_array('payment'), 'payload', jsonb_build_object('payment', jsonb_build_object('entity', jsonb_build_object(
      'id', 'pay_' || ${tag}::text || ${store}::text || i, 'entity', 'payment', 'amount', 100000 + i, 'currency', 'INR', 'status', 'captured',
      'order_id', 'order_' || i, 'method', 'upi', 'captured', true, 'email', 'a@example.in', 'contact', '+919900000000',
      'notes', jsonb_build_object('external_loan_id', 'L-' || i % 5000), 'fee', 2, 'tax', 0, 'created_at', 1770265800 + i,
      'acquirer_data', jsonb_build_object('rrn', '0' || i)))))`
}

function bodyB(tag: string, store: string): RawBuilder<unknown> {
  return sql`jsonb_build_object('type', 'PAYMENT_SUCCESS_WEBHOOK', 'event_time', '2026-02-05T10:00:05+05:30', 'data', jsonb_build_object(
    'order', jsonb_build_object('order_id', 'order-' || i, 'order_amount', 2, 'order_tags', jsonb_build_object('loan_id', 'L-' || i % 5000)),
    'payment', jsonb_build_object('cf_payment_id', ${tag}::text || ${store}::text || i, 'payment_status', 'SUCCESS', 'payment_amount', 1000.5,
      'payment_currency', 'INR', 'payment_time', '2026-02-05T10:00:00+05:30', 'bank_reference', 'NA'),
    'customer_details', jsonb_build_object('customer_id', 'cust-' || i)))`
}

async function transformAll(db: Database, stores: string[]): Promise<void> {
  for (const store of stores) {
    for (;;) {
      const { rows: done } = await sql<{
        taken: string
      }>`select taken from core.transform(${store}, ${CHUNK})`.execute(db)
      if (Number(done[0]?.taken) < CHUNK) break
    }
  }
}

/** The pages that PostgreSQL accessed, in memory or on disk. */
async function buffers(db: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  await sql`select pg_stat_clear_snapshot()`.execute(db)
  const { rows } = await sql<{ hits: string }>`
    select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0)) as hits
      from pg_statio_user_tables where schemaname in ('raw', 'core')`.execute(db)
  return Number(rows[0]?.hits)
}
