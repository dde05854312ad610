import { sql } from 'kysely'
import t from 'tap'
import { attemptsOf, ending, hurry, listed, submit } from '../support/engine/operations.ts'
import { approval, clientData, control, givenLoan, newName } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { type Call, startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const whole = async (call: Call, trackingId: string) =>
  (await call('GET', `/api/ledger/operations/${encodeURIComponent(trackingId)}`)).body

t.test('equal attempts in a row are one item, whatever their keys', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  const match = { on: 'writes', externalId: loan }
  await control(service, 'PUT', '/faults', [{ kind: 'stuck', match }])
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const path = `/api/ledger/operations/${encodeURIComponent(id)}`
  await until(async () => (await attemptsOf(service, id)).length > 0)
  // A new key: the first one is stuck.
  await service.call('POST', `${path}/resolve`, { outcome: 'retry' })
  await until(async () => {
    await hurry(service, id)
    return new Set((await attemptsOf(service, id)).map(one => one.idempotency_key)).size > 1
  })
  await control(service, 'PUT', '/faults', [])
  await service.call('POST', `${path}/resolve`, { outcome: 'retry' })
  await ending(service.call, id)
  const stored = await attemptsOf(service, id)
  const { attempts } = await whole(service.call, id)
  matchEach(t, attempts, [
    { attempt: 1, times: stored.length - 1, http_status: 425, outcome: 'unknown' },
    { times: 1, http_status: 200, outcome: 'done' },
  ])
  t.ok(attempts[0].ended_at > attempts[0].started_at)
})

t.test('an attempt under way has no end yet', async t => {
  const service = await startTestService(t)
  await control(service, 'PUT', '/faults', [{ kind: 'hang', match: { on: 'writes' } }])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
  const attempts = await until(async () => {
    const { attempts } = await whole(service.call, id)
    return attempts.length > 0 && attempts
  })
  matchEach(t, attempts, [{ attempt: 1, times: 1, ended_at: null, outcome: null }])
})

t.test('a failed operation has the ledger’s first error code, even after the purge', async t => {
  const service = await startTestService(t)
  const loan = newName('L')
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const record = await ending(service.call, id)
  const { error_code } = await listed(service.call, loan, id)
  t.equal(error_code, record.failure_response.errors[0].userMessageGlobalisationCode)
  t.ok(error_code)
  const { rows } = await sql<{ error_code: string }>`
    select error_code from ops.operation where tracking_id = ${id}`.execute(service.db)
  t.equal(rows[0]?.error_code, error_code)
})

t.test('several operations are resolved in one call, each as on its own', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call)
  const match = { on: 'writes', externalId: loan }
  await control(service, 'PUT', '/faults', [{ kind: 'stuck', match }])
  const stuck = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await listed(service.call, loan, stuck)).waiting_for !== null)
  const done = await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
  await ending(service.call, done)
  const nobody = 'LOAN_APPROVE|00000000-0000-7000-8000-000000000000'
  const tracking_ids = [done, 'nonsense', stuck, nobody]
  const body = { tracking_ids, outcome: 'failed' }
  const answer = await service.call('POST', '/api/ledger/operations/resolve', body)
  t.equal(answer.status, 200)
  matchEach(t, answer.body.results, [
    { tracking_id: done, status: 409, code: 'CONFLICT', detail: /can be resolved/ },
    { tracking_id: 'nonsense', status: 400, code: 'INVALID_TRACKING_ID', detail: String },
    { tracking_id: stuck, status: 202, code: null, detail: null },
    { tracking_id: nobody, status: 404, code: 'UNKNOWN_TRACKING_ID', detail: String },
  ])
  t.match(await ending(service.call, stuck), { status: 'failed' })
  const { rows } = await sql`select subject from ops.audit`.execute(service.db)
  matchEach(t, rows, [{ subject: stuck }])
  for (const wrong of [[], Array(201).fill(stuck), [7]]) {
    const { status } = await service.call('POST', '/api/ledger/operations/resolve', {
      tracking_ids: wrong,
      outcome: 'retry',
    })
    t.equal(status, 400)
  }
})
