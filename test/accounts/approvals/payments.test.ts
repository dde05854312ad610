import { sql } from 'kysely'
import t from 'tap'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, refundA, signedA } from '../../support/payments/gateway-events.ts'

const RULES = 'payment.post>1000,payment.assign,payment.dismiss,payment.reopen'
const SIGNED = { gateway_a: { validateSignature: true, secretEnv: 'SECRET_03' } }
const LENDERS_FILE = lendersFile(t, { LENDER_03: SIGNED })
const service = await withApprovals(t, RULES, { LENDERS_FILE, SECRET_03: 's3' })
const { asha, ravi, admin, viewer, token, held, payment, db } = service
await service.loan('L-1', { principal: 90_000 })

const path = (id: string) => `payments/gateway_a/${id}`
const post = (amount: number) => ({
  outcome: 'post',
  external_loan_id: 'L-1',
  amount,
  paid_on: '06 February 2026',
  note: 'agreed',
})
const DISMISS = { outcome: 'dismiss', note: 'a forgery' }
const LOAN = { external_loan_id: 'L-1' }
const stateOf = async (id: string) => (await payment(id)).payment.state

t.test('a covered act by a person is proposed, and does nothing yet', async t => {
  await held('pay_1', 150_000)
  const proposed = await asha.post(`${path('pay_1')}/resolve`, post(1_500))
  t.match(proposed, {
    status: 202,
    body: { act: 'payment.post', subject: 'gateway_a/pay_1', state: 'proposed' },
  })
  t.equal(await stateOf('pay_1'), 'suspense')
  const { approval_id: id } = proposed.body
  const seen = await ravi.get(`approvals/${id}`)
  t.match(seen.body, {
    approval_id: id,
    state: 'proposed',
    amount: '1500',
    currency: 'INR',
    proposed_by: 'asha.rao',
    note: 'agreed',
    decided_by: null,
    request: { gateway: 'gateway_a', gateway_payment_id: 'pay_1', ...post(1_500) },
    facts: {
      state: 'suspense',
      reason: 'no_loan_named',
      amount: '1500',
      verified: false,
      events: 1,
    },
  })

  const approved = await ravi.approve(id, 'checked with the bank')
  t.match(approved, { status: 200, body: { gateway_payment_id: 'pay_1', state: 'waiting' } })
  t.match((await asha.get(`approvals/${id}`)).body, {
    state: 'approved',
    decided_by: 'ravi.iyer',
    decision_note: 'checked with the bank',
  })
  const { rows } = await sql`
    select actor, action, subject, detail from ops.audit
     where subject = 'gateway_a/pay_1' order by at, id`.execute(db)
  t.match(rows, [
    { actor: 'asha.rao', action: 'approval.propose', detail: { approval_id: id } },
    { actor: 'ravi.iyer', action: 'approval.approve', detail: { proposed_by: 'asha.rao' } },
    {
      actor: 'asha.rao',
      action: 'payment.resolve',
      detail: { approval_id: id, approved_by: 'ravi.iyer', amount: 1_500 },
    },
  ])
})

t.test('only an amount above the rule’s needs a second person', async t => {
  await held('pay_2', 100_000)
  t.equal((await asha.post(`${path('pay_2')}/resolve`, post(1_000))).status, 200)
  await held('pay_3', 100_001)
  t.equal((await asha.post(`${path('pay_3')}/resolve`, post(1_000.01))).status, 202)
})

t.test('posting a part of a payment needs the approval that the whole amount needs', async t => {
  await held('pay_4', 100_001)
  t.equal((await asha.post(`${path('pay_4')}/resolve`, post(10))).status, 202)
})

t.test('the token alone neither proposes nor decides', async t => {
  await held('pay_5')
  const refused = { status: 403, body: { code: 'PERSON_REQUIRED' } }
  t.match(await token.post(`${path('pay_5')}/assign`, LOAN), refused)
  const { approval_id: id } = (await asha.post(`${path('pay_5')}/assign`, LOAN)).body
  t.match(await token.approve(id), refused)
  t.match(await token.post(`approvals/${id}/reject`, {}), refused)
  t.match(await token.post(`approvals/${id}/withdraw`), refused)
  t.equal((await token.get(`approvals/${id}`)).body.state, 'proposed')
})

t.test('nobody approves what is their own, and no viewer decides', async t => {
  await held('pay_6')
  const { approval_id: id } = (await asha.post(`${path('pay_6')}/assign`, LOAN)).body
  t.match(await asha.approve(id), { status: 403, body: { code: 'OWN_PROPOSAL' } })
  t.match(await viewer.approve(id), { status: 403, body: { code: 'FORBIDDEN' } })
  t.match(await viewer.post(`approvals/${id}/reject`, {}), { status: 403 })
  t.match(await ravi.post(`approvals/${id}/withdraw`), {
    status: 403,
    body: { code: 'FORBIDDEN', detail: /Only asha\.rao/ },
  })
  t.equal(await stateOf('pay_6'), 'suspense')
  t.match(await asha.post(`approvals/${id}/withdraw`), {
    status: 200,
    body: { state: 'withdrawn' },
  })
  t.match(await ravi.approve(id), { status: 409, body: { code: 'CONFLICT' } })
})

t.test('a proposal ends with its first decision; its payment may be proposed again', async t => {
  await held('pay_7')
  const first = await asha.post(`${path('pay_7')}/assign`, LOAN)
  const again = await ravi.post(`${path('pay_7')}/assign`, LOAN)
  t.match(again, { status: 409, body: { code: 'CONFLICT', detail: /already proposed/ } })
  const rejected = await ravi.post(`approvals/${first.body.approval_id}/reject`, { note: 'why?' })
  t.match(rejected, { status: 200, body: { state: 'rejected', decision_note: 'why?' } })
  t.match(await ravi.approve(first.body.approval_id), { status: 409 })
  const second = await asha.post(`${path('pay_7')}/assign`, LOAN)
  t.match(await ravi.approve(second.body.approval_id), { status: 200, body: { state: 'waiting' } })
  t.match(await ravi.approve(second.body.approval_id), { status: 409, body: { code: 'CONFLICT' } })
})

t.test('acts on a payment and on a refund with its id are proposed beside each other', async t => {
  await held('same_id')
  const refund = refundA({ id: 'same_id', of: 'pay_elsewhere' })
  await service.webhook('gateway_a', refund, { lender: 'LENDER_02' })
  await service.batch()
  for (const kind of ['payment', 'refund'])
    t.match(await asha.post(`${path('same_id')}/resolve?kind=${kind}`, DISMISS), { status: 202 })
  const again = await asha.post(`${path('same_id')}/resolve?kind=refund`, DISMISS)
  t.match(again, { status: 409, body: { detail: /already proposed/ } })
})

t.test('a proposal whose payment has changed since ends as stale', async t => {
  await held('pay_8')
  const { approval_id: id } = (await asha.post(`${path('pay_8')}/resolve`, DISMISS)).body
  await service.webhook('gateway_a', refundA({ of: 'pay_8' }), { lender: 'LENDER_02' })
  await service.batch()
  t.match(await ravi.approve(id), { status: 409, body: { code: 'STALE' } })
  t.match((await ravi.get(`approvals/${id}`)).body, { state: 'stale' })
  t.match(await ravi.approve(id), { status: 409, body: { code: 'CONFLICT' } })
  t.equal(await stateOf('pay_8'), 'suspense')
})

t.test('another event that says the same makes a proposal stale', async t => {
  await held('pay_repeated')
  const { approval_id: id } = (await asha.post(`${path('pay_repeated')}/resolve`, DISMISS)).body
  const paid = { ...capturedA({ id: 'pay_repeated' }), event: 'order.paid' }
  await service.webhook('gateway_a', paid, { lender: 'LENDER_02' })
  await service.batch()
  t.match(await ravi.approve(id), { status: 409, body: { code: 'STALE' } })
})

t.test('an event that does not count makes no proposal stale', async t => {
  const body = JSON.stringify(capturedA({ id: 'pay_signed' }))
  await service.webhook('gateway_a', body, { lender: 'LENDER_03', headers: signedA('s3', body) })
  await service.batch()
  const { approval_id: id } = (await asha.post(`${path('pay_signed')}/resolve`, DISMISS)).body
  await service.webhook('gateway_a', capturedA({ id: 'pay_signed', loan: 'L-1' }))
  await service.batch()
  t.match(await ravi.approve(id), { status: 200, body: { state: 'dismissed' } })
})

t.test('an act that would be refused is not proposed', async t => {
  await held('pay_9')
  const refused = { status: 409, body: { code: 'CONFLICT' } }
  t.match(await asha.post(`${path('pay_9')}/resolve`, { outcome: 'reopen', note: 'x' }), refused)
  await token.post(`${path('pay_9')}/resolve`, { outcome: 'handled', note: 'by hand' })
  t.match(await asha.post(`${path('pay_9')}/assign`, LOAN), refused)
  t.match(await asha.post(`${path('pay_nobody')}/assign`, LOAN), { status: 404 })
  const { rows } = await sql`
    select act, subject from loanops.approval where subject ~ '/pay_(9|nobody)$'`.execute(db)
  t.same(rows, [])
})

t.test('an act that no rule names is done at once, by the token too', async t => {
  await held('pay_10')
  const handled = { outcome: 'handled', note: 'by hand' }
  t.match(await token.post(`${path('pay_10')}/resolve`, handled), {
    status: 200,
    body: { state: 'handled' },
  })
})

t.test('the list is filtered by state and act, newest first, page by page', async t => {
  for (const id of ['pay_older', 'pay_newer', 'pay_gone', 'pay_other']) await held(id, 150_000)
  for (const id of ['pay_older', 'pay_newer']) await asha.post(`${path(id)}/resolve`, post(1_500))
  const { approval_id: gone } = (await asha.post(`${path('pay_gone')}/resolve`, post(1_500))).body
  t.equal((await asha.post(`approvals/${gone}/withdraw`)).status, 200)
  t.equal((await asha.post(`${path('pay_other')}/resolve`, DISMISS)).status, 202)
  const all = await asha.get('approvals?state=proposed&act=payment.post')
  t.same(
    all.body.approvals.slice(0, 2).map((one: { subject: string }) => one.subject),
    ['gateway_a/pay_newer', 'gateway_a/pay_older'],
  )
  const page = await asha.get('approvals?state=proposed&act=payment.post&limit=1')
  const next = await asha.get(
    `approvals?state=proposed&act=payment.post&limit=1&cursor=${page.body.next_cursor}`,
  )
  t.equal(next.body.approvals[0].subject, 'gateway_a/pay_older')
  t.equal((await asha.get('approvals?state=open')).status, 400)
  t.equal((await asha.get('approvals/nothing')).status, 404)
})

t.test('disabling an account ends its open proposals', async t => {
  await admin.post('account/register', {
    username: 'zoe.proposes',
    password: 'a fourth pass phrase',
    role: 'operator',
  })
  const { body } = await service.call('POST', '/api/account/login', {
    username: 'ZOE.proposes',
    password: 'a fourth pass phrase',
  })
  const zoe = { authorization: `Bearer ${body.access_token}` }
  await held('pay_11')
  const proposed = await asha.post(`${path('pay_11')}/assign`, LOAN, zoe)
  t.equal(proposed.status, 202)
  const { approval_id: id } = proposed.body
  t.equal((await admin.post('account/zoe.proposes/disable')).status, 204)
  t.match((await ravi.get(`approvals/${id}`)).body, {
    state: 'withdrawn',
    proposed_by: 'zoe.proposes',
  })
  t.match(await ravi.approve(id), { status: 409, body: { code: 'CONFLICT' } })
  t.equal((await asha.post(`${path('pay_11')}/assign`, LOAN)).status, 202)
})
