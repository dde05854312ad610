import type { Test } from 'tap'
import { startTestService } from '../service.ts'
import { startProxy } from './proxy.ts'

/** A service whose calls to the ledger pass through a proxy. */
export async function throughProxy(t: Test, changes: NodeJS.ProcessEnv = {}) {
  const proxy = await startProxy(t)
  const service = await startTestService(t, { ...changes, LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  return { proxy, service }
}
