// Accepted operations per second where a commit takes 20 ms, with one api process and with two that share its callers or have as
// many each: node test/bench/slow-commits.ts [RUNS] [standby|disk]. A synchronous standby confirms each commit 20 ms later; with a
// disk, each flush takes 20 ms, and one follows the other.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { until } from '../support/until.ts'
import { fire, newClients } from './fire.ts'
import type { Late } from './late-standby.ts'
import { median } from './median.ts'
import { openStage } from './stage.ts'

const COMMIT_MS = 20
const STANDBY = 'late'
/** The connections of a load are those of all api processes together. */
const LOADS = [
  { connections: 64, api: 1 },
  { connections: 64, api: 2 },
  { connections: 128, api: 2 },
  { connections: 256, api: 1 },
  { connections: 256, api: 2 },
  { connections: 512, api: 2 },
]
const RUNS = Number(process.argv[2] ?? 3)
const TIMES = { seconds: 4, warmUpSeconds: 1.5 }
const SLOW = process.argv[3] ?? 'standby'

// Whoever flushes for a group of commits waits this long first, in microseconds, even if it is alone.
const slowDisk = ['-c', `commit_delay=${COMMIT_MS * 1_000}`, '-c', 'commit_siblings=0']

const stage = await openStage({
  flags: ['-c', 'max_connections=200', ...(SLOW === 'disk' ? slowDisk : [])],
})
const standby = SLOW === 'disk' ? undefined : await lateStandby()
const processes = [await stage.run('api'), await stage.run('api')]
const rates = new Map<string, number[]>()
for (let run = 1; run <= RUNS; run++)
  for (const { connections, api: count } of LOADS) {
    const name = `${connections} connections, ${count} api`
    const fired = await Promise.all(
      processes
        .slice(0, count)
        .map(({ url }, i) =>
          fire(url, newClients(`S-${run}-${connections}-${count}-${i}`), {
            connections: connections / count,
            ...TIMES,
          }),
        ),
    )
    const refused = fired.reduce((sum, one) => sum + one.refused, 0)
    if (refused > 0) console.log(`${name}: ${refused} refused`)
    const rate = fired.reduce((sum, { perSecond }) => sum + perSecond, 0)
    rates.set(name, [...(rates.get(name) ?? []), rate])
  }
for (const [name, those] of rates)
  console.log(
    `accepted at ${COMMIT_MS} ms per commit (${SLOW}), ${name}: ${median(those)}/s (${those.join(', ')})`,
  )
await Promise.all(processes.map(({ stop }) => stop()))
await stage.close()
await standby?.terminate()

async function lateStandby(): Promise<Worker> {
  const late: Late = { url: stage.databaseUrl, name: STANDBY, lateMs: COMMIT_MS }
  const thread = new Worker(new URL('./late-standby.ts', import.meta.url), { workerData: late })
  await once(thread, 'message')
  await sql`alter system set synchronous_standby_names = ${sql.lit(STANDBY)}`.execute(stage.db)
  await sql`select pg_reload_conf()`.execute(stage.db)
  await until(async () => (await oneCommit()) >= COMMIT_MS, 'commits wait for the standby')
  return thread
}

async function oneCommit(): Promise<number> {
  const since = performance.now()
  await sql`select pg_logical_emit_message(true, 'bench', '')`.execute(stage.db)
  return performance.now() - since
}
