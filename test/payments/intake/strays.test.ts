import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { asPerson } from '../../support/accounts/as-person.ts'
import {
  capturedA,
  disputeA,
  refundA,
  refundB,
  successB,
} from '../../support/payments/gateway-events.ts'
import { LENDER, type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { sourceOf } from '../../support/payments/source.ts'
import { until } from '../../support/until.ts'

const A = 'gateway_a'
const B = 'gateway_b'
const OF_A = capturedA({ loan: 'L-1' })
const OF_B = successB({ id: 1, loan: 'L-1' })

/** What is in suspense once these events came to a gateway’s URL. */
async function suspense(t: Test, gateway: typeof A | typeof B, ...events: object[]) {
  const source = await sourceOf(t, gateway)
  await source.save(...events)
  await source.transform()
  const { rows } = await sql<any>`
    select kind, case when gateway_payment_id <> raw_id::text then gateway_payment_id end as id, reason, hints
      from core.transaction where state = 'suspense'
       order by kind, received_at, gateway_payment_id`.execute(source.db)
  return { ...source, rows }
}

for (const [what, gateway, other, event, payment] of [
  ['a payment', A, B, OF_B, { payment_id: '1', amount: 1000, external_loan_id: 'L-1' }],
  ['a payment', B, A, OF_A, { payment_id: 'pay_1', amount: 1000, external_loan_id: 'L-1' }],
  [
    'a refund',
    A,
    B,
    refundB({ id: 2, of: 1 }),
    { kind: 'refund', refund_id: '2', of_payment_id: '1' },
  ],
  ['a refund', B, A, refundA(), { kind: 'refund', refund_id: 'rfnd_1', of_payment_id: 'pay_1' }],
  ['a lost dispute', B, A, disputeA('lost'), { kind: 'chargeback', of_payment_id: 'pay_1' }],
  ['a wrapped payment', A, B, { detail: OF_B }, { payment_id: '1' }],
] as const)
  t.test(`${what} of ${other} at the URL of ${gateway} is unreadable`, async t => {
    const { rows } = await suspense(t, gateway, event)
    t.match(rows, [{ id: null, reason: 'unreadable', hints: { gateway: other, ...payment } }])
  })

/** Has a person post the only unreadable event, which came to gateway B’s URL. */
async function postStray(service: PaymentService) {
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const paid = { external_loan_id: 'L-1', amount: 1000, paid_on: '05 February 2026' }
  const path = `/api/payments/gateway_b/${body.payments[0].gateway_payment_id}/resolve`
  const resolution = { outcome: 'post', ...paid, note: 'seen' }
  return service.call('POST', path, resolution, await asPerson(service))
}

t.test('an unreadable refund or dispute is not posted as a payment', async t => {
  for (const [event, what] of [
    [refundA(), 'refund'],
    [disputeA('lost'), 'chargeback'],
  ] as const) {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.webhook(B, event, LENDER)
    await service.batch()
    t.match(await postStray(service), {
      status: 409,
      body: { detail: new RegExp(`^Cannot post an unreadable ${what}: its money went back`) },
    })
    await service.batch()
    t.same(await service.repayments(), [])
  }
})

/** The ways in which common relays wrap an event. */
const WRAPPERS: ((event: object) => object)[] = [
  event => ({ Type: 'Notification', Message: JSON.stringify(event) }),
  event => ({ body: event }),
  event => ({ body: JSON.stringify(event), isBase64Encoded: false }),
  event => ({ data: event }),
  event => ({ event }),
  event => ({ 'detail-type': 'x', detail: { payload: event } }),
  event => ({ Records: [{ body: JSON.stringify(event) }, { body: '{' }, 7] }),
  event => ({ type: 'webhook.received', timestamp: 'x', data: event }),
  event => ({ type: 'WEBHOOK', data: event }),
  event => ({ Records: [{ body: JSON.stringify({ Message: JSON.stringify(event) }) }] }),
  event => ({ body: ` \n${JSON.stringify(event)}` }),
  event => ({ Message: JSON.stringify([event]) }),
  event => ({ body: base64Of(event), isBase64Encoded: true }),
  event => ({ a: { b: { c: [{ d: { e: event } }] } } }),
]

function base64Of(event: object) {
  return Buffer.from(JSON.stringify(event)).toString('base64').replace(/=+$/, '')
}

for (const [place, wrapped] of WRAPPERS.entries())
  t.test(`a wrapped event is in suspense under its payment’s id (${place})`, async t => {
    const a = await suspense(
      t,
      A,
      wrapped(OF_A),
      wrapped(capturedA({ id: 'pay_2', status: 'failed' })),
    )
    t.match(a.rows, [{ id: 'pay_1', reason: 'unknown_event' }])
    t.equal(a.rows.length, 1)
    t.match(await a.types(), [/unknown 2/])
    const b = await suspense(t, B, wrapped(OF_B), wrapped(refundB({ id: 2, of: 1 })))
    t.match(b.rows, [
      { kind: 'payment', id: '1', reason: 'unknown_event' },
      { kind: 'refund', id: '2', reason: 'refund' },
    ])
  })

t.test('a payment of which only the entity came is unreadable', async t => {
  const { entity } = OF_A.payload.payment
  const a = await suspense(t, A, entity, { payment: entity }, { type: 'x', data: entity })
  const seen = { id: null, reason: 'unreadable', hints: { payment_id: 'pay_1' } }
  t.match(a.rows, [seen, seen, seen])
  const b = await suspense(t, B, OF_B.data, OF_B.data.payment)
  t.match(b.rows.length, 2)
})

t.test('a payment that no known way of wrapping contains is unreadable', async t => {
  const wrapped = { name: 'payment.captured', value: [OF_A.payload.payment.entity.id] }
  const texts = [wrapped, ['payment.captured', '{"id":"pay_1",'], `event=${JSON.stringify(OF_A)}`]
  const { rows } = await suspense(t, A, ...texts.map(value => ({ value })))
  const seen = { id: null, reason: 'unreadable', hints: { payment_id: 'pay_1' } }
  t.match(rows, [seen, seen, seen])
})

t.test('of a batch of events, each is in suspense', async t => {
  const events = Array.from({ length: 60 }, (_, i) => capturedA({ id: `pay_${i}`, loan: 'L-2' }))
  const { rows } = await suspense(t, A, { events })
  t.same(rows.map(row => row.id).sort(), events.map(e => e.payload.payment.entity.id).sort())
})

t.test('of a batch of the other gateway’s events, all are named', async t => {
  const events = [1, 2, 3].map(id => successB({ id, loan: 'L-1' }))
  const { rows } = await suspense(t, A, { events })
  const named = { payment_id: '1', more_events: 2, more_ids: '2, 3' }
  t.match(rows, [{ id: null, reason: 'unreadable', hints: named }])
  t.equal(rows.length, 1)
})

t.test('an event that a relay sends as it is and as text is one', async t => {
  for (const gateway of [A, B] as const) {
    const { rows } = await suspense(t, gateway, { body: OF_A, rawBody: JSON.stringify(OF_A) })
    t.equal(rows.length, 1)
    t.equal(rows[0].hints.more_events, undefined)
  }
})

t.test('a body with more events than are read says how many were not', async t => {
  const events = Array(2000).fill({ event: 'payment.captured', account_id: 'acc_1', payload: {} })
  const { rows } = await suspense(t, A, { events })
  const { more_events: more, unread_events: unread } = rows[0].hints
  t.equal(rows.length, 1)
  t.ok(unread > 0)
  t.equal(1 + more + unread, 2000)
})

for (const [what, wrapped] of [
  ['texts', (body: string) => ({ body })],
  ['texts beside others', (body: string) => ({ body, attributes: '{"a":1}', headers: '{"b":1}' })],
  ['base64', (body: string) => ({ data: Buffer.from(body).toString('base64') })],
  ['texts in texts', (body: string) => ({ body: JSON.stringify({ Message: body }) })],
] as const)
  t.test(`of a batch of events in ${what}, each is in suspense or counted`, async t => {
    const records = (fields: object) =>
      Array.from({ length: 100 }, (_, i) => {
        const event = capturedA({ id: `pay_${i}`, loan: 'L-1' })
        Object.assign(event.payload.payment.entity, fields)
        return wrapped(JSON.stringify(event))
      })
    for (const fields of [{}, { description: 'x'.repeat(500) }]) {
      const { rows } = await suspense(t, A, { Records: records(fields) })
      const read = rows.filter(row => row.id).length
      t.ok(read > 40, `${read}`)
      t.equal(read + (rows.find(row => !row.id)?.hints.unread_events ?? 0), 100)
    }
  })

t.test('a body without money leaves nothing, whatever it wraps', async t => {
  const nothing = [
    {},
    { event: 'x' },
    { body: '{"a":1}' },
    { Message: '{' },
    { data: { id: 1 } },
    { type: 'x', data: {} },
    { Records: Array(100).fill({ body: '{"a":1}', headers: '{' }) },
    { events: Array(4).fill({ type: 'user.created', data: { id: 0 } }) },
    { type: 'KYC_UPDATED', data: { docs: Array(3).fill({ type: 'pan', data: { id: 1 } }) } },
  ]
  for (const gateway of [A, B] as const) t.same((await suspense(t, gateway, ...nothing)).rows, [])
})

t.test('a wrapped event does not touch the payment that came as it should', async t => {
  const wrapped = { body: capturedA({ loan: 'L-2', amount: 7 }) }
  for (const events of [
    [OF_A, wrapped],
    [wrapped, OF_A],
  ]) {
    const source = await sourceOf(t, A)
    for (const event of events) {
      await source.save(event)
      await source.transform()
    }
    t.same(await source.fates(), ['payment pay_1 waiting'])
  }
})

t.test('a payment posted by a person from the other gateway’s URL is not posted again', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook(B, OF_A, LENDER)
  await service.batch()
  t.match(await postStray(service), { status: 200 })
  await service.batch()
  t.equal((await service.repayments()).length, 1)
  await service.webhook(A, OF_A, LENDER)
  await service.batch()
  t.equal((await service.repayments()).length, 1)
  t.match((await service.payment('pay_1')).payment, {
    state: 'suspense',
    reason: 'events_disagree',
  })
})

t.test('a payment that came as it should is not posted from the other gateway’s URL', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook(A, OF_A, LENDER)
  await service.webhook(B, OF_A, LENDER)
  await service.batch()
  t.match(await postStray(service), { status: 409, body: { detail: /gateway_a\/pay_1/ } })
})

t.test('the check of webhooks says whose event came, or that a relay changed it', async t => {
  const FLATTENED = { event: 'payment.captured', payload__payment__entity__id: 'pay_1' }
  const service = await paymentService(t)
  for (const [gateway, event] of [
    [A, OF_A],
    [A, OF_B],
    [B, OF_B],
    [B, OF_A],
    [A, { body: OF_A }],
    [A, FLATTENED],
    [B, { type: 'x', data: OF_B }],
    [B, FLATTENED],
  ] as const)
    await service.webhook(gateway, event, LENDER)
  const said = (gateway: string, wanted: number) =>
    until(async () => {
      const { body } = await service.call('GET', `/api/webhooks/check?gateway=${gateway}`)
      const reasons = body.calls.map((one: any) => one.status === 200 && one.reason)
      return reasons.length === wanted && reasons.toReversed()
    })
  t.same(await said(A, 4), [
    null,
    'It looks like an event of gateway B: enter the URL with /webhooks/gateway_b there',
    'It does not have the form of gateway A’s events: a relay must pass them on as they come',
    'It does not have the form of gateway A’s events: a relay must pass them on as they come',
  ])
  t.same(await said(B, 4), [
    null,
    'It looks like an event of gateway A: enter the URL with /webhooks/gateway_a there',
    'It does not have the form of gateway B’s events: a relay must pass them on as they come',
    'It does not have the form of gateway B’s events: a relay must pass them on as they come',
  ])
})
