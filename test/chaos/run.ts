// npm run chaos [-- --seed N --operations N --kills N]: everything fails at random; the ledger's books show whether the promises hold.
// npm run chaos -- --approvals [seed …]: the same, where people approve what others propose.
// npm run chaos -- --silent [seed …]: database, ledger and gateway go silent, half-open or slow; is it reported, and over soon enough?
// npm run chaos -- --failover [seed …]: the primary dies or falls silent, and a synchronous standby takes over.
import { parseArgs } from 'node:util'
import { runFailover } from './failover.ts'
import { runOrdinary } from './ordinary.ts'
import { onlyToken, people } from './people.ts'
import { runSilent } from './silent.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    operations: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '20' },
    silent: { type: 'boolean', default: false },
    failover: { type: 'boolean', default: false },
    approvals: { type: 'boolean', default: false },
  },
})
const given = [...positionals, ...(values.seed === undefined ? [] : [values.seed])].map(Number)
const seeds = given.length > 0 ? given : [Math.floor(Math.random() * 1_000_000)]
const named = (['silent', 'failover', 'approvals'] as const).find(name => values[name])
const kind = named === undefined ? '' : ` --${named}`
const least = { operations: Number(values.operations), kills: Number(values.kills) }

let isHeld = true
for (const seed of seeds) {
  console.log(`seed ${seed}: npm run chaos --${kind} --seed ${seed}`)
  isHeld = (await runOne(seed)) && isHeld
}
process.exit(isHeld ? 0 : 1)

function runOne(seed: number): Promise<boolean> {
  if (values.silent) return runSilent(seed)
  return values.failover
    ? runFailover(seed)
    : runOrdinary(seed, least, values.approvals ? people : onlyToken)
}
