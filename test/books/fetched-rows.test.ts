import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY, DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import { PAID_AT } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'

async function serviceWith(t: Test, answer: Parameters<typeof oddGateway>[1], product = 2) {
  const { settings } = await oddGateway(t, answer)
  const service = await paymentService(t, settings)
  await service.loan('L-1', { product })
  return {
    ...service,
    fetch: (gateway: string, more = {}) => fetchAll(service.call, gateway, { ...ALL_DAY, ...more }),
    days: async () => (await reconciliation(service.call)).days,
  }
}

t.test('a captured payment that its list names again as failed or pending is captured', async t => {
  const again = ['1', '2'].map((id, n) =>
    rowOfB(id, { event: { event_status: n === 0 ? 'FAILED' : 'PENDING' } }),
  )
  const service = await serviceWith(t, listOfB(rowOfB('1'), rowOfB('2'), ...again))
  t.match(await service.fetch('gateway_b'), { status: 'completed', missed: 2 })
  await service.batch()
  const [day] = await service.days()
  t.match(day, { captured: { payments: 2, amount: '2000.00' } })
  t.same(filled(day), { unchecked: '2 2000.00' })
})

t.test('a payment that is fetched after its settlement shows it', async t => {
  const settled_at = PAID_AT + 2 * 86_400
  const of = { type: 'payment', amount: 100_000, fee: 2_360, tax: 360, credit: 97_640, debit: 0 }
  const at = { currency: 'INR', settled_at, settlement_id: 'setl_1', settlement_utr: 'UTR1' }
  const service = await serviceWith(t, ({ path, query }) => {
    if (path.startsWith('/v1/settlements') && query.get('day') === '7')
      return { items: [{ entity_id: 'pay_1', ...of, ...at }] }
    return path === '/v1/payments' && Number(query.get('from')) < PAID_AT
      ? { items: [itemOfA('pay_1')] }
      : undefined
  })
  await service.fetch('gateway_a', { from: '2026-02-07T00:00:00Z', to: '2026-02-07T12:00:00Z' })
  await service.fetch('gateway_a')
  const { rows } = await sql<object>`
    select settlement_id, utr, fee::text, tax::text from ops.statement`.execute(service.db)
  t.same(rows, [{ settlement_id: 'setl_1', utr: 'UTR1', fee: '20.00', tax: '3.60' }])
})

t.test('a fetch for one lender leaves known payments of others in their own books', async t => {
  const notes = { loan_id: 'L-1', lender: 'LENDER_01' }
  const service = await serviceWith(t, listOfA(itemOfA('pay_1', { notes })), 1)
  await service.fetch('gateway_a')
  await service.batch()
  t.match(await service.days(), [{ lender: 'LENDER_01', statement: 'complete' }])
  await service.fetch('gateway_a', { lender: 'LENDER_02' })
  const days = await service.days()
  t.match(days, [{ lender: 'LENDER_01', statement: 'complete', captured: { payments: 1 } }])
  t.equal(days.length, 1)
})

t.test('a fetch for one lender stores a refund of another one’s payment as that one’s', async t => {
  let refunds: object[] = []
  const notes = { loan_id: 'L-1', lender: 'LENDER_01' }
  const answer = ({ path }: { path: string }) => {
    if (path === '/v1/refunds') return { items: refunds }
    return path === '/v1/payments' ? { items: [itemOfA('pay_1', { notes })] } : undefined
  }
  const service = await serviceWith(t, answer, 1)
  await service.fetch('gateway_a')
  await service.batch()
  const of = { payment_id: 'pay_1', amount: 30_000, currency: 'INR', created_at: PAID_AT }
  refunds = [{ id: 'rfnd_1', entity: 'refund', status: 'processed', ...of }]
  await service.fetch('gateway_a', { lender: 'LENDER_02' })
  await service.batch()
  const { rows } = await sql<object>`
    select gateway_payment_id as id, lender from ops.payment order by id`.execute(service.db)
  t.same(rows, [
    { id: 'pay_1', lender: 'LENDER_01' },
    { id: 'rfnd_1', lender: 'LENDER_01' },
  ])
})

t.test(
  'a payment of gateway B that ended minutes or days later is at its gateway on its own day',
  async t => {
    const started = '2026-02-05T23:58:00+05:30'
    const late = rowOfB('1', {
      event: { event_time: '2026-02-06T00:03:00+05:30' },
      payment: { payment_time: started },
    })
    const pending = rowOfB('3', {
      event: { event_time: '2026-02-08T12:00:00+05:30' },
      payment: { payment_time: '2026-02-05T22:00:00+05:30' },
    })
    const next = rowOfB('2', {
      event: { event_time: '2026-02-06T00:04:00+05:30' },
      payment: { payment_time: '2026-02-06T00:02:00+05:30' },
    })
    const service = await serviceWith(t, asked => {
      const { start_date, end_date } = asked.body?.filters ?? {}
      const isAsked = ({ event_details: { event_time } }: typeof late) =>
        Date.parse(event_time) >= Date.parse(start_date) &&
        Date.parse(event_time) <= Date.parse(end_date)
      return listOfB(...[late, next, pending].filter(isAsked))(asked)
    })
    t.match(await service.fetch('gateway_b'), { status: 'completed', fetched: 2 })
    await service.batch()
    const [day] = await service.days()
    t.match(day, { day: DAY, statement: 'complete', captured: { payments: 2 } })
    t.same(filled(day), { unchecked: '2 2000.00' })
  },
)

t.test('a payment with an unknown status leaves its day partial, and is in suspense', async t => {
  let rows = [rowOfB('1')]
  const service = await serviceWith(t, asked => listOfB(...rows)(asked))
  await service.fetch('gateway_b')
  await service.batch()
  rows = ['1', '2'].map(id => rowOfB(id, { event: { event_status: 'SETTLED' } }))
  t.match(await service.fetch('gateway_b'), {
    status: 'completed',
    last_error: /2 items could not be read.*its status is not known/,
  })
  await service.batch()
  t.match(await service.days(), [
    { statement: 'partial', buckets: { not_at_gateway: { payments: 0 } } },
  ])
  const { rows: held } = await sql<object>`
    select hints ->> 'payment_id' as id from ops.payment
     where reason = 'unreadable'`.execute(service.db)
  t.same(held, [{ id: '2' }])
})

t.test('a payment whose list also has it with an unknown status is only captured', async t => {
  const odd = { event: { event_id: 'e_odd', event_status: 'FLAGGED' } }
  const service = await serviceWith(
    t,
    listOfB(rowOfB('1', odd), rowOfB('1'), rowOfB('2'), rowOfB('2', odd)),
  )
  for (let i = 0; i < 2; i++) {
    t.match(await service.fetch('gateway_b'), { status: 'completed', last_error: null })
    await service.batch()
    t.match(await service.days(), [{ statement: 'complete', captured: { payments: 2 } }])
  }
  const { rows } = await sql<object>`select state from ops.payment`.execute(service.db)
  t.same(rows, [{ state: 'posted' }, { state: 'posted' }])
})
