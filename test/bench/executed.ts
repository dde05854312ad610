import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { control } from '../support/ledger/loans.ts'
import { costBetween, costPer, costSoFar } from './cost.ts'
import { cpuShares } from './cpu-share.ts'
import { clientCreator } from './create-client.ts'
import { fire, newClients } from './fire.ts'
import { type Stage, untilAllFinal } from './stage.ts'

export const INSTANT_LEDGER = { label: 'ledger-at-once', latencyMs: 0, concurrency: 8, seconds: 6 }

/** The part of the run that counts: before it, operations are still being submitted, and after it, slots run empty. */
const MIDDLE = [0.2, 0.9] as const

/** Operations per second from submission to final, against a bare loop that makes the same ledger calls. */
export async function benchExecuted(
  stage: Stage,
  options: {
    label: string
    latencyMs: number
    concurrency: number
    seconds: number
    /** Prints where the service's CPU time goes; the profiler uses some itself. */
    isProfiled?: boolean
  },
): Promise<number> {
  const { label, latencyMs, concurrency, seconds } = options
  await control(stage, 'POST', '/reset')
  if (latencyMs > 0) await control(stage, 'PUT', '/faults', [{ kind: 'latency', ms: latencyMs }])
  const bare = await bareLoop(stage, label, concurrency, seconds)
  const changes = { LEDGER_CONCURRENCY: String(concurrency) }
  const profile = options.isProfiled ? mkdtempSync(join(tmpdir(), 'loanops-profile-')) : undefined
  const service = await stage.run('all', { ...changes, ...(profile ? { PROFILE: profile } : {}) })
  // Enough that there is always work.
  const load = { connections: 32, seconds: latencyMs > 0 ? 2 : seconds, warmUpSeconds: 0 }
  // A quarter of what a process uses in its first seconds goes into compiling it.
  await fire(service.url, newClients(`W-${label}`), load)
  await untilAllFinal(stage.db)
  const before = await costSoFar(stage, service)
  await fire(service.url, newClients(`E-${label}`), load)
  await untilAllFinal(stage.db)
  const rate = await rateOfTheMiddle(stage, `C-E-${label}-%`)
  const cost = costBetween(before, await costSoFar(stage, service))
  const operations = await endedOf(stage, `C-E-${label}-%`)
  console.log(`cost per operation ${label}, from submission to final: ${costPer(cost, operations)}`)
  console.log(
    `executed ${label}: ${rate}/s at concurrency ${concurrency}, ${service.peakMiB()} MiB; ` +
      `bare loop ${bare}/s; ratio ${(rate / bare).toFixed(2)}`,
  )
  await service.stop()
  if (profile) console.log(`layers of the service's CPU time, ${label}: ${cpuShares(profile)}`)
  return rate
}

async function bareLoop(stage: Stage, label: string, concurrency: number, seconds: number) {
  const ledger = clientCreator(stage.ledger.url, concurrency)
  const until = performance.now() + seconds * 1_000
  const from = performance.now() + seconds * 200
  let sent = 0
  let done = 0
  const loop = async () => {
    while (performance.now() < until) {
      await ledger.create(`C-B-${label}-${sent++}`)
      if (performance.now() >= from) done++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  await ledger.close()
  return Math.round(done / (seconds * 0.8))
}

async function endedOf({ db }: Stage, externalIds: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
      from loanops.operation
       where external_id like ${externalIds} and status = 'success'`.execute(db)
  return rows[0]?.count ?? 0
}

async function rateOfTheMiddle({ db }: Stage, externalIds: string): Promise<number> {
  const { rows } = await sql<{ rate: number }>`
    with ended as (
      select processed_at, percent_rank() over (order by processed_at) as part
        from loanops.operation where external_id like ${externalIds} and status = 'success')
    select (count(*) / extract(epoch from max(processed_at) - min(processed_at)))::float8 as rate
      from ended where part between ${MIDDLE[0]} and ${MIDDLE[1]}`.execute(db)
  return Math.round(rows[0]?.rate ?? 0)
}
