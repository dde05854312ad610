import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { findPayments } from '../../../src/payments/reading/find-payments.ts'
import { summarizePayments } from '../../../src/payments/reading/summarize-payments.ts'
import { buffersOf } from '../../support/database/buffers.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { capturedA, refundA, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

/** The first moment of 5 February 2026 in India, and the last of it. */
const DAY = { start: '2026-02-04T18:30:00Z', end: '2026-02-05T18:29:59Z' }
const seconds = (time: string) => Date.parse(time) / 1000

t.test('payments are listed and summed up by each filter', async t => {
  const service = await paymentService(t)
  const { call } = service
  await service.loan('L-1')
  const at = (created_at: number) => ({ payment: { created_at } })
  for (const [event, lender] of [
    [capturedA({ id: 'posted', loan: 'L-1', amount: 100_050 }), 'LENDER_02'],
    [capturedA({ id: 'first', ...at(seconds(DAY.start)) }), 'LENDER_02'],
    [capturedA({ id: 'before', ...at(seconds(DAY.start) - 1) }), 'LENDER_02'],
    [capturedA({ id: 'last', amount: 33, ...at(seconds(DAY.end)) }), 'LENDER_03'],
    [capturedA({ id: 'after', ...at(seconds(DAY.end) + 1) }), 'LENDER_03'],
    [capturedA({ id: null }), 'LENDER_03'],
    [refundA({ id: 'refund', of: 'nothing' }), 'LENDER_02'],
  ] as const)
    await service.webhook('gateway_a', event, { lender })
  await service.webhook('gateway_b', successB({ id: 'b', loan: 'L-none' }), { lender: 'LENDER_02' })
  await service.batch()
  await sql`
    update core.transaction set amount = null
     where gateway_payment_id = raw_id::text`.execute(service.db)

  const listed = async (query: string) => {
    const { status, body } = await call('GET', `/api/payments?${query}`)
    t.equal(status, 200, query)
    return body.payments.map((one: any) =>
      one.reason === 'unreadable' ? '?' : one.gateway_payment_id,
    )
  }
  const totals = async (query: string) => {
    const { status, body } = await call('GET', `/api/payments/summary?${query}`)
    t.equal(status, 200, query)
    return body.totals.map(
      (one: any) =>
        `${one.lender} ${one.gateway} ${one.kind} ${one.state} ${one.reason} ${one.count} ${one.amount}`,
    )
  }
  for (const [query, ...ids] of [
    ['lender=LENDER_03', '?', 'after', 'last'],
    ['lender=LENDER_99'],
    ['lender=LENDER_02&gateway=gateway_b', 'b'],
    ['lender=LENDER_03&gateway=gateway_b'],
    ['reason=no_loan_named&lender=LENDER_02', 'before', 'first'],
    ['reason=loan_unknown', 'b'],
    ['kind=refund', 'refund'],
    ['kind=chargeback'],
    ['from=2026-02-06', 'after'],
    ['to=2026-02-04', 'before'],
    ['from=2026-02-05&to=2026-02-05&reason=no_loan_named', 'first', 'last'],
    ['from=2026-02-05&to=2026-02-05&state=posted', 'posted'],
    ['loan=L-1&gateway=gateway_a', 'posted'],
    ['loan=%20L-1%E2%80%8B&lender=LENDER_02%20', 'posted'],
  ] as const)
    t.same((await listed(query)).sort(), [...ids].sort(), query)
  t.same(await listed('from=2026-02-04&to=2026-02-06&reason=no_loan_named'), [
    'after',
    'last',
    'first',
    'before',
  ])

  t.same(await totals(''), [
    'LENDER_02 gateway_a payment posted null 1 1000.50',
    'LENDER_02 gateway_a payment suspense no_loan_named 2 2000.00',
    'LENDER_02 gateway_a refund suspense refund 1 1000.00',
    'LENDER_02 gateway_b payment suspense loan_unknown 1 1000',
    'LENDER_03 gateway_a payment suspense no_loan_named 2 1000.33',
    'LENDER_03 gateway_a payment suspense unreadable 1 0',
  ])
  t.same(await totals('from=2026-02-05&to=2026-02-05&reason=no_loan_named'), [
    'LENDER_02 gateway_a payment suspense no_loan_named 1 1000.00',
    'LENDER_03 gateway_a payment suspense no_loan_named 1 0.33',
  ])
  t.same(await totals('kind=chargeback'), [])
})

t.test('the pages of some days follow each other', async t => {
  const service = await paymentService(t)
  const start = seconds(DAY.start)
  const ids = Array.from({ length: 5 }, (_, i) => `pay_${i}`)
  for (const [i, id] of ids.entries()) {
    // Two of them paid in the same second, and the last one first.
    const created_at = start - Math.floor(i / 2)
    await service.webhook('gateway_a', capturedA({ id, payment: { created_at } }))
  }
  await service.batch()
  const found: string[] = []
  let cursor = ''
  do {
    const path = `/api/payments?from=2026-02-01&to=2026-02-28&limit=2${cursor}`
    const { body } = await service.call('GET', path)
    found.push(...body.payments.map((one: any) => `${one.paid_at} ${one.gateway_payment_id}`))
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  t.same(found.map(one => one.split(' ')[1]).sort(), ids)
  const times = found.map(one => one.split(' ')[0])
  t.same(times, times.toSorted().toReversed())
})

t.test('a filter that does not fit names its field', async t => {
  const { call } = await paymentService(t, { ROLE: 'api' })
  for (const [query, path] of [
    ['from=2026-02-30', '/from'],
    ['to=05 February 2026', '/to'],
    ['from=2026-02-06&to=2026-02-05', '/from'],
    ['reason=unhappy', '/reason'],
    ['kind=gift', '/kind'],
    ['state=lost', '/state'],
    ['lender=', '/lender'],
  ] as const)
    for (const list of ['/api/payments', '/api/payments/summary'])
      t.match(
        await call('GET', `${list}?${query}`),
        { status: 400, body: { code: 'INVALID_QUERY', errors: [{ path }] } },
        `${list} ${query}`,
      )
  t.equal((await call('GET', '/api/payments/summary?limit=1')).status, 400)
})

t.test(
  'a lender’s payments at a gateway that it does not use are found to be none at once',
  async t => {
    const { db, ownerUrl } = await freshDatabase(t)
    await sql`select raw.register(raw.make_store('LENDER_06', 'gateway_a'))`.execute(db)
    await addPayments(db, 5_000)
    const query = { lender: 'LENDER_06', gateway: 'gateway_b', limit: 50 } as const
    for (const days of [{}, { from: '2000-01-01', to: '2100-01-01' }]) {
      const [touched] = await buffersOf(ownerUrl, db =>
        findPayments(db, { ...query, ...days }, 'UTC'),
      )
      t.ok(touched && touched.buffers < 20, `${touched?.buffers} pages`)
    }
  },
)

t.test(
  'a summary counts the payments on their way once, in the state that the view gives them',
  async t => {
    const { db } = await freshDatabase(t)
    await addPayments(db, 10)
    await sql`
    update core.transaction set state = 'posting' where gateway_payment_id in ('pay_1', 'pay_2')`.execute(
      db,
    )
    const group = { lender: 'LENDER_06', gateway: 'gateway_a', kind: 'payment', reason: null }
    t.same((await summarizePayments(db, {}, 'UTC')).totals, [
      { ...group, state: 'posting', count: 2, amount: '200' },
      { ...group, state: 'waiting', count: 8, amount: '800' },
    ])
  },
)

async function addPayments(db: Database, count: number) {
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, amount, currency, paid_at, is_captured, is_verified,
      state, source, raw_id, received_at)
    select 'gateway_a', 'payment', 'pay_' || n, 'LENDER_06', 100, 'INR', now(), true, true, 'waiting', 's', raw.new_id(), now()
      from generate_series(1, ${count}::integer) n`.execute(db)
  await sql`vacuum analyze core.transaction`.execute(db)
}
