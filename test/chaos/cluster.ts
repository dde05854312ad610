import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../src/embedded/free-port.ts'
import { openPath, type Path } from '../support/path.ts'
import { crashPointsIn, type Service, startProcess } from '../support/process.ts'
import { caller, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

export type Role = 'api' | 'worker'
/** A place for a process, which is restarted whenever it dies. */
export type Place = { role: Role; url: string; service: Service; isUp: boolean }

const ASK_EVERY_MS = 50

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** The ledger in its own process, and places for our processes, which reach it and the database over paths that can fail. */
export async function startCluster(databaseUrl: string, settings: NodeJS.ProcessEnv = {}) {
  const ledger = await startLedger()
  const paths = {
    database: await openPath(targetOf(databaseUrl)),
    ledger: await openPath(targetOf(ledger.url)),
  }
  const places: Place[] = []
  const died: string[] = []
  const armed = new Map<Place, string>()
  let isClosing = false

  return {
    databaseUrl,
    ledger,
    paths,
    places,
    /** The crash points at which processes died, in order. */
    died,
    /** @param changes settings of this place's processes alone */
    async add(role: Role, changes: NodeJS.ProcessEnv = {}) {
      const free = String(await freePort(0))
      const url = `http://127.0.0.1:${free}`
      const own = { ...changes, PORT: free }
      const place: Place = { role, url, service: start(role, own), isUp: false }
      places.push(place)
      keepAlive(place, own)
    },
    /** Makes the next process in this place die at the crash point. */
    armed,
    async close() {
      isClosing = true
      await Promise.all(places.map(({ service }) => service.kill('SIGTERM')))
      ledger.child.kill('SIGKILL')
      for (const path of Object.values(paths)) path.close()
    },
  }

  function start(role: Role, own: NodeJS.ProcessEnv, crashAt?: string): Service {
    const changes = {
      DOCS_ENABLED: 'false',
      // A hanging call must time out within the run.
      LEDGER_TIMEOUT_MS: '1500',
      LOG_LEVEL: 'fatal',
      ...settings,
      ...own,
      ...(crashAt === undefined ? {} : { LOANOPS_CRASH_AT: crashAt }),
    }
    const env = testEnv(over(paths.database, databaseUrl), over(paths.ledger, ledger.url), changes)
    return startProcess(role, env)
  }

  function keepAlive(place: Place, own: NodeJS.ProcessEnv): void {
    const { service } = place
    void untilUp(place).then(isUp => {
      if (place.service === service) place.isUp = isUp
    })
    void service.ended.then(() => {
      place.isUp = false
      died.push(...crashPointsIn(service.said))
      if (isClosing) return
      place.service = start(place.role, own, armed.get(place))
      armed.delete(place)
      keepAlive(place, own)
    })
  }
}

/** Calls the first api process, which may be down. */
export const someApi = (places: Place[]) =>
  caller(places.find(({ role }) => role === 'api')?.url ?? '')

/** Calls an api process that is up; there may be none. */
export const runningApi = (places: Place[]) => someApi(places.filter(({ isUp }) => isUp))

/** Calls the first api process, once it is up again if it was killed. */
export async function apiAgain(places: Place[]) {
  await until(async () => places.find(({ role }) => role === 'api')?.isUp, 'an api process is up')
  return someApi(places)
}

/** The URL of the same service over a path. */
export function over({ port }: Path, url: string): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}

export function targetOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
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
  const child = spawn(process.execPath, ['test/support/sandbox/sandbox-process.ts'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, ...(JSON.parse(line) as { url: string; controlUrl: string }) }
}
