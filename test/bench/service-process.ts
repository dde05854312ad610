import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { startProcess } from '../support/process.ts'
import { type Call, caller, testEnv } from '../support/service.ts'
import { cpuTimeMs } from './cpu-time.ts'
import { IMAGE_FLAGS, peakMiB, untilUp } from './stage.ts'

type BenchedService = {
  url: string
  call: Call
  databaseUrl: string
  /** The process's peak memory so far, in MiB. */
  peakMiB(): number
  /** CPU time that service and PostgreSQL have used so far, in milliseconds. */
  cpuMs(): { service: number; postgres: number }
  close(): Promise<void>
}

/** A PostgreSQL with durable commits, and the service in a separate process. */
export async function startBenched(
  name: string,
  ledgerUrl: string,
  changes: NodeJS.ProcessEnv = {},
): Promise<BenchedService> {
  const folder = resolve(`.data/bench-${name}-${process.pid}`)
  const postgres = await startPostgres({ folder, password: 'bench' })
  await migrate(postgres.url, allQueues)
  const postgresPid = Number(readFileSync(resolve(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const env = testEnv(postgres.url, ledgerUrl, {
    PORT: String(port),
    LOG_LEVEL: 'error',
    NODE_OPTIONS: IMAGE_FLAGS,
    ...changes,
  })
  const service = startProcess('all', env)
  await untilUp(url)
  return {
    url,
    call: caller(url),
    databaseUrl: postgres.url,
    peakMiB: () => peakMiB(service.child),
    cpuMs: () => ({
      service: cpuTimeMs(service.child.pid as number),
      postgres: cpuTimeMs(postgresPid),
    }),
    async close() {
      await service.kill('SIGTERM')
      await postgres.close()
    },
  }
}
