import type { Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { peakMiB } from '../bench/stage.ts'
import { freshDatabase } from './database/fresh-database.ts'
import { startProcessFor } from './process.ts'
import { caller, testEnv } from './service.ts'
import { until } from './until.ts'

const LIMIT_MIB = 300

/** The service as a process that runs as in its image; `isSmall` checks the most memory that it has had so far. */
export async function smallProcess(t: Test, role: 'api' | 'all') {
  const { url: databaseUrl, db } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const { child } = startProcessFor(t, role, {
    ...testEnv(databaseUrl, ledger.url, { PORT: String(port) }),
    NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=1024',
  })
  await until(() =>
    fetch(`${url}/healthz`)
      .then(({ ok }) => ok)
      .catch(() => false),
  )
  return {
    url,
    db,
    call: caller(url),
    isSmall(t: Test) {
      const peak = peakMiB(child)
      t.ok(peak < LIMIT_MIB, `${peak} MiB`)
    },
  }
}
