// Accepted operations per second where each flush of PostgreSQL's log takes 20 ms, as with a synchronous standby or a cloud
// disk: with one and two api processes, at 64 and 256 connections.
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'
import { openStage } from './stage.ts'

const FLUSH_MS = 20
const RUNS = Number(process.argv[2] ?? 3)
const TIMES = { seconds: 4, warmUpSeconds: 1.5 }

const stage = await openStage([
  // Whoever flushes for a group of commits waits this long first, in microseconds, even if it is alone.
  '-c',
  `commit_delay=${FLUSH_MS * 1_000}`,
  '-c',
  'commit_siblings=0',
  '-c',
  'max_connections=200',
])
const processes = [await stage.run('api'), await stage.run('api')]
const rates = new Map<string, number[]>()
for (let run = 1; run <= RUNS; run++)
  for (const connections of [64, 256])
    for (const count of [1, 2]) {
      const name = `${connections} connections, ${count} api`
      const fired = await Promise.all(
        processes.slice(0, count).map(({ url }, i) =>
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
    `accepted at ${FLUSH_MS} ms per commit, ${name}: ${median(those)}/s (${those.join(', ')})`,
  )
await Promise.all(processes.map(({ stop }) => stop()))
await stage.close()
