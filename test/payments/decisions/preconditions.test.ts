import { sql } from 'kysely'
import t from 'tap'
import { startWithAccounts } from '../../support/accounts/admin.ts'
import { withReadback } from '../../support/books/readback.ts'
import { waitingTransaction } from '../../support/database/locks.ts'
import { capturedA, eventA, refundA } from '../../support/payments/gateway-events.ts'
import { LENDER, withLedger } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const DISMISS = { outcome: 'dismiss', note: 'x' }
const POST = {
  outcome: 'post',
  external_loan_id: 'L-1',
  amount: 1_000,
  paid_on: '06 February 2026',
  note: 'agreed',
}

const accounts = await startWithAccounts(t, { ROLE: 'all' })
const service = withReadback(withLedger(accounts))
const person = accounts.admin
await service.loan('L-1', { principal: 90_000 })

const path = (id: string) => `/api/payments/gateway_a/${id}`
const decide = (id: string, resolution: object, headers = {}) =>
  service.call('POST', `${path(id)}/resolve`, resolution, headers)
const assign = (id: string, loan: string, headers = {}) =>
  service.call('POST', `${path(id)}/assign`, { external_loan_id: loan }, headers)
const etag = async (id: string) =>
  (await service.call('GET', path(id))).headers.get('etag') as string
const fate = async (id: string) => {
  const { state, reason, objection } = (await service.payment(id)).payment
  return [state, reason, objection]
}
async function sent(event: object): Promise<void> {
  await service.webhook('gateway_a', event, LENDER)
  await service.batch()
}
/** A posted payment with an objection. */
async function objected(id: string): Promise<void> {
  await sent(capturedA({ id, loan: 'L-1' }))
  await sent(refundA({ id: `r_${id}`, of: id }))
}

t.test('a payment’s ETag changes with its state, reason, objection, amount and loan', async t => {
  const tags: string[] = []
  const note = async (change: () => Promise<unknown>) => {
    await change()
    tags.push(await etag('pay_tag'))
  }
  await note(() => sent(capturedA({ id: 'pay_tag' })))
  const same = await etag('pay_tag')
  t.match(same, /^"[0-9a-f]{32}"$/)
  t.equal(same, tags[0], 'not by itself')
  await note(() => assign('pay_tag', 'L-2'))
  await note(() => service.batch())
  await note(() => assign('pay_tag', 'L-1'))
  await note(() => service.batch())
  await note(() => sent(refundA({ id: 'r_tag', of: 'pay_tag' })))
  await note(() =>
    sql`
      update core.transaction set amount = 5
       where gateway_payment_id = 'pay_tag'`.execute(service.db),
  )
  t.equal(new Set(tags).size, 7)
})

t.test('a decision with another If-Match than the payment’s ETag is refused', async t => {
  await sent(capturedA({ id: 'pay_match' }))
  const stale = { 'if-match': '"5d41402abc4b2a76b9719d911017c592"' }
  const refused = { status: 412, body: { code: 'PRECONDITION_FAILED' } }
  t.match(await decide('pay_match', DISMISS, stale), refused)
  t.match(await assign('pay_match', 'L-1', stale), refused)
  const one = { 'if-match': `"x", ${await etag('pay_match')}` }
  t.match(await assign('pay_match', 'L-1', one), { status: 200 })
  await service.batch()
  t.match(await decide('pay_match', DISMISS, { 'if-match': '*' }), { status: 409 })
})

t.test('an ETag that a compressing proxy has changed is as good as the payment’s own', async t => {
  for (const [id, changed] of [
    ['pay_weak', (tag: string) => `W/${tag}`],
    ['pay_gzip', (tag: string) => tag.replace(/"$/, '-gzip"')],
  ] as const) {
    await sent(capturedA({ id }))
    const seen = { 'if-match': changed(await etag(id)) }
    t.match(await decide(id, DISMISS, seen), { status: 200 }, id)
  }
})

t.test('a person decides about a payment that was ever posted only with If-Match', async t => {
  await objected('pay_ever')
  const required = { status: 428, body: { code: 'PRECONDITION_REQUIRED' } }
  t.match(await decide('pay_ever', DISMISS, person), required)
  await service.undo('gateway_a-pay_ever')
  await service.check('pay_ever')
  t.match(await assign('pay_ever', 'L-1', person), required, 'also once it is undone')
  const list = {
    assignments: [
      { gateway: 'gateway_a', gateway_payment_id: 'pay_ever', external_loan_id: 'L-1' },
    ],
  }
  t.match(await service.call('POST', '/api/payments/assign', list, person), {
    status: 200,
    body: { results: [{ status: 428, code: 'PRECONDITION_REQUIRED' }] },
  })
  const seen = { ...person, 'if-match': await etag('pay_ever') }
  t.match(await assign('pay_ever', 'L-1', seen), { status: 200 })
  await sent(capturedA({ id: 'pay_never' }))
  t.match(await decide('pay_never', DISMISS, person), { status: 200 }, 'never posted')
})

t.test('clearing an objection never dismisses a payment whose repayment was undone', async t => {
  await objected('pay_undone')
  const seen = { 'if-match': await etag('pay_undone') }
  await service.undo('gateway_a-pay_undone')
  await service.check('pay_undone')
  t.match(await decide('pay_undone', DISMISS, seen), { status: 412 })
  t.same(await fate('pay_undone'), ['suspense', 'reversed_at_ledger', null])
})

t.test('a decision is refused once a refund came that its maker cannot have seen', async t => {
  await objected('pay_cleared')
  await sent(refundA({ id: 'r_first', of: 'pay_more' }))
  await sent(capturedA({ id: 'pay_more', loan: 'L-1' }))
  const decisions = [
    ['pay_cleared', DISMISS, ['posted', null, 'refund']],
    ['pay_more', POST, ['suspense', 'refund', null]],
  ] as const
  for (const [id, resolution, stays] of decisions) {
    const seen = { 'if-match': await etag(id) }
    await sent(refundA({ id: `further_${id}`, of: id }))
    t.match(await decide(id, resolution, seen), { status: 412 })
    t.same(await fate(id), stays)
  }
})

t.test('a decision about a payment that changes meanwhile is refused', async t => {
  await objected('pay_race')
  const answer = await service.db.transaction().execute(async trx => {
    await sql`select core.lock_settling()`.execute(trx)
    const answer = { comes: decide('pay_race', DISMISS) }
    await until(() => waitingTransaction(service.db), 'the decision waits')
    await sql`
      update core.transaction set objection = 'chargeback'
       where gateway_payment_id = 'pay_race' and kind = 'payment'`.execute(trx)
    return answer
  })
  t.match(await answer.comes, { status: 409, body: { code: 'CONFLICT' } })
})

t.test('a handled or dismissed payment is reopened with the reason that it had', async t => {
  const reopen = { outcome: 'reopen', note: 'a mistake' }
  await sent(capturedA({ id: 'pay_posted', loan: 'L-1' }))
  t.match(await decide('pay_posted', reopen), { status: 409 })
  const ways: Record<string, (id: string) => Promise<unknown>> = {
    no_loan_named: id => sent(capturedA({ id })),
    loan_unknown: id => sent(capturedA({ id, loan: 'L-none' })),
    reversed_at_ledger: async id => {
      await sent(capturedA({ id, loan: 'L-1' }))
      await service.undo(`gateway_a-${id}`)
      await service.check(id)
    },
  }
  for (const [reason, hold] of Object.entries(ways)) {
    const id = `pay_${reason}`
    await hold(id)
    const shown = async () => ({ ...(await service.payment(id)).payment, next_try_at: null })
    const before = await shown()
    t.match(before, { state: 'suspense', reason })
    for (const resolution of [
      DISMISS,
      { outcome: 'handled', note: 'x', external_loan_id: 'L-9' },
    ]) {
      t.match(await decide(id, resolution), { status: 200 })
      t.match(await decide(id, reopen), { status: 200, body: { state: 'suspense', reason } })
      await service.batch()
      t.same(await shown(), before, `${reason} after ${resolution.outcome}`)
    }
  }
  t.match(await decide('pay_reversed_at_ledger', POST), { status: 200 })
  await service.batch()
  t.same(await fate('pay_reversed_at_ledger'), ['posted', null, null])
  const { rows } = await sql`
    select detail ->> 'note' as note from ops.audit
     where action = 'payment.reopen' and subject = 'gateway_a/pay_no_loan_named'
      limit 1`.execute(service.db)
  t.match(rows, [{ note: 'a mistake' }])
})

t.test('a reopened payment that nothing holds any longer still waits for an operator', async t => {
  await sent(refundA({ id: 'r_held', of: 'pay_held' }))
  await sent(capturedA({ id: 'pay_held', loan: 'L-1' }))
  t.same(await fate('pay_held'), ['suspense', 'refund', null])
  await decide('pay_held', DISMISS)
  await sql`
    update core.event set status = 'undone' where gateway_payment_id = 'r_held'`.execute(service.db)
  await decide('pay_held', { outcome: 'reopen', note: 'x' })
  await service.batch()
  t.same(await fate('pay_held'), ['suspense', 'refund', null])
})

t.test('a reopened payment is not posted by itself once its refund is gone', async t => {
  await sent(refundA({ id: 'r_gone', of: 'pay_gone' }))
  await sent(capturedA({ id: 'pay_gone', loan: 'L-1' }))
  await decide('pay_gone', DISMISS)
  await decide('pay_gone', { outcome: 'reopen', note: 'x' })
  await sql`
    update core.event set status = 'undone' where gateway_payment_id = 'r_gone'`.execute(service.db)
  await sql`
    select core.settle('gateway_a', array['pay_gone'], has_news => true)`.execute(service.db)
  await service.batch()
  t.same(await fate('pay_gone'), ['suspense', 'refund', null])
})

t.test('a reopened payment is not posted by itself once a new event lacks its fault', async t => {
  await service.webhook('gateway_a', capturedA({ id: 'pay_right', loan: 'L-1' }), {
    lender: 'LENDER_06',
  })
  await service.batch()
  t.same(await fate('pay_right'), ['suspense', 'lender_mismatch', null])
  await decide('pay_right', DISMISS)
  await decide('pay_right', { outcome: 'reopen', note: 'x' })
  await sent(eventA('order.paid', { id: 'pay_right', loan: 'L-1' }))
  t.same(await fate('pay_right'), ['suspense', 'lender_mismatch', null])
  await assign('pay_right', 'L-1')
  await service.batch()
  t.same(await fate('pay_right'), ['posted', null, null])
})
