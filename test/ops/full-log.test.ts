import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { MAIN } from '../support/main.ts'
import { processEnv } from '../support/process.ts'
import { NO_LEDGER, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a process whose log cannot be written answers, and ends at SIGTERM', async t => {
  const { url } = await freshDatabase(t)
  const PORT = String(await freePort(0))
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [MAIN, '--role', 'api'], {
    env: { ...testEnv(url, NO_LEDGER, { PORT, LOG_LEVEL: 'info' }), ...processEnv },
    stdio: ['ignore', full, 'inherit'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  })
  t.teardown(() => child.kill('SIGKILL'))
  closeSync(full)
  const asked = () => fetch(`http://127.0.0.1:${PORT}/healthz`).catch(() => undefined)
  await until(async () => (await asked())?.status === 200, 'it answers')
  // Each refused call is a line.
  for (let calls = 0; calls < 50; calls++)
    await fetch(`http://127.0.0.1:${PORT}/api/payments`).then(one => one.text())
  t.equal((await asked())?.status, 200)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})
