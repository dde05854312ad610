// Fetching payments: rate against a bare undici loop that makes the same calls, one after the other.
// node test/bench/backfill.ts [payments] [milliseconds that a page takes]

import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { startSandboxGateways } from '../../src/sandbox/gateways/gateway-server.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { gatewaySettings, requestFetch } from '../support/books/gateways.ts'
import { startBenched } from './service-process.ts'

const payments = Number(process.argv[2] ?? 100_000)
const latencyMs = Number(process.argv[3] ?? 50)
const DAYS = 20
const FROM_MS = Date.parse('2026-01-01T00:00:00Z')
const DAY_MS = 86_400_000
const CHUNK = 10_000
/** Seldom enough not to count as load. */
const ASK_EVERY_MS = 500

const ledger = await startSandbox({ port: 0 })
const gateways = await startSandboxGateways({ port: 0 })
const service = await startBenched('backfill', ledger.url, gatewaySettings(gateways))
try {
  for (let i = 0; i < payments; i += CHUNK)
    await control(
      'PUT',
      '/payments',
      Array.from({ length: CHUNK }, (_, j) => payment(i + j)),
    )
  await control('PUT', '/faults', [{ kind: 'latency', ms: latencyMs }])
  const window = { from: FROM_MS, to: FROM_MS + DAYS * DAY_MS }
  const first = await fetchOf(window, 'all are new')
  const calls = ((await control('GET', '/calls')) as { path: string }[]).map(({ path }) => path)
  const bare = await bareLoop(calls)
  const again = await fetchOf(window, 'all are known')
  const ratio = (seconds: number) => (bare / seconds).toFixed(2)
  console.log(
    `${calls.length} calls at ${latencyMs} ms: bare loop ${bare.toFixed(1)} s; ratio ${ratio(first)} where all are new, ` +
      `${ratio(again)} where all are known; peak memory ${service.peakMiB()} MiB`,
  )
} finally {
  await service.close()
  await gateways.close()
  await ledger.close()
}

function payment(i: number) {
  return {
    gateway: 'gateway_a',
    id: `pay_${i}`,
    amount: 100_000,
    created_at: new Date(FROM_MS + (i / payments) * DAYS * DAY_MS).toISOString(),
    notes: { loan_id: `L-${i}`, lender: 'LENDER_02' },
  }
}

async function control(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(gateways.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.json()
}

/** @returns its seconds */
async function fetchOf({ from, to }: { from: number; to: number }, what: string): Promise<number> {
  const wanted = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const before = service.cpuMs()
  const id = await requestFetch(service.call, 'gateway_a', wanted)
  for (;;) {
    await sleep(ASK_EVERY_MS)
    const { body } = await service.call('GET', `/api/gateways/backfills/${id}`)
    if (body.ended_at === null) continue
    if (body.fetched !== payments) throw new Error(JSON.stringify(body))
    const seconds = (Date.parse(body.ended_at) - Date.parse(body.started_at)) / 1_000
    const cpu = service.cpuMs()
    const cpuSeconds = (of: keyof typeof cpu) => ((cpu[of] - before[of]) / 1_000).toFixed(1)
    console.log(
      `${what}: ${payments} payments in ${seconds.toFixed(1)} s, ${(payments / seconds).toFixed(0)}/s; ` +
        `CPU s: service ${cpuSeconds('service')}, PostgreSQL ${cpuSeconds('postgres')}`,
    )
    return seconds
  }
}

/** What fetching them costs at least, in seconds. */
async function bareLoop(paths: string[]): Promise<number> {
  const pool = new Pool(new URL(gateways.urlA).origin, { connections: 1 })
  const authorization = `Basic ${Buffer.from(`${gateways.key}:${gateways.secret}`).toString('base64')}`
  const start = performance.now()
  for (const path of paths) {
    const answer = await pool.request({ method: 'GET', path, headers: { authorization } })
    await answer.body.json()
  }
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return seconds
}
