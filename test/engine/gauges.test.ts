import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t from 'tap'
import { engineGauges } from '../../src/engine/engine-signals.ts'
import { measure } from '../../src/ops/measured.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { until } from '../support/until.ts'

const log = { warn: () => undefined }
/** Pages: reading the finished ones would take thousands. */
const MAX_BUFFERS = 300

type Reason = { waiting_for: string | null; operations: number; oldest: number }

t.test('the gauges show what waits, why, for how long and who holds it', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, waiting_for, unknown_since,
      claimed_by, claimed_until, accepted_at)
    values (raw.new_id(), 'X', 'api', 'loan:A', 'A', '{}', 'ledger_busy', null, null, null, now() - interval '1 hour'),
           (raw.new_id(), 'X', 'api', 'loan:A', 'A', '{}', null, null, null, null, now() - interval '2 hours'),
           (raw.new_id(), 'X', 'payment', 'loan:B', 'B', '{}', null, now(), null, null, now()),
           (raw.new_id(), 'X', 'migration', 'loan:C', 'C', '{}', null, null, raw.new_id(), now(), now())`.execute(
    db,
  )
  await sql`update pgboss.queue set ready_count = 7 where name = 'operation-live'`.execute(db)
  const registry = new Registry()
  const gauges = measure(engineGauges, 20)({ metrics: { registry }, patient: db, log })
  t.teardown(() => gauges.stop())
  const text = await until(async () => {
    const shown = await registry.metrics()
    return shown.includes('waiting_for="ledger_busy"') && shown.includes('_jobs{') && shown
  })
  const shows = (line: string) => t.ok(text.includes(line), line)
  shows('loanops_operations_unfinished{lane="live",waiting_for="ledger_busy"} 1')
  shows('loanops_operations_unfinished{lane="live",waiting_for="predecessor"} 1')
  shows('loanops_operations_unfinished{lane="bulk",waiting_for="outcome_unknown"} 1')
  shows('loanops_operations_unfinished{lane="bulk",waiting_for="nothing"} 1')
  t.match(text, /loanops_operations_oldest_seconds\{lane="live",waiting_for="ledger_busy"\} 360\d/)
  shows('loanops_claims_held{lane="live"} 0')
  shows('loanops_claims_held{lane="bulk"} 1')
  t.match(text, /loanops_queue_jobs\{queue="[a-z-]+",state="ready"\} /)
})

t.test('the gauges give the same reasons as the list, and tell how long one has held', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data, unknown_since, accepted_at)
    values (raw.new_id(), 'X', 'api', 'client:A', null, 'A', '{}', null, now() - interval '1 hour'),
           (raw.new_id(), 'X', 'api', 'loan:B', 'client:A', 'B', '{}', null, now() - interval '1 hour'),
           (raw.new_id(), 'X', 'migration', 'loan:C', null, 'C', '{}', now() - interval '1 minute', now() - interval '2 days')`.execute(
    db,
  )
  const measured = async () => {
    const answer = await engineGauges[0]?.query.execute(db)
    return ((answer?.rows ?? []) as Reason[]).filter(({ operations }) => operations > 0)
  }
  const reasons = async () => (await measured()).map(one => one.waiting_for).sort()
  const listed = async () => {
    const { rows } = await sql<Reason>`select distinct waiting_for from ops.operation`.execute(db)
    return rows.map(one => one.waiting_for ?? 'nothing').sort()
  }
  t.same(await reasons(), ['client', 'nothing', 'outcome_unknown'])
  t.same(await listed(), await reasons())
  const unknown = (await measured()).find(one => one.waiting_for === 'outcome_unknown')
  t.equal(Math.round((unknown?.oldest ?? 0) / 60), 1)
  await sql`
    insert into loanops.ledger_pause (id, reason) values (raw.new_id(), 'maintenance')`.execute(db)
  t.same(await reasons(), ['outcome_unknown', 'paused'])
  t.same(await listed(), await reasons())
})

t.test('measuring reads none of the operations that have finished', async t => {
  const { db, url } = await freshDatabase(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
    select raw.new_id(), 'X', 'api', 'loan:' || n, n, '{}', 'success', now()
     from generate_series(1, 20000) n`.execute(db)
  await sql`vacuum analyze loanops.operation`.execute(db)
  const registry = new Registry()
  const statements = await buffersOf(url, async db => {
    const gauges = measure(engineGauges)({ metrics: { registry }, patient: db, log })
    await until(async () => (await registry.metrics()).includes('loanops_queue_jobs{'))
    await gauges.stop()
  })
  for (const { statement, buffers } of statements)
    t.ok(buffers < MAX_BUFFERS, `${buffers}: ${statement}`)
})
