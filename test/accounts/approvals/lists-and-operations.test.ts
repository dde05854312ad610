import { sql } from 'kysely'
import t from 'tap'
import {
  countOpenApprovals,
  findApprovals,
} from '../../../src/accounts/approvals/find-approvals.ts'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { buffersOf } from '../../support/database/buffers.ts'
import { clientData } from '../../support/ledger/loans.ts'
import { uploadCsv } from '../../support/portfolio/migrate.ts'
import { loansCsv } from '../../support/portfolio/rows.ts'
import { until } from '../../support/until.ts'

const RULES = 'payment.assign>1000,reference.write>1000,operation.resolve,operation.cancel'
const service = await withApprovals(t, RULES)
const { asha, ravi, token, held, payment, call, db } = service
await service.loan('L-1', { principal: 90_000 })
await call('POST', '/api/ledger/pause', { reason: 'nobody may try an operation' })

const assignment = (id: string) => ({
  gateway: 'gateway_a',
  gateway_payment_id: id,
  external_loan_id: 'L-1',
})
const assign = (...ids: string[]) =>
  asha.post('payments/assign', { assignments: ids.map(assignment) })
const stateOf = async (id: string) => (await payment(id)).payment.state

async function failAt(id: string): Promise<void> {
  await sql`
    create or replace function core.fail() returns trigger language plpgsql as 'begin raise exception ''broken''; end';
    create trigger fail before update on core.transaction for each row
      when (new.gateway_payment_id = ${sql.lit(id)}) execute function core.fail()`.execute(db)
}
async function untried(externalId: string): Promise<string> {
  const data = clientData(externalId)
  const { body } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  return body.tracking_id
}
async function hanging(externalId: string): Promise<string> {
  const trackingId = await untried(externalId)
  await sql`
    update loanops.operation set attempts = 1, waiting_for = 'ledger_approval'
     where id = ${trackingId.split('|')[1]}`.execute(db)
  return trackingId
}
const pathOf = (trackingId: string) => `ledger/operations/${encodeURIComponent(trackingId)}`

t.test('to remember a reference needs approval however small its payment is', async t => {
  await held('pay_small', 50_000)
  const path = 'payments/gateway_a/pay_small/assign'
  const remembered = { external_loan_id: 'L-1', remember: ['order'] }
  t.equal((await asha.post(path, remembered)).status, 202)
  t.equal((await asha.post(path, { external_loan_id: 'L-1' })).status, 200)
})

t.test('a list with one item above the amount is proposed as a whole, even alone', async t => {
  for (const [id, amount] of [
    ['pay_1', 100_000],
    ['pay_2', 100_001],
  ] as const)
    await held(id, amount)
  t.match(await assign('pay_1'), { status: 200, body: { results: [{ status: 200 }] } })
  t.match(await assign('pay_2'), { status: 202, body: { act: 'bulk' } })
  await held('pay_3', 50_000)
  const proposed = await assign('pay_2', 'pay_3', 'pay_nobody')
  t.equal(proposed.status, 202)
  const { approval_id: id } = proposed.body
  t.match((await ravi.get(`approvals/${id}`)).body, {
    amount: '1500.01',
    currency: 'INR',
    facts: { count: 3, sum: '1500.01' },
  })
  t.equal(await stateOf('pay_3'), 'suspense')
  t.match(await ravi.approve(id), {
    status: 200,
    body: { results: [{ status: 200 }, { status: 200 }, { status: 404 }] },
  })
  t.same([await stateOf('pay_2'), await stateOf('pay_3')], ['waiting', 'waiting'])
})

t.test('a covered list whose items are all refused is not proposed', async t => {
  await held('pay_large', 100_001)
  const { body } = await assign('pay_large')
  await ravi.approve(body.approval_id)
  t.match(await assign('pay_large', 'pay_nobody'), {
    status: 409,
    body: {
      code: 'CONFLICT',
      detail: /^Every item was refused; the first because: .*state waiting$/,
    },
  })
})

t.test('each item of a list that no rule covers has its own answer', async t => {
  await held('pay_taken', 50_000)
  await assign('pay_taken')
  t.match(await assign('pay_taken', 'pay_nobody'), {
    status: 200,
    body: { results: [{ status: 409 }, { status: 404 }] },
  })
  await held('pay_8', 50_000)
  await held('pay_9', 50_000)
  await failAt('pay_8')
  t.match(await assign('pay_8', 'pay_9'), {
    status: 200,
    body: { results: [{ status: 500, code: 'INTERNAL' }, { status: 200 }] },
  })
  await sql`drop trigger fail on core.transaction`.execute(db)
  t.same([await stateOf('pay_8'), await stateOf('pay_9')], ['suspense', 'waiting'])
})

t.test('an approved list with one failed item is not done, and can be approved again', async t => {
  await held('pay_6', 150_000)
  await held('pay_7', 150_000)
  const { approval_id: id } = (await assign('pay_6', 'pay_7')).body
  await failAt('pay_7')
  t.match(await ravi.approve(id), { status: 500, body: { code: 'INTERNAL' } })
  t.equal(await stateOf('pay_6'), 'suspense')
  await sql`drop trigger fail on core.transaction`.execute(db)
  t.match(await ravi.approve(id), {
    status: 200,
    body: { results: [{ status: 200 }, { status: 200 }] },
  })
})

t.test('a list is stale once one of its items has changed', async t => {
  await held('pay_4', 150_000)
  await held('pay_5', 150_000)
  const { approval_id: id } = (await assign('pay_4', 'pay_5')).body
  const dismiss = { outcome: 'dismiss', note: 'a forgery' }
  t.equal((await token.post('payments/gateway_a/pay_5/resolve', dismiss)).status, 200)
  t.match(await ravi.approve(id), { status: 409, body: { code: 'STALE' } })
  t.equal(await stateOf('pay_4'), 'suspense')
})

t.test('an operation is resolved, or cancelled, once somebody else approves', async t => {
  const cancelled = await untried('C-1')
  const proposed = await asha.post(`${pathOf(cancelled)}/cancel`)
  t.match(proposed, { status: 202, body: { act: 'operation.cancel', subject: cancelled } })
  t.equal((await asha.get(pathOf(cancelled))).body.status, 'processing')
  t.match(await ravi.approve(proposed.body.approval_id), {
    status: 202,
    body: { tracking_id: cancelled, status: 'failed' },
  })
  t.equal((await asha.get(pathOf(cancelled))).body.status, 'failed')

  const resolved = await hanging('C-2')
  const retry = await asha.post(`${pathOf(resolved)}/resolve`, { outcome: 'retry' })
  t.match(retry, { status: 202, body: { act: 'operation.resolve', state: 'proposed' } })
  t.match(await ravi.approve(retry.body.approval_id), {
    status: 202,
    body: { tracking_id: resolved, status: 'processing' },
  })
  const { rows } = await sql`
    select actor, detail from ops.audit
     where action = 'operation.resolve' and subject = ${resolved}`.execute(db)
  t.match(rows, [{ actor: 'asha.rao', detail: { outcome: 'retry', approved_by: 'ravi.iyer' } }])
})

t.test('an operation that was tried meanwhile is not cancelled', async t => {
  const trackingId = await untried('C-3')
  const { approval_id: id } = (await asha.post(`${pathOf(trackingId)}/cancel`)).body
  await sql`
    update loanops.operation set attempts = 1 where id = ${trackingId.split('|')[1]}`.execute(db)
  t.match(await ravi.approve(id), { status: 409, body: { code: 'STALE' } })
})

t.test('a proposal stays open while its operation begins to wait for something else', async t => {
  const cancelled = await untried('C-6')
  const { approval_id: cancel } = (await asha.post(`${pathOf(cancelled)}/cancel`)).body
  const resolved = await hanging('C-7')
  const failed = await asha.post(`${pathOf(resolved)}/resolve`, { outcome: 'failed' })
  await sql`
    update loanops.operation
       set waiting_for = case id when ${cancelled.split('|')[1]}::uuid then 'ledger_unavailable' else 'outcome_unknown' end,
           unknown_since = case id when ${resolved.split('|')[1]}::uuid then now() end
     where id = any(${[cancelled, resolved].map(id => id.split('|')[1])}::uuid[])`.execute(db)
  t.match(await ravi.approve(cancel), { status: 202 })
  t.match(await ravi.approve(failed.body.approval_id), { status: 202 })
})

t.test('a list of operations is proposed as one', async t => {
  const ids = [await hanging('C-4'), await hanging('C-5')]
  const asked = { tracking_ids: ids, outcome: 'retry' }
  t.match(await token.post('ledger/operations/resolve', asked), {
    status: 403,
    body: { code: 'PERSON_REQUIRED' },
  })
  const proposed = await asha.post('ledger/operations/resolve', asked)
  t.match(proposed, { status: 202, body: { act: 'bulk' } })
  t.match(await asha.post('ledger/operations/resolve', asked), { status: 409 })
  t.match(await ravi.approve(proposed.body.approval_id), {
    status: 200,
    body: { results: [{ status: 202 }, { status: 202 }] },
  })
})

t.test('open proposals are found without reading all that were ever decided', async t => {
  await sql`
    insert into loanops.approval (id, call, act, subject, request, facts, fingerprint, state, proposed_by, expires_at)
    select gen_random_uuid(), 'none', 'bulk', n::text, '{}', '{}', '', 'rejected', 'asha.rao', now()
      from generate_series(1, 20000) n`.execute(db)
  await sql`analyze loanops.approval`.execute(db)
  const touched = await buffersOf(service.databaseUrl, async db => {
    await countOpenApprovals(db)
    await findApprovals(db, { state: 'proposed', limit: 50 })
  })
  t.equal(touched.length, 2)
  for (const { statement, buffers } of touched) t.ok(buffers < 100, `${statement}: ${buffers}`)
})

t.test('a row whose operation is cancelled is counted at approval, not at proposal', async t => {
  const { body: file } = await uploadCsv(service, 'loans', loansCsv({}))
  await call('POST', '/api/migration/run', { migration_id: file.migration_id })
  const trackingId = await until(async () => {
    const { rows } = await sql<{ id: string }>`
      select operation_type || '|' || id as id from loanops.operation where origin = 'migration' order by seq
       limit 1`.execute(db)
    return rows[0]?.id
  })
  const failedRows = async () =>
    (await (await fetch(`${service.url}/metrics`)).text()).match(
      /^loanops_migration_rows_total\{state="failed"\} (\d+)$/m,
    )?.[1] ?? '0'
  const { approval_id: id } = (await asha.post(`${pathOf(trackingId)}/cancel`)).body
  t.equal(await failedRows(), '0')
  t.equal((await ravi.approve(id)).status, 202)
  t.equal(await failedRows(), '1')
})
