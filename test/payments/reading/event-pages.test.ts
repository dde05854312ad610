import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, eventA, refundA, signedA } from '../../support/payments/gateway-events.ts'
import { LENDER, ownIds, paymentService } from '../../support/payments/payments.ts'

const MIB = 1024 * 1024
const EVENTS = 120

/** All tests without checks share this service: each has a payment of its own. */
const service = await paymentService(t)

t.test('a payment’s events come fifty per page, newest first, each once', async t => {
  const { id } = ownIds()
  for (let i = 0; i < EVENTS; i++) {
    const lender = i % 2 ? LENDER : {}
    await service.webhook('gateway_a', { ...capturedA({ id }), n: i }, lender)
    if (i % 50 === 0) await service.batch()
  }
  await service.batch()
  const first = await service.payment(id)
  t.equal(first.events.length, 50)
  t.match(first.next_cursor, String)
  const all = await service.events(id, 'bodies=true')
  const numbers = all.map(one => JSON.parse(Buffer.from(one.body_base64, 'base64').toString()).n)
  t.same(
    numbers,
    Array.from({ length: EVENTS }, (_, i) => EVENTS - 1 - i),
  )
  t.ok(
    all.every(one => one.counts === true),
    'a repeated event counts',
  )
})

t.test('an event’s headers and bytes are shown only with bodies=true', async t => {
  const { id } = ownIds()
  const body = JSON.stringify(capturedA({ id }))
  await service.webhook('gateway_a', body, { headers: { 'x-gatewaya-event-id': 'evt_1' } })
  await service.batch()
  const [without] = await service.events(id, 'bodies=false')
  t.match(without, { event_id: 'evt_1', headers: null, body_base64: null })
  const [event] = await service.events(id, 'bodies=true')
  t.match(event, { event_id: 'evt_1', headers: { 'x-gatewaya-event-id': 'evt_1' } })
  t.equal(Buffer.from(event.body_base64, 'base64').toString(), body)
})

t.test('an answer with bodies has at most 8 MiB', async t => {
  const { id } = ownIds()
  const padding = 'x'.repeat(MIB - 2_000)
  for (let i = 0; i < 8; i++)
    await service.webhook('gateway_a', { ...capturedA({ id }), i, padding })
  await service.batch()
  const path = `/api/payments/gateway_a/${id}?bodies=true`
  const answer = await service.call('GET', path)
  t.ok(JSON.stringify(answer.body).length < 8 * MIB)
  t.match(answer.body.next_cursor, String)
  t.equal((await service.events(id, 'bodies=true')).length, 8)
})

t.test('a query that is none of the events’ list is refused', async t => {
  const { id } = ownIds()
  await service.webhook('gateway_a', capturedA({ id }))
  await service.batch()
  for (const query of ['cursor=x', 'bodies=yes', 'limit=3']) {
    const { status, body } = await service.call('GET', `/api/payments/gateway_a/${id}?${query}`)
    t.match({ status, code: body.code }, { status: 400, code: 'INVALID_QUERY' }, query)
  }
})

/** LENDER_02 signs, and takes events from 10/8 only. */
async function withChecks(t: Test) {
  const gateway_a = { allowedCidrs: ['10.0.0.0/8'], secretEnv: 'SECRET_02' }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a } })
  const service = await paymentService(t, {
    LENDERS_FILE,
    SECRET_02: 's2',
    TRUST_PROXY: '127.0.0.1',
  })
  await service.loan('L-2')
  const send = (address: string, sign: (body: string) => object) => (event: object) => {
    const body = JSON.stringify(event)
    const headers = { 'x-forwarded-for': address, ...sign(body) }
    return service.webhook('gateway_a', body, { ...LENDER, headers })
  }
  return {
    ...service,
    signed: send('10.1.2.3', body => signedA('s2', body)),
    unsigned: send('10.1.2.3', () => ({})),
    outside: send('8.8.8.8', () => ({})),
    /** What each event counts as, the newest first. */
    counts: async (id = 'pay_1') => {
      await service.batch()
      return (await service.events(id)).map(one => one.counts)
    },
  }
}

t.test('each event shows whether it counts, or why not', async t => {
  const service = await withChecks(t)
  await service.unsigned(eventA('payment.failed', { status: 'failed' }))
  await service.unsigned(capturedA({ loan: 'L-2' }))
  await service.outside(capturedA({ loan: 'L-2', amount: 5 }))
  t.same(await service.counts(), ['sender_not_allowed', true, 'captured_after_all'])
  await service.unsigned(eventA('order.paid', { loan: 'L-2', amount: 7 }))
  await service.unsigned(eventA('order.paid', { loan: 'L-2' }))
  t.same((await service.counts()).slice(0, 2), [true, 'already_posted'])
  await service.signed(refundA())
  await service.unsigned(refundA({ status: 'failed' }))
  t.same(await service.counts('rfnd_1'), ['superseded', true])
})

t.test('an unreadable event of a payment is listed as not counting', async t => {
  await service.webhook('gateway_a', capturedA({ id: 'pay_ten', amount: 'ten' }))
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const [{ raw_id }] = body.payments
  matchEach(t, await service.events(raw_id), [{ raw_id, counts: 'unreadable' }])
})

t.test('an event that contradicts an operator’s decision does not count', async t => {
  const { id } = ownIds()
  await service.webhook('gateway_a', capturedA({ id, loan: 'L-9' }), LENDER)
  await service.batch()
  await sql`update core.transaction set decision = 'handled', state = 'handled', reason = null
    where gateway_payment_id = ${id}`.execute(service.db)
  await service.webhook('gateway_a', capturedA({ id, loan: 'L-9', amount: 5 }), LENDER)
  await service.batch()
  const counts = (await service.events(id)).map(one => one.counts)
  t.same(counts, ['decided_by_operator', true])
})
