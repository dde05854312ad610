import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { LONG_STATEMENT_MS } from '../../src/database/pool/pool-config.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { IMAGE_FLAGS, startLedger, untilUp } from '../bench/stage.ts'
import type { Place, Role } from '../chaos/cluster.ts'
import { startProcess } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { startReceiver } from './receiver.ts'
import { SECRETS } from './send-payments.ts'

/** The name of our own connections, which do not count. */
export const OBSERVER = 'soak'

export type Installation = {
  db: Database
  places: Place[]
  postgresPid: number
  close(): Promise<void>
}

/** PostgreSQL as it is installed, autovacuum included, the ledger, a receiver of callbacks, an api and a worker. */
export async function startInstallation(): Promise<Installation> {
  const opened: (() => unknown)[] = []
  const close = async () => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne()
  }
  try {
    const folder = resolve(`.data/soak-${process.pid}`)
    opened.push(() => remove(folder))
    const flags = ['-c', 'shared_buffers=512MB', '-c', 'max_wal_size=4GB']
    const postgres = await startPostgres({ folder, password: 'soak', flags })
    opened.push(postgres.close)
    await migrate(postgres.url, allQueues)
    const ledger = await startLedger()
    opened.push(() => ledger.child.kill('SIGKILL'))
    const receiver = await startReceiver()
    opened.push(receiver.close)
    const settings = { ...receiver.settings, ...paymentSettings(`${folder}.lenders.json`) }
    const places: Place[] = []
    for (const role of ['api', 'worker'] as const) {
      const place = await startPlace(role, postgres.url, ledger.url, settings)
      opened.push(() => place.service.kill('SIGTERM'))
      places.push(place)
    }
    for (const { url } of places) await untilUp(url)
    const db = openDatabase(postgres.url, {
      max: 4,
      name: OBSERVER,
      statementMs: LONG_STATEMENT_MS,
      onError: () => undefined,
    })
    opened.push(() => db.destroy())
    const [pid] = readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')
    return { db, places, postgresPid: Number(pid), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function startPlace(
  role: Role,
  databaseUrl: string,
  ledgerUrl: string,
  settings: NodeJS.ProcessEnv,
): Promise<Place> {
  const port = String(await freePort(0))
  const changes = { PORT: port, DATABASE_POOL_MAX: '10', LOG_LEVEL: 'fatal', ...settings }
  const env = testEnv(databaseUrl, ledgerUrl, { ...changes, NODE_OPTIONS: IMAGE_FLAGS })
  return { role, url: `http://127.0.0.1:${port}`, service: startProcess(role, env), isUp: true }
}

/** Both gateways sign, and batches run as often as the schedule can say. */
function paymentSettings(lendersFile: string): NodeJS.ProcessEnv {
  const gateway_b = { validateSignature: true, secretEnv: 'SOAK_SECRET_OF_B' }
  const lenders = Array.from({ length: 9 }, (_, n) => [`LENDER_0${n + 1}`, { gateway_b }])
  writeFileSync(lendersFile, JSON.stringify(Object.fromEntries(lenders)))
  return {
    GATEWAY_A_WEBHOOK_SECRET: SECRETS.a,
    SOAK_SECRET_OF_B: SECRETS.b,
    LENDERS_FILE: lendersFile,
    // The ledger's process can use no more calls at a time.
    LEDGER_CONCURRENCY: '8',
    REPAYMENT_CRON: '* * * * *',
    RECONCILE_CRON: '',
  }
}

/** Everything that `startPostgres` makes: where its user cannot reach the folder, the data is elsewhere. */
function remove(folder: string): void {
  if (existsSync(folder)) rmSync(realpathSync(folder), { recursive: true, force: true })
  for (const path of [folder, `${folder}.log`, `${folder}.lenders.json`])
    rmSync(path, { recursive: true, force: true })
}
