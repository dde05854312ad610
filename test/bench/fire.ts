import { Pool } from 'undici'
import { clientData } from '../support/loans.ts'
import { TOKEN } from '../support/service.ts'

export type Fired = {
  /** Accepted, those of the warm-up included. */
  accepted: number
  perSecond: number
  p50: number
  p95: number
  p99: number
  refused: number
}

/** Sends `body(n)` over this many connections for the given time. The first part is warm-up and does not count. */
export async function fire(
  url: string,
  body: (n: number) => object,
  options: { connections: number; seconds: number; warmUpSeconds: number },
): Promise<Fired> {
  const pool = new Pool(url, { connections: options.connections, pipelining: 1 })
  const from = performance.now() + options.warmUpSeconds * 1_000
  const to = from + options.seconds * 1_000
  const took: number[] = []
  let accepted = 0
  let refused = 0
  let sent = 0
  await Promise.all(Array.from({ length: options.connections }, one))
  await pool.close()
  took.sort((a, b) => a - b)
  return {
    accepted,
    perSecond: Math.round(took.length / options.seconds),
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
    p99: quantile(took, 0.99),
    refused,
  }

  async function one(): Promise<void> {
    for (;;) {
      const at = performance.now()
      if (at > to) return
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path: '/api/ledger/operate',
        headers: { 'content-type': 'application/json', 'x-internal-token': TOKEN },
        body: JSON.stringify(body(sent++)),
      })
      await answer.dump()
      const end = performance.now()
      if (statusCode !== 202) refused++
      else accepted++
      if (statusCode === 202 && at >= from && end <= to) took.push(end - at)
    }
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
