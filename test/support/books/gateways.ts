import type { Test } from 'tap'
import {
  type SandboxGateways,
  startSandboxGateways,
} from '../../../src/sandbox/gateways/gateway-server.ts'
import { gatewaySettings as apiSettings } from '../../../src/sandbox/gateways/gateway-settings.ts'
import type { Call } from '../service.ts'
import { until } from '../until.ts'

/** Both gateways, and the settings to ask them. */
export async function gatewaySandbox(t: Test) {
  const sandbox = await startSandboxGateways({ port: 0 })
  t.teardown(() => sandbox.close())
  const control = (method: string, path: string, body?: unknown) =>
    fetch(sandbox.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    ...sandbox,
    put: (path: '/payments' | '/refunds' | '/disputes' | '/faults', body: unknown) =>
      control('PUT', path, body),
    sendWebhook: (body: object) => control('POST', '/webhook', body),
    /** The paths that were asked for, in order. */
    calls: async () =>
      (await (await control('GET', '/calls')).json()) as { path: string; at: number }[],
    settings: gatewaySettings(sandbox),
  }
}

/** Settings to ask the sandbox's gateways when a test wants it: the schedule's next time is a year away. */
export const gatewaySettings = (sandbox: SandboxGateways) => ({
  ...apiSettings(sandbox),
  BACKFILL_CRON: '0 0 1 1 *',
})

export const PAID_AT = '2026-02-05T04:30:00Z'
/** A window around it. */
export const AROUND = { from: '2026-02-05T00:00:00Z', to: '2026-02-06T00:00:00Z' }

/** Requests a fetch. @returns its id */
export async function requestFetch(call: Call, gateway: string, wanted: object = AROUND) {
  const { status, body } = await call('POST', `/api/gateways/${gateway}/backfill`, wanted)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return body.backfill_id as string
}

/** Waits until it has ended. */
export function fetched(call: Call, id: string): Promise<any> {
  return until(async () => {
    const { body } = await call('GET', `/api/gateways/backfills/${id}`)
    return body.ended_at !== null && body
  }, 'the fetch ends')
}

export async function fetchAll(call: Call, gateway: string, wanted: object = AROUND) {
  return fetched(call, await requestFetch(call, gateway, wanted))
}
