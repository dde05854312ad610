import { sql } from 'kysely'
import { costBetween, costPer, costSoFar } from './cost.ts'
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'
import type { Stage } from './stage.ts'

const CONNECTIONS = 64
const RUNS = 3
const TIMES = { connections: CONNECTIONS, seconds: 4, warmUpSeconds: 1.5 }

/** Accepted operations per second, against one transaction with an insert and `boss.send()` per request. */
export async function benchIntake(stage: Stage, label: string): Promise<number> {
  const ours = await stage.run('api')
  const baseline = await stage.run('api', {}, 'test/bench/one-send-server.ts')
  const figures = { ours: [] as number[], baseline: [] as number[], p99: [] as number[] }
  const cost = { service: 0, postgres: 0, wal: 0 }
  let accepted = 0
  for (let run = 1; run <= RUNS; run++) {
    const before = await costSoFar(stage, ours)
    const a = await fire(ours.url, newClients(`${label}-${run}`), TIMES)
    const spent = costBetween(before, await costSoFar(stage, ours))
    for (const part of ['service', 'postgres', 'wal'] as const) cost[part] += spent[part]
    accepted += a.accepted
    const b = await fire(baseline.url, newClients(`${label}-y${run}`), TIMES)
    figures.ours.push(a.perSecond)
    figures.p99.push(a.p99)
    figures.baseline.push(b.perSecond)
    if (a.refused + b.refused > 0) console.log(`refused: ${a.refused} and ${b.refused}`)
  }
  const [rate, bare] = [median(figures.ours), median(figures.baseline)]
  console.log(
    `intake ${label}: ${rate}/s at ${CONNECTIONS} connections, p99 ${median(figures.p99)} ms, ${ours.peakMiB()} MiB; ` +
      `one boss.send() per request ${bare}/s; ratio ${(rate / bare).toFixed(2)}`,
  )
  console.log(`cost per accepted operation ${label}: ${costPer(cost, accepted)}`)
  await Promise.all([ours.stop(), baseline.stop()])
  await sql`delete from loanops.operation where status = 'processing'`.execute(stage.db)
  await sql`truncate pgboss.job_common, pgboss.job cascade`.execute(stage.db).catch(() => undefined)
  return rate
}
