import { sql } from 'kysely'
import t from 'tap'
import type { Config } from '../../../src/config/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPassedOn } from '../../../src/engine/attempt/passed-on.ts'
import { runAttempt } from '../../../src/engine/attempt/run-attempt.ts'
import type { AttemptContext } from '../../../src/engine/attempt/running-attempt.ts'
import { type Claim, ClaimGone, claimHeads, rememberSeen } from '../../../src/engine/claim/claim.ts'
import { keepLeases } from '../../../src/engine/claim/leases.ts'
import { type Ended, recordEnds } from '../../../src/engine/finish/finish.ts'
import type { Attempt, Operation } from '../../../src/engine/operation.ts'
import { newId } from '../../../src/ids.ts'
import type { Write } from '../../../src/ledger/calls/client.ts'
import { logger } from '../../../src/log/log.ts'
import { openTraces } from '../../../src/ops/traces/open-traces.ts'
import { endClaims } from '../../support/engine/leases.ts'
import { attemptsOf, ending, submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { matchEach } from '../../support/match-each.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const RENEW_EVERY_MS = 20
const log = { error: (object: object) => t.fail('renewing failed', object) }

t.test('a lost lease covers no write once the same process has claimed again', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const worker = newId()
  const leases = keepLeases(service.db, worker, log, RENEW_EVERY_MS)
  t.teardown(() => leases.stop())
  const { lost, held } = await claimTwice(service, worker)
  leases.add([lost, held], performance.now())
  await until(() => isRenewed(service.db, held), 'a first renewal')
  await until(() => isRenewed(service.db, held), 'a second one, so that the first has taken effect')
  t.notOk(leases.covers(lost))
  t.ok(leases.covers(held))
})

t.test('a lease is renewed while its worker records the end of another attempt', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const worker = newId()
  const leases = keepLeases(service.db, worker, log, RENEW_EVERY_MS)
  t.teardown(() => leases.stop())
  const ending = await claimNew(service, worker)
  const working = await claimNew(service, worker)
  await service.db.transaction().execute(async trx => {
    await sql`select from loanops.operation where id = ${ending.id} for update`.execute(trx)
    leases.add([ending, working], performance.now())
    await until(() => isRenewed(service.db, working), 'a first renewal')
    await until(() => isRenewed(service.db, working), 'a second one')
  })
  t.ok(leases.covers(ending))
  t.ok(leases.covers(working))
  await until(() => isRenewed(service.db, ending), 'what was locked is renewed too')
})

t.test(
  'the late end of a lost claim changes nothing, even in one commit with the end of the next',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const { trackingId, lost, held } = await claimTwice(service, newId())
    const ended = [successOf(lost, 'late'), successOf(held, 'in time')]
    await service.db.transaction().execute(trx => recordEnds(trx, ended))
    t.match(await ending(service.call, trackingId), { success_response: { came: 'in time' } })
    matchEach(t, await attemptsOf(service, trackingId), [
      { outcome: 'unknown' },
      { outcome: 'done' },
    ])
  },
)

t.test('a lease that is lost before a write is no unexpected failure', async t => {
  const log = { error: (line: object) => t.fail('the attempt is logged', line) }
  const traces = await openTraces({} as Config, logger('silent'))
  const operation = { run: ({ ledger }: Attempt) => ledger.write({} as Write) }
  const context = { log, traces, ledger: {}, mayWrite: async () => false }
  const claim = { id: 'x', number: 2, origin: 'api', lookFirst: false } as Claim
  const attempt = context as unknown as AttemptContext
  const { decision, answer } = await runAttempt(
    attempt,
    operation as unknown as Operation,
    claim,
    openPassedOn(),
  )
  t.match(decision, { status: 'processing', lookFirst: false, isUnknown: false })
  t.equal(answer, null)
})

t.test('an attempt remembers nothing once its lease is lost', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { lost, held } = await claimTwice(service, newId())
  const refusal = await rememberSeen(service.db, lost, {}).catch(error => error)
  t.ok(refusal instanceof ClaimGone)
  await t.resolves(rememberSeen(service.db, held, {}))
})

/** Claims an operation, lets the lease run out, and claims the operation again. */
async function claimTwice(service: TestService, worker: string) {
  const { call, db } = service
  const client = newName('C')
  const trackingId = await submit(call, 'CLIENT_CREATE', clientData(client))
  const claimOnce = async () =>
    (await claimHeads(db, worker, [`client:${client}`])).claims[0] as Claim
  const lost = await claimOnce()
  await endClaims(service)
  return { trackingId, lost, held: await claimOnce() }
}

async function claimNew({ call, db }: TestService, worker: string): Promise<Claim> {
  const client = newName('C')
  await submit(call, 'CLIENT_CREATE', clientData(client))
  return (await claimHeads(db, worker, [`client:${client}`])).claims[0] as Claim
}

/** Whether the lease has been renewed; undoes the renewal, so that the next one shows too. */
async function isRenewed(db: Database, { id }: Claim): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update loanops.operation set claimed_until = claimed_at
     where id = ${id} and claimed_until > claimed_at + interval '10 seconds'`.execute(db)
  return numAffectedRows === 1n
}

const successOf = (claim: Claim, came: string): Ended => ({
  claim,
  key: claim.id,
  answer: {
    method: 'POST',
    path: '/clients',
    status: 200,
    body: { came },
    outcome: 'done',
    code: null,
    message: '',
    isRecorded: false,
    isFromStore: false,
    leftNothing: false,
  },
  decision: { status: 'success', response: { came } },
})
