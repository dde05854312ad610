// npm run chaos [-- --seed N --operations N --kills N]: everything fails at random; the ledger's books show whether the promises hold.
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { allQueues } from '../../src/worker.ts'
import { control } from '../support/loans.ts'
import { runBatch } from '../support/payments.ts'
import { caller } from '../support/service.ts'
import { runCallers } from './callers.ts'
import { startCluster } from './cluster.ts'
import { FAULTS } from './faults.ts'
import { wreakHavoc } from './havoc.ts'
import { judge } from './model.ts'
import { judgePayments } from './payments-model.ts'
import { startReceiver } from './receiver.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    operations: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '20' },
  },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const operations = Number(values.operations)
const kills = Number(values.kills)
/** Once the faults are over, every operation must end within this: the longest back-off and a lease. */
const SETTLE_MS = 120_000
const CALLERS = 12

console.log(`seed ${seed}: npm run chaos -- --seed ${seed}`)
const folder = resolve('.data/chaos-postgres')
rmSync(folder, { recursive: true, force: true })
const receiver = await startReceiver(dice(seed + 2))
const cluster = await startCluster(folder, receiver.settings)
await migrate(cluster.databaseUrl, allQueues)
for (const role of ['api', 'api', 'worker', 'worker'] as const) await cluster.add(role)
await control(cluster, 'PUT', '/faults', { seed, rules: FAULTS })

const startedAt = Date.now()
const draw = dice(seed)
const havoc = wreakHavoc(cluster, dice(seed + 1))
const answered = await runCallers(
  cluster.places.filter(({ role }) => role === 'api'),
  { callers: CALLERS, draw, isEnough: sent => sent >= operations && havoc.kills() >= kills },
)
await havoc.stop()
await control(cluster, 'PUT', '/faults', [])
receiver.behave()
const firedMs = Date.now() - startedAt

const db = openDatabase(cluster.databaseUrl, { max: 2, name: 'judge', onError: () => undefined })
const settleMs = await settled(db)
const { log, counters } = await control(cluster, 'GET', '/books?log=250000')
const verdict = await judge(db, answered.operations, log)
const payments = await judgePayments(db, answered.payments, cluster.ledger.controlUrl)
const { reported, deliveredTwice, ...wrongCallbacks } = await receiver.judge(db)
await db.destroy()
await cluster.close()
receiver.close()

const wrong = [
  'vanished',
  'unfinished',
  'lost',
  'doubled',
  'failedButApplied',
  'outOfOrder',
  'strangers',
] as const
const isHeld =
  wrong.every(name => verdict[name] === 0) &&
  verdict.appliedOnce + verdict.refusedPayments === verdict.accepted &&
  Object.values(payments.wrong).every(count => count === 0) &&
  payments.heldPaise === payments.capturedPaise &&
  Object.values(wrongCallbacks).every(count => count === 0)
const perPoint = Object.groupBy(cluster.died, point => point)
console.log(
  JSON.stringify(
    {
      seed,
      ...verdict,
      acknowledged: answered.operations.length,
      payments,
      callbacks: { reported, deliveredTwice, ...wrongCallbacks },
      kills: havoc.kills(),
      disruptions: havoc.disruptions,
      crashPoints: Object.fromEntries(
        Object.entries(perPoint).map(([point, deaths]) => [point, deaths?.length]),
      ),
      ledgerFaults: counters.faults,
      overlaps: counters.overlaps,
      underFireSeconds: Math.round(firedMs / 1_000),
      settledAfterSeconds: Math.round(settleMs / 1_000),
      held: isHeld,
    },
    null,
    2,
  ),
)
process.exit(isHeld ? 0 : 1)

/** Runs batches until nothing is in progress any more. */
async function settled(db: Database): Promise<number> {
  const from = Date.now()
  const api = cluster.places.find(({ role }) => role === 'api')
  while (Date.now() - from < SETTLE_MS) {
    await runBatch(caller(api?.url ?? '')).catch(() => undefined)
    // Their retries would take days.
    await sql`update loanops.callback set next_try_at = now() where state = 'pending' and next_try_at > now() + interval '11 s'`.execute(
      db,
    )
    const { rows } = await sql<{ open: boolean }>`
      select exists (select from loanops.operation where status = 'processing')
          or exists (select from core.transaction where state in ('waiting', 'posting'))
          or exists (select from loanops.callback where state = 'pending')
          or exists (select from core.pending_event)
          or exists (select from pgboss.job where name = 'payment-event' and state < 'completed') as open`.execute(
      db,
    )
    if (!rows[0]?.open) break
    await new Promise(done => setTimeout(done, 200))
  }
  return Date.now() - from
}
