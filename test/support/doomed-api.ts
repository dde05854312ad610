import type { Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { startProcessFor } from './process.ts'
import { caller, type TestService, testEnv } from './service.ts'
import { until } from './until.ts'

/** A second process of role api, which answers and dies at this crash point. */
export async function startDoomedApi(
  t: Test,
  { databaseUrl, ledger }: Pick<TestService, 'databaseUrl' | 'ledger'>,
  LOANOPS_CRASH_AT: string,
  changes: NodeJS.ProcessEnv = {},
) {
  const port = String(await freePort(0))
  const settings = { PORT: port, LOANOPS_CRASH_AT, ...changes }
  const env = testEnv(databaseUrl, ledger.url, settings)
  const doomed = startProcessFor(t, 'api', env)
  const url = `http://127.0.0.1:${port}`
  const answers = () => caller(url)('GET', '/healthz').then(({ status }) => status === 200)
  await until(() => answers().catch(() => false), 'it answers')
  return { ...doomed, url }
}
