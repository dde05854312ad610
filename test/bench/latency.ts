import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { clientData } from '../support/ledger/loans.ts'
import { TOKEN } from '../support/service.ts'
import { quantile } from './fire.ts'
import { median } from './median.ts'
import type { Stage } from './stage.ts'

/** Seldom enough not to count as load. */
const ASK_EVERY_MS = 100

const PER_SECOND = 50
const OPERATIONS = 1_000
const WARM_UP = 100
const RUNS = 3

/** Submit to final, at 50 operations a second. */
export async function benchLatency(stage: Stage): Promise<void> {
  const service = await stage.run('all')
  const p50: number[] = []
  const p99: number[] = []
  for (let run = 1; run <= RUNS; run++) {
    const took = await oneRun(stage, service.url, `T${run}`)
    p50.push(quantile(took, 0.5))
    p99.push(quantile(took, 0.99))
  }
  console.log(
    `submit to final at ${PER_SECOND}/s over ${OPERATIONS}: p50 ${median(p50)} ms, p99 ${median(p99)} ms ` +
      `(of three: ${p50.join(', ')} and ${p99.join(', ')}), ${service.peakMiB()} MiB`,
  )
  await service.stop()
}

/** What each of them took in milliseconds, in order. `run` makes the clients' names. */
export async function oneRun(
  { db }: Pick<Stage, 'db'>,
  url: string,
  run: string,
  { perSecond, operations } = { perSecond: PER_SECOND, operations: OPERATIONS },
): Promise<number[]> {
  const sent = new Map<string, number>()
  const requests: Promise<void>[] = []
  const from = Date.now()
  for (let n = 0; n < WARM_UP + operations; n++) {
    const dueIn = from + (n * 1_000) / perSecond - Date.now()
    if (dueIn > 0) await sleep(dueIn)
    const externalId = `C-${run}-${n}`
    if (n >= WARM_UP) sent.set(externalId, Date.now())
    requests.push(send(url, externalId))
  }
  await Promise.all(requests)
  const ends = await finalTimes(db, [...sent.keys()])
  return ends.map(({ externalId, at }) => at - (sent.get(externalId) ?? 0)).sort((a, b) => a - b)
}

async function send(url: string, externalId: string): Promise<void> {
  const answer = await fetch(`${url}/api/ledger/operate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-token': TOKEN },
    body: JSON.stringify({ status: 'CLIENT_CREATE', data: clientData(externalId) }),
  })
  if (answer.status !== 202) throw new Error(await answer.text())
}

async function finalTimes(db: Stage['db'], externalIds: string[]) {
  for (;;) {
    const { rows } = await sql<{ externalId: string; at: number }>`
      select external_id as "externalId", (extract(epoch from processed_at) * 1000)::float8 as at
        from loanops.operation
         where external_id = any(${externalIds}) and processed_at is not null`.execute(db)
    if (rows.length === externalIds.length) return rows
    await sleep(ASK_EVERY_MS)
  }
}
