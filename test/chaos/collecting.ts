import { startSandboxGateways } from '../../src/sandbox/gateways/gateway-server.ts'
import { AROUND, fetchAll, gatewaySettings } from '../support/books/gateways.ts'
import { offBy } from '../support/books/reconciliation.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { apiAgain, type Cluster, runningApi } from './cluster.ts'
import type { Telling } from './gateways.ts'

/** The share of all webhooks that never arrives. */
const LOST = 0.3
const ACT_EVERY_MS = 1_000
/** The share of the acts that fetch; the others look at the books. */
const FETCHES = 0.25
/** How the gateways' APIs misbehave, and how often. A hanging call would hold its fetch longer than the fire burns. */
const FAULTS = [
  { kind: 'latency', ms: 150, rate: 0.3 },
  { kind: 'error', status: 502, rate: 0.05 },
  { kind: 'tooMany', retryAfter: '1', rate: 0.03 },
  { kind: 'reset', rate: 0.05 },
  { kind: 'garbage', rate: 0.02 },
]
/** The operators' postings are a day later than the payments. */
const DAYS = 'from=2026-02-05&to=2026-02-06'

export type Collecting = Awaited<ReturnType<typeof startCollecting>>

/** Both gateways' APIs, which know each payment, while many of the webhooks about it get lost. */
export async function startCollecting(draw: () => number) {
  const sandbox = await startSandboxGateways({ port: 0 })
  const put = (path: string, body: object) =>
    fetch(sandbox.controlUrl + path, { method: 'PUT', body: JSON.stringify(body) })
  const webhooks = { sent: 0, lost: 0 }
  return {
    settings: gatewaySettings(sandbox),
    webhooks,
    misbehave: () => put('/faults', { faults: FAULTS, seed: 1 + Math.floor(draw() * 1_000_000) }),
    behave: () => put('/faults', []),
    /** Enters a payment in its gateway's books. */
    async record({ paid, loan }: Telling, lender: string): Promise<void> {
      const { gateway, id, paise, isCaptured } = paid
      await put('/payments', {
        gateway,
        id,
        amount: paise,
        status: isCaptured ? 'captured' : 'failed',
        created_at: PAID_AT_ISO,
        notes: { lender, ...(loan !== undefined && { external_loan_id: loan }) },
      })
    },
    async recordReturns({ paid: { gateway, id: paymentId }, returns }: Telling): Promise<void> {
      for (const { kind, id, paise, status } of returns) {
        const facts = { gateway, id, paymentId, amount: paise, created_at: PAID_AT_ISO }
        const ending = status === 'recovered' ? { status: 'won', phase: 'arbitration' } : { status }
        await put(`/${kind}s`, { ...facts, ...ending })
      }
    },
    losesWebhook(): boolean {
      webhooks.sent++
      const isLost = draw() < LOST
      if (isLost) webhooks.lost++
      return isLost
    },
    close: () => sandbox.close(),
  }
}

/** Has fetches run at random, and looks whether every paisa of the days is in one bucket at any moment. */
export function watchBooks({ places }: Cluster, draw: () => number) {
  const seen = { fetches: 0, looks: 0, unsound: [] as unknown[] }
  let isOver = false
  const done = run()
  return {
    seen,
    async stop() {
      isOver = true
      await done
    },
  }

  async function run(): Promise<void> {
    while (!isOver) {
      await new Promise(resolve => setTimeout(resolve, ACT_EVERY_MS))
      await (draw() < FETCHES ? requestFetch : look)().catch(() => undefined)
    }
  }

  async function requestFetch(): Promise<void> {
    const gateway = draw() < 0.5 ? 'gateway_a' : 'gateway_b'
    const { status } = await runningApi(places)('POST', `/api/gateways/${gateway}/backfill`, AROUND)
    if (status === 202) seen.fetches++
  }

  async function look(): Promise<void> {
    const { status, body } = await runningApi(places)('GET', `/api/reconciliation?${DAYS}`)
    if (status !== 200) return
    seen.looks++
    seen.unsound.push(...unsoundOf(body))
  }
}

/** Fetches everything from both gateways. */
export async function fetchFromBoth({ places }: Cluster): Promise<void> {
  for (const gateway of ['gateway_a', 'gateway_b']) {
    const run = await fetchAll(await apiAgain(places), gateway)
    if (run.status !== 'completed') throw new Error(JSON.stringify(run))
  }
}

/** What the books say in the end. */
export async function booksOf({ places }: Cluster) {
  const { body } = await (await apiAgain(places))('GET', `/api/reconciliation?${DAYS}`)
  return {
    days: body.days.length as number,
    missing: body.totals.buckets.missing.payments as number,
    unsound: unsoundOf(body),
  }
}

const unsoundOf = ({ days }: { days: object[] }) =>
  days.filter(day => ![null, '0'].includes(offBy(day)))
