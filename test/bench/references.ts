// References beside a million others: what matching costs a batch's transform, how long PUT and an upload take, and the steps
// of a release. node test/bench/references.ts [references] [payments] [payments released] [calls]
import { sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { matchAgain } from '../../src/payments/batch/match-again.ts'
import { putReference } from '../../src/payments/references/reference-calls.ts'
import { allQueues } from '../../src/worker.ts'
import { upload } from '../support/http/upload.ts'
import { TOKEN } from '../support/service.ts'
import { openBenchDatabase } from './bench-database.ts'
import { cpuTimeMs } from './cpu-time.ts'
import { quantile } from './fire.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'

const references = Number(process.argv[2] ?? 1_000_000)
const payments = Number(process.argv[3] ?? 100_000)
const released = Number(process.argv[4] ?? 50_000)
const CHUNK = 5_000
const PUTS = Number(process.argv[5] ?? 2_000)
const UPLOADED = 100 * PUTS
const DECISIONS = 200
const STORE = 'lender_02_gateway_a'
const ASKER = { actor: 'bench', caller: null, address: null, requestId: null }

const service = await startBenched('references', 'http://127.0.0.1:1/api/v1', {
  // A batch of its own would take the lock for settling.
  REPAYMENT_CRON: '0 0 1 1 *',
})
const db = openBenchDatabase(service.databaseUrl)
const plain = await plainDatabase()
try {
  for (const one of [db, plain.db]) {
    await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(one)
    await sql`select raw.register(${STORE})`.execute(one)
  }
  await sql`
    insert into core.reference (gateway, kind, value, external_loan_id, created_by)
    select 'gateway_a', 'order', 'order_' || i, 'L-' || i % 50000, 'bench'
     from generate_series(1, ${references}::integer) i`.execute(db)
  await sql`vacuum (analyze) core.reference`.execute(db)
  console.log(`${references} references`)
  await benchTransform()
  for (const callers of [1, 8]) await benchPut(callers)
  for (let run = 0; run < 3; run++) await benchUpload(run)
  await benchRelease()
} finally {
  await plain.close()
  await db.destroy()
  await service.close()
}

/** A database in the same PostgreSQL, whose functions that read references return nothing. */
async function plainDatabase() {
  await sql`create database plain`.execute(db)
  const url = new URL(service.databaseUrl)
  url.pathname = '/plain'
  await migrate(url.href, allQueues)
  const other = openBenchDatabase(url.href)
  await sql`
    create or replace function base.references_in(hints jsonb) returns text[] language sql immutable parallel safe
      as $$ select null::text[] $$;
    create or replace function core.match_references(wanted_gateway text, refs text[], paid_at timestamptz)
      returns table (loan text, matched_by text, disagrees boolean, suggested_loan text) language sql stable
      as $$ select null::text, null::text, null::boolean, null::text $$`.execute(other)
  return { db: other, url: url.href, close: () => other.destroy() }
}

/**
 * Compares CPU times of connections, chunk by chunk in turns: the same payments, of which half name their loan by a
 * reference alone.
 */
async function benchTransform() {
  const alone = await openChunks(plain.db, plain.url, 1)
  const matched = await openChunks(db, service.databaseUrl, 2)
  const spent: [number, number][] = []
  for (let left = payments; left > 0; left -= CHUNK)
    spent.push([await alone.next(), await matched.next()])
  const [without, withThem] = [0, 1].map(i => median(spent.map(both => both[i] as number)))
  console.log(
    `transform of ${CHUNK}, median of ${spent.length}: ${without} ms of CPU without references, ${withThem} ms with; ratio of the rates ${(Number(without) / Number(withThem)).toFixed(3)}; ${await matched.close()}`,
  )
  await alone.close()
}

/** @param everyNth of them names its loan in its notes */
async function openChunks(one: Database, url: string, everyNth: number) {
  await sql`
    insert into ${sql.table(`raw.${STORE}`)} (event_id, event_type, body, headers, address)
    select 'event_' || i, 'payment.captured', convert_to((jsonb_build_object('event', 'payment.captured', 'created_at', 1770265805,
      'payload', jsonb_build_object('payment', jsonb_build_object('entity', jsonb_build_object(
        'id', 'pay_' || i, 'amount', 100000 + i, 'currency', 'INR', 'status', 'captured',
        'order_id', 'order_' || i, 'method', 'upi', 'vpa', 'payer' || i || '@upi', 'email', 'a@example.in', 'fee', 2, 'tax', 0,
        'notes', case when i % ${everyNth}::integer = 0 then jsonb_build_object('external_loan_id', 'L-' || i % 50000) else '[]' end,
        'created_at', 1770265800 + i, 'acquirer_data', jsonb_build_object('rrn', '0' || i))))))::text, 'UTF8'), '{}', '10.0.0.1'
      from generate_series(1, ${payments + CHUNK}::integer) i`.execute(one)
  await sql`vacuum (analyze) core.pending_event`.execute(one)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const next = async () => {
    const before = cpuTimeMs(rows[0].pid)
    await client.query('select core.transform($1, $2)', [STORE, CHUNK])
    return cpuTimeMs(rows[0].pid) - before
  }
  // Plans and caches.
  await next()
  return {
    next,
    async close() {
      await client.end()
      const { rows: found } = await sql<{ said: string }>`
        select string_agg(concat_ws(' ', matched, count), ', ') as said
          from (select coalesce(matched_by, 'notes'), count(*) from core.transaction group by 1) s (matched, count)`.execute(
        one,
      )
      return found[0]?.said
    },
  }
}

async function benchPut(callers: number) {
  const took: number[] = []
  const bare: number[] = []
  let n = 0
  const before = service.cpuMs()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const ask = (method: string, path: string, body?: object) =>
        fetch(`${service.url}${path}`, {
          method,
          headers: { 'x-internal-token': TOKEN, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
      while (n < PUTS) {
        const i = n++
        const start = performance.now()
        const answer = await ask(
          'PUT',
          `/api/references/gateway_a/order/order_${callers}_${caller}_${i}`,
          { external_loan_id: `L-${i}` },
        )
        if (answer.status !== 201) throw new Error(await answer.text())
        await answer.arrayBuffer()
        const between = performance.now()
        took.push(between - start)
        await (await ask('GET', '/api/references?limit=1')).arrayBuffer()
        bare.push(performance.now() - between)
      }
    }),
  )
  const after = service.cpuMs()
  const said = (times: number[]) => {
    times.sort((a, b) => a - b)
    return `p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms`
  }
  console.log(
    `PUT, ${callers} callers: ${said(took)}; a read beside it: ${said(bare)}; CPU per pair: service ${((after.service - before.service) / PUTS).toFixed(2)} ms, PostgreSQL ${((after.postgres - before.postgres) / PUTS).toFixed(2)} ms`,
  )
}

async function benchUpload(run: number) {
  let text = 'gateway,kind,value,external_loan_id,valid_from,valid_until\r\n'
  for (let i = 0; i < UPLOADED; i++)
    text += `gateway_a,virtual_account,va_${run}_${i},L-${i % 50_000},2026-01-01,\r\n`
  const file = { name: 'references.csv', content: new Blob([text]) }
  const before = service.cpuMs()
  const start = performance.now()
  const { body } = await upload(`${service.url}/api/references/upload`, file)
  const seconds = (performance.now() - start) / 1_000
  if (body.valid_rows !== UPLOADED) throw new Error(JSON.stringify(body).slice(0, 500))
  const after = service.cpuMs()
  console.log(
    `upload: ${Math.round(UPLOADED / seconds)} rows/s; CPU: service ${after.service - before.service} ms, PostgreSQL ${after.postgres - before.postgres} ms, peak ${service.peakMiB()} MiB`,
  )
}

/** Its longest step, and how long an operator's decision takes meanwhile: both take the lock for settling. */
async function benchRelease() {
  await fillTransfers('va_released', released)
  await fillTransfers('va_other', 2 * DECISIONS)
  const alone = await decisions(0)
  const { saved } = await putReference(
    db,
    {
      gateway: 'gateway_a',
      kind: 'virtual_account',
      value: 'va_released',
      external_loan_id: 'L-1',
    },
    ASKER,
  )
  const checks: number[] = []
  const start = performance.now()
  const [meanwhile] = await Promise.all([
    decisions(DECISIONS),
    matchAgain({ db, check: () => checks.push(performance.now()) } as unknown as Parameters<
      typeof matchAgain
    >[0]),
  ])
  const end = performance.now()
  const steps = checks.map((at, i) => (checks[i + 1] ?? end) - at).sort((a, b) => a - b)
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from core.transaction
     where state = 'waiting' and matched_by = 'virtual_account'`.execute(db)
  console.log(
    `release of ${rows[0]?.count} (counted: ${saved.waiting}): ${(end - start).toFixed(0)} ms in ${steps.length} steps, p50 ${quantile(steps, 0.5)} ms, longest ${quantile(steps, 1)} ms; decisions alone: ${alone}; meanwhile: ${meanwhile}`,
  )
}

async function fillTransfers(account: string, count: number) {
  await sql`
    insert into ${sql.table(`raw.${STORE}`)} (event_id, event_type, body, headers, address)
    select ${account}::text || i, 'virtual_account.credited', convert_to((jsonb_build_object('event', 'virtual_account.credited',
      'payload', jsonb_build_object('virtual_account', jsonb_build_object('entity', jsonb_build_object('id', ${account}::text)),
        'payment', jsonb_build_object('entity', jsonb_build_object('id', 'pay_' || ${account}::text || '_' || i, 'amount', 100000,
          'currency', 'INR', 'status', 'captured', 'notes', '[]'::jsonb, 'created_at', 1770265800)))))::text, 'UTF8'), '{}', '10.0.0.1'
      from generate_series(1, ${count}::integer) i`.execute(db)
  for (let left = count; left > 0; left -= CHUNK)
    await sql`select core.transform(${STORE}, ${CHUNK})`.execute(db)
}

async function decisions(after: number): Promise<string> {
  const took: number[] = []
  for (let i = after + 1; i <= after + DECISIONS; i++) {
    const start = performance.now()
    const response = await fetch(`${service.url}/api/payments/gateway_a/pay_va_other_${i}/assign`, {
      method: 'POST',
      headers: { 'x-internal-token': TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ external_loan_id: 'L-2' }),
    })
    if (response.status !== 200) throw new Error(await response.text())
    await response.arrayBuffer()
    took.push(performance.now() - start)
  }
  took.sort((a, b) => a - b)
  return `p50 ${quantile(took, 0.5)} ms, p99 ${quantile(took, 0.99)} ms`
}
