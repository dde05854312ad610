import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { freePort } from '../../src/embedded/free-port.ts'
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts'
import { crashPointsIn, type Service, startProcess } from '../support/process.ts'
import { testEnv } from '../support/service.ts'

export type Role = 'api' | 'worker'
/** A place for a process, which is restarted whenever it dies. */
export type Place = { role: Role; url: string; service: Service; isUp: boolean }

/** A start after kill -9 may find remains of the previous process. */
const RESTART_ATTEMPTS = 20
const RESTART_EVERY_MS = 250
const ASK_EVERY_MS = 50

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** PostgreSQL and the ledger, each in its own process, and places for our processes. */
export async function startCluster(folder: string, settings: NodeJS.ProcessEnv = {}) {
  const port = await freePort(0)
  const password = 'chaos'
  let postgres: Postgres = await startPostgres({ folder, password, port })
  const ledger = await startLedger()
  const places: Place[] = []
  const died: string[] = []
  const armed = new Map<Place, string>()
  let isClosing = false

  return {
    databaseUrl: postgres.url,
    ledger,
    places,
    /** The crash points at which processes died, in order. */
    died,
    async add(role: Role) {
      const free = String(await freePort(0))
      const url = `http://127.0.0.1:${free}`
      const place: Place = { role, url, service: start(role, free), isUp: false }
      places.push(place)
      keepAlive(place, free)
    },
    /** Makes the next process in this place die at the crash point. */
    armed,
    async killPostgres() {
      process.kill(
        Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0]),
        'SIGKILL',
      )
      for (let attempt = 1; ; attempt++) {
        try {
          postgres = await startPostgres({ folder, password, port })
          return
        } catch (error) {
          if (attempt === RESTART_ATTEMPTS) throw error
          await new Promise(resolve => setTimeout(resolve, RESTART_EVERY_MS))
        }
      }
    },
    async close() {
      isClosing = true
      await Promise.all(places.map(({ service }) => service.kill('SIGTERM')))
      ledger.child.kill('SIGKILL')
      await postgres.close()
    },
  }

  function start(role: Role, free: string, crashAt?: string): Service {
    const changes = {
      PORT: free,
      DOCS_ENABLED: 'false',
      // A hanging call must time out within the run.
      LEDGER_TIMEOUT_MS: '1500',
      LOG_LEVEL: 'fatal',
      ...settings,
      ...(crashAt === undefined ? {} : { LOANOPS_CRASH_AT: crashAt }),
    }
    return startProcess(role, testEnv(postgres.url, ledger.url, changes))
  }

  function keepAlive(place: Place, free: string): void {
    const { service } = place
    void untilUp(place).then(isUp => {
      if (place.service === service) place.isUp = isUp
    })
    void service.ended.then(() => {
      place.isUp = false
      died.push(...crashPointsIn(service.said))
      if (isClosing) return
      place.service = start(place.role, free, armed.get(place))
      armed.delete(place)
      keepAlive(place, free)
    })
  }
}

async function untilUp({ url, service: { child } }: Place): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${url}/healthz`).catch(() => undefined)
    if (answer?.ok) return true
    await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
  }
  return false
}

async function startLedger() {
  const child = spawn(process.execPath, ['test/support/sandbox-process.ts'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, ...(JSON.parse(line) as { url: string; controlUrl: string }) }
}
