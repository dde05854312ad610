import { sql } from 'kysely'
import t, { type Test } from 'tap'
import {
  capturedA,
  drawB,
  eventA,
  PAID_AT,
  refundA,
  successB,
} from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

async function withReferences(t: Test) {
  const service = await paymentService(t)
  for (const loan of ['L-1', 'L-2']) await service.loan(loan)
  const path = (name: string, query = '') => {
    const [kind = '', value = '', gateway = 'gateway_a'] = name.split(' ')
    return `/api/references/${gateway}/${kind}/${encodeURIComponent(value)}${query}`
  }
  return {
    ...service,
    put: (name: string, loan: string, period: object = {}, query = '') =>
      service.call('PUT', path(name, query), { external_loan_id: loan, ...period }),
    remove: (name: string) => service.call('DELETE', path(name)),
    send: (event: object, gateway: 'gateway_a' | 'gateway_b' = 'gateway_a') =>
      service.webhook(gateway, event, LENDER),
    /** Sends the event of a transfer into a virtual account. */
    transfer: (id: string, account: string, facts: object = {}) =>
      service.webhook('gateway_a', transferA(id, account, facts), LENDER),
    fate: async (id: unknown, gateway = 'gateway_a') => {
      const { payment } = await service.payment(id, gateway)
      const { state, reason, external_loan_id, matched_by, suggested_loan } = payment
      return [state, reason, external_loan_id, matched_by, suggested_loan]
    },
  }
}

const transferA = (id: string, account: string, facts: object = {}) =>
  eventA('virtual_account.credited', {
    id,
    payload: {
      virtual_account: {
        entity: { id: account, notes: [], receivers: [{ account_number: `1112${account}` }] },
      },
    },
    ...facts,
  })

t.test('a reference names the loan of the payments that carry it', async t => {
  const service = await withReferences(t)
  const { put, send, transfer, fate } = service
  const ids = { link: 'plink_1', receipt: null }
  await transfer('pay_id', 'va_1')
  await transfer('pay_number', 'va_2')
  await send(capturedA({ id: 'pay_token', payment: { token_id: 'token_1' } }))
  await send(
    eventA('subscription.charged', {
      id: 'pay_sub',
      payload: { subscription: { entity: { id: 'sub_1' } } },
    }),
  )
  await send(capturedA({ id: 'pay_order', payment: { order_id: 'order_1' } }))
  await send(
    eventA('payment_link.paid', {
      id: 'pay_link',
      payload: { payment_link: { entity: { id: ids.link } } },
    }),
  )
  await send(successB({ id: 7, tags: { cf_link_id: '99' } }), 'gateway_b')
  await send(drawB('SUBSCRIPTION_PAYMENT_SUCCESS'), 'gateway_b')
  await service.batch()
  t.same(await fate('pay_id'), ['suspense', 'no_loan_named', null, null, null])
  for (const [name, id] of [
    ['virtual_account va_1', 'pay_id'],
    ['virtual_account 1112va_2', 'pay_number'],
    ['mandate token_1', 'pay_token'],
    ['mandate sub_1', 'pay_sub'],
    ['order order_1', 'pay_order'],
    ['payment_link plink_1', 'pay_link'],
    ['payment_link 99 gateway_b', 7],
    ['mandate sub-1 gateway_b', '49914526'],
  ] as const) {
    const { status, body } = await put(name, 'L-1')
    t.equal(status, 201, name)
    t.equal(body.waiting, 1, name)
    t.equal((await put(name, 'L-1')).status, 200, 'the same again')
    const [kind, , gateway = 'gateway_a'] = name.split(' ')
    await service.batch()
    t.same(await fate(id, gateway), ['posted', null, 'L-1', kind, null], name)
  }
})

t.test('a payment is matched as it comes, and a loan in its notes comes first', async t => {
  const service = await withReferences(t)
  const { put, send, transfer, fate } = service
  await put('virtual_account va_1', 'L-1')
  await transfer('pay_1', 'va_1')
  await transfer('pay_2', 'va_1', { loan: 'L-1' })
  await transfer('pay_3', 'va_1', { loan: 'L-2' })
  await put('order order_2', 'L-2')
  await transfer('pay_4', 'va_1', { payment: { order_id: 'order_2' } })
  await service.batch()
  t.same(await fate('pay_1'), ['posted', null, 'L-1', 'virtual_account', null])
  t.same(await fate('pay_2'), ['posted', null, 'L-1', 'notes', null])
  t.same(await fate('pay_3'), ['suspense', 'events_disagree', 'L-2', 'notes', null])
  t.same(await fate('pay_4'), ['suspense', 'events_disagree', null, null, null])
  await service.remove('order order_2')
  await service.batch()
  t.same(await fate('pay_4'), ['posted', null, 'L-1', 'virtual_account', null])
  await send(refundA({ of: 'pay_4' }))
  await service.remove('virtual_account va_1')
  await service.batch()
  t.match(await fate('pay_4'), ['posted', null, 'L-1'], 'what was posted stays')
  t.match(await fate('pay_3'), ['posted', null, 'L-2', 'notes'], 'nothing contradicts it any more')
})

t.test('the second event of a payment may bring its reference', async t => {
  const { put, send, transfer, batch, fate } = await withReferences(t)
  await put('virtual_account va_1', 'L-1')
  await send(capturedA({ id: 'pay_1' }))
  await batch()
  t.match(await fate('pay_1'), ['suspense', 'no_loan_named'])
  await transfer('pay_1', 'va_1')
  await batch()
  t.match(await fate('pay_1'), ['posted', null, 'L-1', 'virtual_account'])
})

t.test('a reference counts on the days of its period, by the time of the payment', async t => {
  const { put, remove, transfer, batch, fate, call } = await withReferences(t)
  const name = 'virtual_account va_1'
  await put(name, 'L-1', { valid_until: '2026-02-04' })
  t.equal((await put(name, 'L-2', { valid_from: '2026-02-05' })).status, 201)
  const day = 24 * 60 * 60
  await transfer('pay_before', 'va_1', { payment: { created_at: PAID_AT - day } })
  await transfer('pay_then', 'va_1')
  await batch()
  t.match(await fate('pay_before'), ['posted', null, 'L-1'])
  t.match(await fate('pay_then'), ['posted', null, 'L-2'])
  const { status, body } = await put(name, 'L-1', { valid_until: '2026-02-05' })
  t.equal(status, 409)
  t.match(body.detail, /L-2/)
  const replaced = await put(name, 'L-1', { valid_from: '2026-03-01' }, '?replace=true')
  t.match(replaced, { status: 200, body: { valid_from: '2026-03-01', valid_until: null } })
  const { body: list } = await call('GET', '/api/references?gateway=gateway_a&kind=virtual_account')
  t.same(
    list.references.map((one: any) => [one.external_loan_id, one.valid_from, one.valid_until]),
    [
      ['L-2', '2026-02-05', '2026-02-28'],
      ['L-1', '2026-03-01', null],
    ],
  )
  t.equal((await remove(name)).status, 204)
  t.equal((await remove(name)).status, 404)
})

t.test('a customer or payer only suggests a loan', async t => {
  const service = await withReferences(t)
  const { put, send, batch, fate, assign } = service
  await send(capturedA({ id: 'pay_1', payment: { customer_id: 'cust_1', vpa: 'Asha@UPI' } }))
  await batch()
  t.equal((await put('payer asha@upi', 'L-1')).body.waiting, 0, 'releases nothing')
  await batch()
  t.same(await fate('pay_1'), ['suspense', 'awaiting_review', null, null, 'L-1'])
  await put('customer cust_1', 'L-2')
  await batch()
  t.same(await fate('pay_1'), ['suspense', 'no_loan_named', null, null, null], 'they disagree')
  await service.remove('payer ASHA@upi')
  await batch()
  t.same(await fate('pay_1'), ['suspense', 'awaiting_review', null, null, 'L-2'])
  await assign('pay_1', 'L-1')
  await batch()
  t.match(await fate('pay_1'), ['posted', null, 'L-1', 'operator'])
})

t.test('a preview counts what would be released, and stores nothing', async t => {
  const { put, transfer, batch, fate, call, db } = await withReferences(t)
  for (const id of ['pay_1', 'pay_2', 'pay_3']) await transfer(id, 'va_1')
  await transfer('pay_late', 'va_1', { payment: { created_at: PAID_AT + 10 * 24 * 60 * 60 } })
  await batch()
  const period = { valid_until: '2026-02-06' }
  const preview = await put('virtual_account va_1', 'L-1', period, '?dry_run=true')
  t.match(preview, { status: 201, body: { waiting: 3 } })
  t.same((await call('GET', '/api/references')).body.references, [])
  await batch()
  t.match(await fate('pay_1'), ['suspense', 'no_loan_named'])
  await put('virtual_account va_1', 'L-1', period)
  await batch()
  const { rows } = await sql<{ posted: number }>`
    select count(*)::integer as posted from ops.payment where state = 'posted'`.execute(db)
  t.same(rows, [{ posted: 3 }])
})

t.test('every check applies to a payment that a reference gives its loan', async t => {
  const service = await withReferences(t)
  await service.loan('L-3', { product: 3 })
  await service.put('virtual_account va_3', 'L-3')
  await service.put('virtual_account va_none', 'L-none')
  await service.transfer('pay_3', 'va_3')
  await service.transfer('pay_none', 'va_none')
  await service.batch()
  t.match(await service.fate('pay_3'), ['suspense', 'lender_mismatch', 'L-3'])
  t.match(await service.fate('pay_none'), ['suspense', 'loan_unknown', 'L-none'])
  t.match(await service.put('virtual_account va_none', 'L-1'), { status: 409 })
  await service.put('virtual_account va_none', 'L-1', {}, '?replace=true')
  await service.batch()
  t.match(await service.fate('pay_none'), ['posted', null, 'L-1'])
})

t.test('of 50 registrations of one value at once, one wins', async t => {
  const { put, call } = await withReferences(t)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => put('virtual_account va_1', `L-${i}`)),
  )
  const statuses = answers.map(({ status }) => status).sort()
  t.same(statuses, [201, ...Array.from({ length: 49 }, () => 409)])
  t.equal((await call('GET', '/api/references')).body.references.length, 1)
})

t.test('bad references are refused', async t => {
  const { put, call } = await withReferences(t)
  for (const [name, period] of [
    ['receipt r_1', {}],
    ['order o_1 gateway_x', {}],
    [`order ${'x'.repeat(201)}`, {}],
    ['order o_1', { valid_from: '2026-02-30' }],
    ['order o_1', { valid_from: '2026-02-02', valid_until: '2026-02-01' }],
  ] as const)
    t.equal((await put(name, 'L-1', period)).status, 400, name)
  t.equal((await put('order o_1', '..')).status, 400)
  t.equal((await call('GET', '/api/references?kind=receipt')).status, 400)
  t.equal((await put(`order ${'x'.repeat(200)}`, 'L-1')).status, 201)
})

t.test('a change of days is audited with the days before', async t => {
  const { put, db } = await withReferences(t)
  await put('order o_1', 'L-1', { valid_from: '2026-02-01' })
  await put('order o_1', 'L-1', { valid_from: '2026-02-01' })
  await put('order o_1', 'L-1', { valid_from: '2026-03-01' })
  const { rows } = await sql<{ before: object | null }>`
    select detail -> 'before' as before from ops.audit where action = 'reference.put'
     order by at`.execute(db)
  t.same(
    rows.map(({ before }) => before),
    [null, null, { valid_from: '2026-02-01', valid_until: null }],
  )
})

t.test('changes are audited, a replacement with both loans', async t => {
  const { put, remove, db } = await withReferences(t)
  await put('order o_1', 'L-1')
  await put('order o_1', 'L-2', { valid_from: '2026-02-01' }, '?replace=true')
  await remove('order o_1')
  const { rows } = await sql<{ said: string }>`
    select action || ' ' || subject || ' ' || coalesce(detail #>> '{replaced,0,external_loan_id}', detail ->> 'replaced_by', '') as said
      from ops.audit where action like 'reference.%' order by at, action`.execute(db)
  t.same(rows.map(({ said }) => said.trim()).sort(), [
    'reference.delete loan:L-1',
    'reference.delete loan:L-2',
    'reference.put loan:L-1',
    'reference.put loan:L-2 L-1',
    'reference.replace loan:L-1 L-2',
  ])
})

t.test('a reference counts however many events of the payment came before it', async t => {
  const { put, transfer, send, batch, fate } = await withReferences(t)
  await put('virtual_account va_1', 'L-2')
  for (const n of Array(11).keys()) await send({ ...capturedA({ id: 'pay_1' }), n })
  await transfer('pay_1', 'va_1')
  for (const n of Array(11).keys()) await send({ ...capturedA({ id: 'pay_2', loan: 'L-1' }), n })
  await transfer('pay_2', 'va_1', { loan: 'L-1' })
  await batch()
  t.same(await fate('pay_1'), ['posted', null, 'L-2', 'virtual_account', null])
  t.match(await fate('pay_2'), ['suspense', 'events_disagree'])
})
