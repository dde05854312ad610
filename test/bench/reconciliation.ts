// The figures of days: how long one day takes to work out anew, and GET /reconciliation for it.
// BENCH_PAYMENTS=1000000 node test/bench/reconciliation.ts

import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { openBenchDatabase } from './bench-database.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'

const payments = Number(process.env.BENCH_PAYMENTS ?? 1_000_000)
const SOURCES = 18
const DAYS = 30
const RUNS = 5
const DAY = '2026-01-11'
const CHUNK = 50_000

const sandbox = await startSandbox({ port: 0 })
const service = await startBenched('reconciliation', sandbox.url)
const db = openBenchDatabase(service.databaseUrl)
try {
  const rate = await fill(db)
  console.log(
    `${payments} payments of ${SOURCES} sources over ${DAYS} days; ${rate.toFixed(0)} rows/s stored, of which half are statements`,
  )
  await sql`vacuum (analyze) core.transaction, core.statement`.execute(db)
  const reconciled = await timed(() => sql`select core.reconcile_day(${DAY})`.execute(db))
  const month = await timedAll(db)
  // A worker works out anew what is marked meanwhile.
  await sql`delete from core.changed_day`.execute(db)
  const show = (what: string, ms: number) => console.log(`${what}: ${ms.toFixed(0)} ms`)
  show('working one day out anew', reconciled)
  show('working all days out anew', month)
  show('GET /reconciliation for a day', await timed(() => ask(`from=${DAY}&to=${DAY}`)))
  show(
    'GET /reconciliation for a day, lender and gateway',
    await timed(() => ask(`from=${DAY}&to=${DAY}&lender=LENDER_01&gateway=gateway_a`)),
  )
  show('GET /reconciliation for all days', await timed(() => ask('from=2026-01-01&to=2026-01-31')))
  show(
    'GET /reconciliation/payments, a page of a bucket',
    await timed(() =>
      service.call('GET', `/api/reconciliation/payments?day=${DAY}&bucket=suspense`),
    ),
  )
  console.log(`peak memory ${service.peakMiB()} MiB`)
} finally {
  await db.destroy()
  await service.close()
  await sandbox.close()
}

async function ask(query: string): Promise<void> {
  const { status, body } = await service.call('GET', `/api/reconciliation?${query}`)
  if (status !== 200 || body.days.length < 1) throw new Error(JSON.stringify(body))
}

async function timed(run: () => Promise<unknown>, runs = RUNS): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await run()
    took.push(performance.now() - start)
  }
  return median(took)
}

function timedAll(db: Database): Promise<number> {
  return timed(
    () =>
      sql`
        select core.reconcile_day('2026-01-01'::date + n)
         from generate_series(0, ${DAYS}::integer) n`.execute(db),
    1,
  )
}

/** One in a hundred is in suspense, one in a thousand missing, and one in a thousand not at the gateway. @returns rows per second */
async function fill(db: Database): Promise<number> {
  await sql`
    select core.note_window('gateway_' || g, null, 'api', '[2025-12-30T00:00Z,2026-02-02T00:00Z]')
     from unnest(array['a', 'b']) g`.execute(db)
  const start = performance.now()
  for (let from = 0; from < payments; from += CHUNK) {
    const of = sql`
      select 'gateway_' || chr(97 + n % 2) as gateway, 'pay_' || md5(n::text) as id, 'LENDER_0' || 1 + n / 2 % ${SOURCES / 2}::integer as lender,
             1000 + n % 5000 as amount, '2026-01-01T00:00Z'::timestamptz + n * (interval '1 day' * ${DAYS} / ${payments}) as at, n
        from generate_series(${from}::integer, ${Math.min(from + CHUNK, payments) - 1}::integer) n`
    await sql`
      insert into core.transaction (gateway, kind, gateway_payment_id, lender, named_loan_id, amount, currency, paid_at, is_captured,
        is_verified, state, reason, source, raw_id, received_at, posted_at, read_back_at)
      select gateway, 'payment', id, lender, 'L-' || n % 100000, amount, 'INR', at, true, true,
             case when n % 100 = 0 then 'suspense' else 'posted' end, case when n % 100 = 0 then 'no_loan_named' end,
             lower(lender) || '_' || gateway, raw.new_id(), at, case when n % 100 <> 0 then at end, case when n % 100 <> 0 then now() end
        from (${of}) p where n % 1000 <> 1`.execute(db)
    await sql`
      insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
      select gateway, id, lender, amount, 'INR', 'captured', at, 'api' from (${of}) p
       where n % 1000 <> 2`.execute(db)
  }
  return (2 * payments) / ((performance.now() - start) / 1_000)
}
