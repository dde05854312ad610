// npm run bench [-- NAME …] [--rows N]: ratios, each against a baseline measured in the same run. Names: intake latency executed
// layers logins history, and those of SCRIPTS.
import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { benchExecuted, INSTANT_LEDGER } from './executed.ts'
import { benchHttpLayers } from './http-layers.ts'
import { benchIntake } from './intake.ts'
import { benchLatency } from './latency.ts'
import { benchLogins } from './logins.ts'
import { durability, openStage } from './stage.ts'
import { benchWithHistory } from './with-history.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '10000000' } },
})
const isWanted = (name: string) => positionals.length === 0 || positionals.includes(name)
/** A Fineract on two cores takes this long, and gains nothing from more concurrent calls than this. */
const REAL_LEDGER = { label: 'ledger-25ms', latencyMs: 25, concurrency: 8, seconds: 6 }

/** Each starts its own services; their arguments are in their first lines. */
const SCRIPTS = [
  'webhooks',
  'transform',
  'posting',
  'references',
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
if (isWanted('history')) await benchWithHistory(stage, Number(values.rows))
await stage.close()
for (const name of SCRIPTS.filter(isWanted)) {
  console.log(`--- ${name}`)
  spawnSync(process.execPath, [`test/bench/${name}.ts`], { stdio: 'inherit' })
}
