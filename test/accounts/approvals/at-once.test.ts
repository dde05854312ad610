import { sql } from 'kysely'
import t from 'tap'
import { approvalsFeature } from '../../../src/accounts/approvals/approvals-feature.ts'
import { endDue } from '../../../src/accounts/approvals/end-due.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { portfolioCalls } from '../../../src/portfolio/portfolio-calls.ts'
import { makeAccounts } from '../../support/accounts/admin.ts'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { workerUrl } from '../../support/database/template.ts'
import { startDoomedApi } from '../../support/doomed-api.ts'
import { uploadCsv } from '../../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../../support/portfolio/rows.ts'
import { crashPointsIn } from '../../support/process.ts'
import { caller } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const RULES = 'payment.dismiss,account.register,account.reset,portfolio.discard,ledger.pause'
const service = await withApprovals(t, RULES)
const { asha, ravi, admin, held, payment, db } = service
const HOUR_MS = 3_600_000
const PASSWORD = 'one more good pass phrase'
const DISMISS = { outcome: 'dismiss', note: 'a forgery' }
const effects = async (id: string) => {
  const { rows } = await sql`
    select from ops.audit where action = 'payment.resolve' and subject = ${`gateway_a/${id}`}`.execute(
    db,
  )
  return rows.length
}
async function made(role: 'admin' | 'operator', username: string) {
  await makeAccounts(db, { [role]: { username, password: PASSWORD } })
  return service.login({ username, password: PASSWORD })
}
async function proposed(id: string): Promise<string> {
  await held(id)
  return (await asha.post(`payments/gateway_a/${id}/resolve`, DISMISS)).body.approval_id
}

t.test('a hundred approvals of one proposal at once have one effect', async t => {
  const id = await proposed('pay_1')
  // A busy service answers 503, and its callers ask again.
  const approved = () =>
    until(async () => {
      const answer = await ravi.approve(id)
      return answer.status !== 503 && answer
    }, 'an answer to the approval')
  const answers = await Promise.all(Array.from({ length: 100 }, approved))
  const byStatus = Map.groupBy(answers, ({ status }) => status)
  t.equal(byStatus.get(200)?.length, 1)
  t.same([...byStatus.keys()].sort(), [200, 409])
  t.equal(await effects('pay_1'), 1)
})

t.test('a process that dies in an approval has done all of it, or nothing', async t => {
  for (const [i, point] of approvalsFeature.crashPoints.entries()) {
    const paymentId = `pay_crash_${i}`
    const id = await proposed(paymentId)
    const doomed = await startDoomedApi(t, service, point, { APPROVALS: RULES })
    const other = caller(doomed.url)
    await other('POST', `/api/approvals/${id}/approve`, {}, ravi.headers).catch(() => undefined)
    await doomed.ended
    t.same(crashPointsIn(doomed.said), [point])
    const isDone = point === 'approval.committed'
    t.equal(await effects(paymentId), isDone ? 1 : 0, point)
    t.equal((await ravi.approve(id)).status, isDone ? 409 : 200, 'and it can be done after all')
    t.equal(await effects(paymentId), 1)
    t.equal((await payment(paymentId)).payment.state, 'dismissed')
  }
})

t.test('no proposal holds a password, nor the hash of one once it is approved', async t => {
  const account = { username: 'new.person', password: 'an entirely new phrase', role: 'operator' }
  const other = { username: 'second.admin', password: 'one more pass phrase', role: 'admin' }
  const asked = await admin.post('account/register', account)
  t.match(asked, { status: 202, body: { act: 'account.register', subject: 'new.person' } })
  const again = await admin.post('account/register', { ...account, username: 'New.Person' })
  t.match(again, { status: 409 }, 'usernames ignore case')
  const { approval_id: id } = asked.body
  const { rows } = await sql<{ row: string }>`
    select row_to_json(a)::text as row from loanops.approval a where id = ${id}`.execute(db)
  t.notMatch(rows[0]?.row, account.password)
  t.same((await asha.get(`approvals/${id}`)).body.request, {
    username: 'new.person',
    role: 'operator',
  })
  t.match(await ravi.approve(id), { status: 403, body: { code: 'FORBIDDEN' } }, 'no administrator')
  const second = await made('admin', 'uma.second')
  t.match(await second.approve(id), { status: 201, body: { username: 'new.person' } })
  const { rows: left } = await sql<{ row: string }>`
    select row_to_json(a)::text as row from loanops.approval a where id = ${id}`.execute(db)
  t.notMatch(left[0]?.row, /argon2|password_hash/)
  t.equal((await service.call('POST', '/api/account/login', account)).status, 400)
  const { username, password } = account
  t.equal((await service.call('POST', '/api/account/login', { username, password })).status, 200)

  const reset = await admin.post('account/new.person/reset')
  t.match(reset, { status: 202, body: { act: 'account.reset', subject: 'new.person' } })
  const done = await second.approve(reset.body.approval_id)
  t.match(done, { status: 200, body: { password: /^.{12,}$/ } })
  t.equal((await admin.post('account/register', other)).status, 202)
})

t.test('a proposal that is over without a decision keeps no hash of a password', async t => {
  const [lapsed, orphaned] = await Promise.all(
    ['lapsed.person', 'orphan.person'].map(async username => {
      const account = { username, password: 'an entirely new phrase', role: 'operator' }
      return (await admin.post('account/register', account)).body.approval_id
    }),
  )
  await sql`update loanops.approval set expires_at = now() where id = ${lapsed}`.execute(db)
  await sql`update loanops.approval set proposed_by = 'asha.rao' where id = ${orphaned}`.execute(db)
  const worker = openDatabase(workerUrl(service.databaseUrl), {
    max: 1,
    name: 'test-worker',
    onError() {},
  })
  t.teardown(() => worker.destroy())
  await endDue(worker)
  const { rows } = await sql`
    select state from loanops.approval
     where id in (${lapsed}, ${orphaned}) and not request::jsonb ? 'password_hash'
      order by state`.execute(db)
  t.same(rows, [{ state: 'expired' }, { state: 'withdrawn' }])
})

t.test('a pause is proposed with its reason, and stale once there is another', async t => {
  const operator = await made('operator', 'om.promoted')
  await sql`update loanops.account set role = 'admin' where username = 'om.promoted'`.execute(db)
  const pause = await asha.post('ledger/pause', { reason: 'close of business' })
  t.match(pause, { status: 202, body: { act: 'ledger.pause', subject: 'ledger' } })
  t.match(await operator.approve(pause.body.approval_id), { status: 401 }, 'his role has changed')
  const chief = await service.login({ username: 'om.promoted', password: PASSWORD })
  t.match(await chief.approve(pause.body.approval_id), {
    status: 200,
    body: { paused: true, reason: 'close of business' },
  })
  t.equal((await asha.post('ledger/resume')).status, 200)
})

t.test('a proposed pause that would be over is stale, and another may be proposed', async t => {
  const until = new Date(Date.now() + HOUR_MS).toISOString()
  const { status, body } = await asha.post('ledger/pause', { reason: 'an hour', until })
  t.equal(status, 202)
  await sql`
      update loanops.approval set request = request || jsonb_build_object('until', now())
       where id = ${body.approval_id}`.execute(db)
  t.match(await ravi.approve(body.approval_id), { status: 409, body: { code: 'STALE' } })
  const next = await asha.post('ledger/pause', { reason: 'a day' })
  t.equal(next.status, 202)
  t.equal(
    (await ravi.post(`approvals/${next.body.approval_id}/reject`, { note: 'no' })).status,
    200,
  )
})

t.test('a dry run is no change of the file that a proposal is about, and a run is', async t => {
  const csv = repaymentsCsv({ loan_external_id: 'L-1', payment_reference: 'dry' })
  const { migration_id: id } = (await uploadCsv(service, 'repayments', csv)).body
  const { discardCall } = portfolioCalls({ forRuns: db, deletion: { add() {} } })
  const trx = await db.startTransaction().execute()
  t.teardown(() => trx.rollback().execute())
  const stateNow = async () => (await discardCall.factsOf(trx, { id })).state
  const before = await stateNow()
  // No worker sees it, and does it.
  await sql`
    update loanops.migration set status = 'running', is_dry_run = true
     where id = ${id}`.execute(trx)
  t.same(await stateNow(), before)
  await sql`update loanops.migration set is_dry_run = false where id = ${id}`.execute(trx)
  t.notSame(await stateNow(), before)
})
