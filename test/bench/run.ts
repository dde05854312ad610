// npm run bench [-- NAME …] [--rows N]: ratios, each against a baseline measured in the same run. Names: intake latency executed
// layers logins history, and those of SCRIPTS.
import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { benchExecuted } from './executed.ts'
import { addHistory, pagesPerStatement } from './history.ts'
import { benchHttpLayers } from './http-layers.ts'
import { benchIntake } from './intake.ts'
import { benchLatency } from './latency.ts'
import { benchLogins } from './logins.ts'
import { median } from './median.ts'
import { durability, openStage } from './stage.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '10000000' } },
})
const isWanted = (name: string) => positionals.length === 0 || positionals.includes(name)
/** A Fineract on two cores takes this long, and gains nothing from more concurrent calls than this. */
const REAL_LEDGER = { label: 'ledger-25ms', latencyMs: 25, concurrency: 8, seconds: 6 }
const INSTANT_LEDGER = { label: 'ledger-at-once', latencyMs: 0, concurrency: 8, seconds: 6 }

/** Minutes lie between the rates with and without a history, and a machine's speed varies by a third from one to the next. */
const HISTORY_RUNS = 5

/** Each starts its own services; their arguments are in their first lines. */
const SCRIPTS = [
  'webhooks',
  'transform',
  'posting',
  'readback',
  'backfill',
  'reconciliation',
  'migration-upload',
  'migration-run',
  'callbacks',
  'slow-commits',
  'peers',
]

const stage = await openStage()
console.log(await durability(stage.db))
// Figures from a busy machine are worthless.
console.log(`load of the machine before: ${loadavg()[0]?.toFixed(1)}`)
if (isWanted('intake')) await benchIntake(stage, 'empty')
if (isWanted('latency')) await benchLatency(stage)
if (isWanted('executed')) {
  await benchExecuted(stage, REAL_LEDGER)
  await benchExecuted(stage, INSTANT_LEDGER)
}
if (isWanted('layers')) {
  await benchHttpLayers(stage)
  await benchExecuted(stage, { ...REAL_LEDGER, label: 'ledger-25ms-profiled', isProfiled: true })
  await benchExecuted(stage, {
    ...INSTANT_LEDGER,
    label: 'ledger-at-once-profiled',
    isProfiled: true,
  })
}
if (isWanted('logins')) await benchLogins(stage)
if (isWanted('history')) await benchHistory(Number(values.rows))
await stage.close()
for (const name of SCRIPTS.filter(isWanted)) {
  console.log(`--- ${name}`)
  spawnSync(process.execPath, [`test/bench/${name}.ts`], { stdio: 'inherit' })
}

/** Measures again with years of history: pages per statement, and the rates compared with those just measured. */
async function benchHistory(rows: number): Promise<void> {
  const empty = await pagesPerStatement(stage)
  const before = await rates('before')
  await addHistory(stage, rows)
  for (const [name, pages] of await pagesPerStatement(stage))
    console.log(`pages of ${name}: ${empty.get(name)} with empty tables, ${pages} with ${rows}`)
  const after = await rates('after')
  for (const [name, rate] of before)
    console.log(`${name} with ${rows}: ${((after.get(name) ?? 0) / rate).toFixed(2)} of the rate`)
}

async function rates(label: string): Promise<Map<string, number>> {
  // What the rows before have left for PostgreSQL to write is no part of either rate.
  await sql`checkpoint`.execute(stage.db)
  const intake: number[] = []
  const executed: number[] = []
  for (let run = 1; run <= HISTORY_RUNS; run++) {
    intake.push(await benchIntake(stage, `${label}-${run}`))
    executed.push(await benchExecuted(stage, { ...INSTANT_LEDGER, label: `${label}-${run}` }))
  }
  return new Map([
    ['intake', median(intake)],
    ['executed', median(executed)],
  ])
}
