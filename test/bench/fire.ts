import { setTimeout as sleep } from 'node:timers/promises'
import { clientData } from '../support/ledger/loans.ts'
import { TOKEN } from '../support/service.ts'
import { openConnection } from './connection.ts'

export type Fired = {
  /** Accepted, those of the warm-up included. */
  accepted: number
  perSecond: number
  p50: number
  p95: number
  p99: number
  refused: number
}

type Load = {
  connections: number
  seconds: number
  /** The time before `seconds`, which does not count. */
  warmUpSeconds: number
  /** The rate of all connections together; without it, each sends as soon as it has its answer. */
  perSecond?: number
  /** Called for each that counts. */
  onAccepted?(tookMs: number): void
}

/** Submits the operations `body(n)`. */
export function fire(url: string, body: (n: number) => object, load: Load): Promise<Fired> {
  return fireAt(`${url}/api/ledger/operate`, n => JSON.stringify(body(n)), load)
}

export async function fireAt(url: string, body: (n: number) => string, load: Load): Promise<Fired> {
  const open = () => openConnection('POST', url, { 'x-internal-token': TOKEN })
  const connections = await Promise.all(Array.from({ length: load.connections }, open))
  const begun = performance.now()
  const from = begun + load.warmUpSeconds * 1_000
  const to = from + load.seconds * 1_000
  const took: number[] = []
  let accepted = 0
  let refused = 0
  let sent = 0
  await Promise.all(
    connections.map(async connection => {
      for (;;) {
        const n = sent++
        const at = await turn(n)
        if (at > to) return connection.close()
        const status = await connection.ask(body(n))
        const end = performance.now()
        if (status >= 300) {
          refused++
          continue
        }
        accepted++
        if (at < from || end > to) continue
        took.push(end - at)
        load.onAccepted?.(end - at)
      }
    }),
  )
  took.sort((a, b) => a - b)
  return {
    accepted,
    perSecond: Math.round(took.length / load.seconds),
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
    p99: quantile(took, 0.99),
    refused,
  }

  /** @returns the moment from which the request counts: at a fixed rate, one that is sent late has already waited */
  async function turn(n: number): Promise<number> {
    const now = performance.now()
    if (load.perSecond === undefined) return now
    const due = begun + (n * 1_000) / load.perSecond
    if (due > now) await sleep(due - now)
    return due
  }
}

/** The bodies: operations without a predecessor, each on a different client. */
export const newClients = (name: string) => (n: number) => ({
  status: 'CLIENT_CREATE',
  data: clientData(`C-${name}-${n}`),
})

export function quantile(sorted: number[], part: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return Math.round(value * 10) / 10
}
