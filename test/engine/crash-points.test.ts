import { sql } from 'kysely'
import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { ENGINE_CRASH_POINTS } from '../../src/engine/engine-signals.ts'
import { judge } from '../chaos/model.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { approval, clientData, control, loanData } from '../support/ledger/loans.ts'
import { externalId } from '../support/portfolio/external-ids.ts'
import { crashPointsIn, startProcess } from '../support/process.ts'
import {
  type Call,
  caller,
  startTestService,
  type TestService,
  testEnv,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** The settings allow no fewer slots. */
const SLOTS = 2

t.test('wherever a process dies, accepted operations are done once and in order', async t => {
  // Accepts requests and runs none of them.
  const service = await startTestService(t, { ROLE: 'api' })
  const accepted: string[] = []
  const hit: string[] = []
  for (const point of ENGINE_CRASH_POINTS) {
    await expireLeases(service.db)
    const said = await dieAt(service, point, accepted)
    hit.push(...crashPointsIn(said))
    if (hit.at(-1) !== point) t.comment(`instead of dying at ${point}: ${said.join('; ')}`)
  }
  t.same(hit, [...ENGINE_CRASH_POINTS], 'a process died at each of them')

  await expireLeases(service.db)
  const survivor = startProcess('worker', envOf(service))
  for (const id of accepted) t.match(await ending(service.call, id), { status: 'success' })
  await survivor.kill('SIGTERM')
  const { log } = await control(service, 'GET', '/log?limit=250000')
  const verdict = await judge(
    service.db,
    accepted.map(id => id.split('|')[1] as string),
    log,
  )
  t.match(verdict, {
    vanished: 0,
    unfinished: 0,
    lost: 0,
    doubled: 0,
    failedButApplied: 0,
    outOfOrder: 0,
    strangers: 0,
  })
  t.equal(verdict.appliedOnce, verdict.accepted)
})

/** Makes a process die at the point, with enough work to get there. @returns what it wrote meanwhile */
async function dieAt(service: TestService, point: string, accepted: string[]) {
  const port = String(await freePort(0))
  const env = {
    ...envOf(service),
    PORT: port,
    LEDGER_CONCURRENCY: String(SLOTS),
    LOANOPS_CRASH_AT: point,
  }
  const victim = startProcess('all', env)
  const call = point.startsWith('intake') ? await ready(port) : service.call
  const isStop = point === 'stop.handing-back'
  const isCrowded = isStop || point === 'start.committed'
  // A stop hands back what has no slot yet, whose start is a commit of its own: hence slow calls, and more clients than slots.
  if (isCrowded) await control(service, 'PUT', '/faults', [{ kind: 'latency', ms: 2_000 }])
  for (let clients = isCrowded ? 4 * SLOTS : 1; clients > 0; clients--)
    accepted.push(...(await work(call)))
  if (isStop) {
    // Until then it does not listen for signals.
    await ready(port)
    await until(() => isOneWithoutSlot(service))
    victim.child.kill('SIGTERM')
  }
  await victim.ended
  await control(service, 'PUT', '/faults', [])
  return victim.said
}

let worked = 0

/** A client with two loans, one of which is then deleted, with ids of each kind in turn. @returns what was answered 202 */
async function work(call: Call): Promise<string[]> {
  const client = externalId('C', ++worked)
  const [kept, gone] = [externalId('K', worked), externalId('G', worked)]
  const operations: [string, object][] = [
    ['CLIENT_CREATE', clientData(client)],
    ['LOAN_CREATE', loanData(kept, client)],
    ['LOAN_CREATE', loanData(gone, client)],
    ['LOAN_APPROVE', approval(kept)],
    ['LOAN_DELETE', { external_loan_id: gone }],
  ]
  const accepted: string[] = []
  for (const [status, data] of operations) {
    // Without an answer the caller does not know, and must not send what depends on it.
    const id = await submit(call, status, data).catch(() => undefined)
    if (id === undefined) return accepted
    accepted.push(id)
  }
  return accepted
}

async function ready(port: string): Promise<Call> {
  const call = caller(`http://127.0.0.1:${port}`)
  await until(() => call('GET', '/healthz').catch(() => undefined))
  return call
}

const envOf = (service: TestService) => testEnv(service.databaseUrl, service.ledger.url)

async function isOneWithoutSlot({ db }: TestService): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select count(*) > ${2 * SLOTS} as held from loanops.operation
     where claimed_until > now()`.execute(db)
  return rows[0]?.held ?? false
}
