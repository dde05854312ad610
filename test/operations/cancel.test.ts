import { sql } from 'kysely'
import t from 'tap'
import { claimHeads, recordSendings } from '../../src/engine/claim/claim.ts'
import { newId } from '../../src/ids.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { ending, listed, submit } from '../support/engine/operations.ts'
import {
  approval,
  clientData,
  control,
  givenLoan,
  loanData,
  newName,
} from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { type Call, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const cancel = (call: Call, trackingId: string) =>
  call('POST', `/api/ledger/operations/${encodeURIComponent(trackingId)}/cancel`)
const pause = (call: Call) => call('POST', '/api/ledger/pause', { reason: 'test' })
const resume = (call: Call) => call('POST', '/api/ledger/resume')

/** The tests in which no worker may run share this service: each has a client of its own. */
const api = await startTestService(t, { ROLE: 'api' })

async function waitingClient({ call }: TestService) {
  const client = newName('C')
  return { client, id: await submit(call, 'CLIENT_CREATE', clientData(client)) }
}

t.test('an operation that was never attempted is cancelled once, even during a pause', async t => {
  const service = await startTestService(t)
  await pause(service.call)
  const { client, id } = await waitingClient(service)
  const { status, body } = await cancel(service.call, id)
  t.same([status, body], [202, { tracking_id: id, status: 'failed' }])
  t.match(await ending(service.call, id), {
    status: 'failed',
    error_message: 'Refused with status 409: An operator has cancelled this operation',
    failure_response: {
      httpStatusCode: '409',
      errors: [{ userMessageGlobalisationCode: 'loanops.cancelled' }],
    },
  })
  t.match(await listed(service.call, client, id), {
    attempts: 0,
    waiting_for: null,
    error_code: 'loanops.cancelled',
  })
  t.match(await cancel(service.call, id), { status: 409, body: { detail: /nor ended/ } })
  const { rows } = await sql`select action, subject from ops.audit
    where action = 'operation.cancel'`.execute(service.db)
  matchEach(t, rows, [{ action: 'operation.cancel', subject: id }])
  await resume(service.call)
  await waitingClient(service).then(next => ending(service.call, next.id))
  t.equal((await control(service, 'GET', '/counters')).calls['CREATE/CLIENT'], 1)
})

t.test('an operation that waited for a cancelled one goes on', async t => {
  const service = await startTestService(t)
  await pause(service.call)
  const { client, id } = await waitingClient(service)
  const loan = newName('L')
  const create = await submit(service.call, 'LOAN_CREATE', loanData(loan, client))
  const again = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  await cancel(service.call, id)
  await resume(service.call)
  t.match(await ending(service.call, again), { status: 'success' })
  // It was accepted before the client that is there now.
  t.match(await ending(service.call, create), { status: /success|failed/ })
})

t.test('an operation that was attempted cannot be cancelled', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  await control(service, 'PUT', '/faults', [
    { kind: 'locked', match: { on: 'writes', externalId: loan } },
  ])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await listed(service.call, loan, id)).waiting_for === 'ledger_busy')
  const { status, body } = await cancel(service.call, id)
  t.same([status, body.code], [409, 'CONFLICT'])
  await pause(service.call)
  t.equal((await cancel(service.call, id)).status, 409)
})

t.test('a cancel that comes before the start of a claim’s attempt wins', async t => {
  const { client, id } = await waitingClient(api)
  const worker = newId()
  const { claims } = await claimHeads(api.db, worker, [`client:${client}`], { startable: [] })
  t.equal((await cancel(api.call, id)).status, 202)
  t.same(await recordSendings(api.db, worker, claims), [])
})

t.test('a cancel that comes after the start of a claim’s attempt loses', async t => {
  const { client, id } = await waitingClient(api)
  const worker = newId()
  const { claims } = await claimHeads(api.db, worker, [`client:${client}`], { startable: [] })
  t.equal((await recordSendings(api.db, worker, claims)).length, 1)
  t.equal((await cancel(api.call, id)).status, 409)
})

t.test('of a cancel and the start of an attempt at the same moment, exactly one wins', async t => {
  const worker = newId()
  for (let n = 0; n < 30; n++) {
    const { client, id } = await waitingClient(api)
    const { claims } = await claimHeads(api.db, worker, [`client:${client}`], { startable: [] })
    const [{ status }, started] = await Promise.all([
      cancel(api.call, id),
      recordSendings(api.db, worker, claims),
    ])
    t.equal(status === 202, started.length === 0)
  }
})

t.test('an attempt that is recorded while the cancel waits for the row counts', async t => {
  const { id } = await waitingClient(api)
  const uuid = id.split('|')[1]
  const cancelled = await api.db.transaction().execute(async trx => {
    await sql`update loanops.operation set last_error = 'busy' where id = ${uuid}`.execute(trx)
    const answer = cancel(api.call, id)
    await untilSessionsWait(api.db)
    await sql`
      insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
      values (${uuid}, 1, now(), now(), 'not_now')`.execute(trx)
    return { answer }
  })
  t.equal((await cancelled.answer).status, 409)
})

t.test('cancelling an unknown tracking id is a 404, and a malformed one a 400', async t => {
  const { call } = api
  const nobody = await cancel(call, 'LOAN_APPROVE|00000000-0000-7000-8000-000000000000')
  t.same([nobody.status, nobody.body.code], [404, 'UNKNOWN_TRACKING_ID'])
  const malformed = await cancel(call, 'LOAN_APPROVE')
  t.same([malformed.status, malformed.body.code], [400, 'INVALID_TRACKING_ID'])
})
