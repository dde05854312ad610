import { sql } from 'kysely'
import t from 'tap'
import { freePort } from '../../../src/embedded/free-port.ts'
import { claimHeads } from '../../../src/engine/claim/claim.ts'
import { newId } from '../../../src/ids.ts'
import type { LoggedWrite } from '../../../src/sandbox/storage/write-log.ts'
import { untilSessionsWait } from '../../support/database/sessions.ts'
import { endClaims, expireLeases } from '../../support/engine/leases.ts'
import { attemptsOf, ending, submit } from '../../support/engine/operations.ts'
import { clientData, control, newName } from '../../support/ledger/loans.ts'
import { matchEach } from '../../support/match-each.ts'
import { startProcess, startProcessFor } from '../../support/process.ts'
import { startTestService, type TestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** The settings allow no fewer slots. */
const SLOTS = 2
const OPERATIONS = 12

// Each waits for a deadline, a lease or a timeout to run out.
t.jobs = 3

t.test('of a killed worker’s claims, only those that it sent have an unknown outcome', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { sent, unsent } = await killedWhileSending(service)
  await control(service, 'PUT', '/faults', [])
  startProcessFor(t, 'worker', testEnv(service.databaseUrl, service.ledger.url))
  for (const id of unsent) {
    t.match(await ending(service.call, id), { status: 'success' })
    matchEach(t, await attemptsOf(service, id), [{ outcome: 'done', method: 'POST' }])
  }
  for (const id of sent) {
    t.match(await ending(service.call, id), { status: 'success' })
    const attempts = [{ outcome: 'unknown' }, { outcome: 'done', method: 'GET' }]
    matchEach(t, await attemptsOf(service, id), attempts)
  }
})

t.test(
  'a killed worker’s claims that it had not sent fail at their deadline; the others stay unknown',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const { sent, unsent } = await killedWhileSending(service)
    await sql`
      update loanops.operation
       set accepted_at = accepted_at - interval '2 days'`.execute(service.db)
    const nowhere = `http://127.0.0.1:${await freePort(0)}/fineract-provider/api/v1`
    startProcessFor(t, 'worker', testEnv(service.databaseUrl, nowhere))
    for (const id of unsent)
      t.match(await ending(service.call, id), { failure_response: { httpStatusCode: '504' } })
    t.same(await unknownIn(service), sent)
  },
)

t.test('a write waits until its start is recorded', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await control(service, 'PUT', '/faults', [
    { kind: 'latency', ms: 4_000, match: { on: 'writes' } },
  ])
  const ids: string[] = []
  for (let n = 0; n <= SLOTS; n++)
    ids.push(await submit(service.call, 'CLIENT_CREATE', clientData(newName('C'))))
  const calls = { LEDGER_CONCURRENCY: String(SLOTS), LEDGER_TIMEOUT_MS: '30000' }
  startProcessFor(t, 'worker', testEnv(service.databaseUrl, service.ledger.url, calls))
  const waiting = await until(() => claimedWithoutSlot(service), 'one is waiting for a slot')
  await service.db.transaction().execute(async trx => {
    await sql`select from loanops.operation where id = ${uuidOf(waiting)} for update`.execute(trx)
    await untilSessionsWait(service.db)
    t.equal(await writesSent(service), SLOTS)
  })
  for (const id of ids) t.match(await ending(service.call, id), { status: 'success' })
  t.equal(await writesSent(service), SLOTS + 1)
})

t.test('an attempt of a process that records no starts counts as started', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const client = newName('C')
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  const claim = async () =>
    (await claimHeads(service.db, newId(), [`client:${client}`], { startable: [] })).claims
  t.match(await claim(), [{ number: 1 }])
  await sql`
    update loanops.operation
       set claimed_by = gen_random_uuid(), claimed_at = now(), attempt = attempt + 1`.execute(
    service.db,
  )
  await endClaims(service)
  t.match(await claim(), [{ number: 3, lookFirst: true, unknownSince: Date }])
  matchEach(t, await attemptsOf(service, id), [{ attempt: 2, outcome: 'unknown' }])
})

/** Kills a worker that has claimed more operations than it has slots, while the ledger withholds its answers. */
async function killedWhileSending(service: TestService) {
  const calls = { LEDGER_CONCURRENCY: String(SLOTS), LEDGER_TIMEOUT_MS: '30000' }
  const hang = { kind: 'hang', applied: true, match: { on: 'writes' } }
  await control(service, 'PUT', '/faults', [hang])
  const victim = startProcess('worker', testEnv(service.databaseUrl, service.ledger.url, calls))
  const clients = Array.from({ length: OPERATIONS }, () => newName('C'))
  const ids = new Map<string, string>()
  for (const client of clients)
    ids.set(client, await submit(service.call, 'CLIENT_CREATE', clientData(client)))
  await until(async () => (await writesSent(service)) === SLOTS, 'its slots are taken')
  for (const id of ids.values()) await until(() => isClaimed(service, id), 'all are claimed')
  await victim.kill('SIGKILL')
  await expireLeases(service.db)
  const { log } = await control(service, 'GET', '/log?limit=1000')
  const sentTo = new Set((log as LoggedWrite[]).map(({ externalId }) => externalId))
  const idsOf = (isMeant: (client: string) => boolean) =>
    clients.filter(isMeant).map(client => ids.get(client) as string)
  return { sent: idsOf(client => sentTo.has(client)), unsent: idsOf(client => !sentTo.has(client)) }
}

async function writesSent(service: TestService): Promise<number> {
  return (await control(service, 'GET', '/counters')).calls['CREATE/CLIENT'] ?? 0
}

const uuidOf = (trackingId: string) => trackingId.split('|')[1] as string

async function isClaimed({ db }: TestService, trackingId: string): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.operation
     where id = ${uuidOf(trackingId)} and claimed_by is not null`.execute(db)
  return rows.length === 1
}

/** The tracking id of an operation that a worker has claimed and not started. */
async function claimedWithoutSlot({ db }: TestService): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select operation_type || '|' || id as id from loanops.operation
     where claimed_by is not null and unstarted_attempt = attempt
       and (select count(*) from loanops.operation
             where claimed_by is not null and unstarted_attempt is distinct
              from attempt) = ${SLOTS}`.execute(db)
  return rows[0]?.id
}

/** The tracking ids of operations whose outcome is unknown, in the order of acceptance. */
async function unknownIn({ db }: TestService): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select tracking_id as id from ops.operation where waiting_for = 'outcome_unknown'
     order by seq`.execute(db)
  return rows.map(({ id }) => id)
}
