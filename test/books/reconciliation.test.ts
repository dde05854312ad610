import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { withReadback } from '../support/books/readback.ts'
import { ALL_DAY, DAY, filled, offBy, reconciliation } from '../support/books/reconciliation.ts'
import { paymentService } from '../support/payments/payments.ts'
import { textOf } from '../support/portfolio/migrate.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('without a statement nobody knows what was captured, or whether a day balances', async t => {
  const { service, theDay } = await setUp(t)
  const unknown = { captured: null, statement: null, balanced: false }
  t.match((await reconciliation(service.call)).totals, unknown, 'no day at all')
  await service.send('pay_1')
  await service.batch()
  const day = await theDay()
  t.match(day, { day: DAY, currency: 'INR', captured: null, balanced: false })
  t.same(filled(day), { unchecked: '1 1000.00' })
})

t.test('a payment that only its gateway has is missing until a batch posts it', async t => {
  const { service, paid, theDay, inBucket } = await setUp(t)
  await paid('pay_1')
  await service.send('pay_1')
  await service.batch()
  await paid('pay_2', 250_050)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  const before = await theDay()
  t.match(before, { captured: { payments: 2, amount: '3500.50' }, balanced: false })
  t.same(filled(before), { unchecked: '1 1000.00', missing: '1 2500.50' })
  const { status, body } = await inBucket('missing')
  t.equal(status, 200, JSON.stringify(body))
  t.match(body, {
    payments: [
      {
        gateway_payment_id: 'pay_2',
        kind: 'payment',
        lender: 'LENDER_02',
        amount: '2500.5',
        amount_in_bucket: '2500.5',
        currency: 'INR',
        state: null,
        raw_table: null,
      },
    ],
    next_cursor: null,
  })
  await service.batch()
  t.same(filled(await theDay()), { unchecked: '2 3500.50' })
  await service.readBack()
  const after = await theDay()
  t.same(filled(after), { posted: '2 3500.50' })
  t.equal(after.balanced, true)
})

t.test('a payment unknown to its gateway is not at the gateway until it is dismissed', async t => {
  const { service, theDay } = await balanced(t)
  await service.send('pay_forged', 'L-unknown')
  await service.batch()
  const day = await theDay()
  t.same(filled(day), { posted: '2 3500.50', not_at_gateway: '1 1000.00' })
  t.equal(day.balanced, false)
  t.equal(offBy(day), '0')
  await service.resolve('pay_forged', { outcome: 'dismiss', note: 'forged' })
  t.same(filled(await theDay()), { posted: '2 3500.50' })
})

t.test('a day that was balanced and no longer is is counted, and shown in a view', async t => {
  const { service, theDay } = await balanced(t)
  const unbalanced = async () => {
    const { rows } = await sql<object>`
      select day::text as day, lender, gateway, currency
       from ops.unbalanced_day`.execute(service.db)
    return rows
  }
  await until(async () => {
    const { rows } = await sql`
      select from core.balanced_day
       where lost_at is null and not exists (select from core.changed_day)`.execute(service.db)
    return rows.length > 0
  }, 'the day is balanced')
  t.same(await unbalanced(), [])
  await service.undo('gateway_a-pay_1')
  await service.readBack()
  t.same(filled(await theDay()), { posted: '1 2500.50', suspense: '1 1000.00' })
  const lost = await until(async () => {
    const days = await unbalanced()
    return days.length > 0 && days
  }, 'it is lost')
  t.same(lost, [{ day: DAY, lender: 'LENDER_02', gateway: 'gateway_a', currency: 'INR' }])
  await until(
    async () => /^loanops_unbalanced_days 1$/m.test(await textOf(service, '/metrics')),
    'it is counted',
  )
})

t.test('the payments of a bucket are listed page by page', async t => {
  const { service, inBucket } = await setUp(t)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  for (const id of ['pay_ä', 'pay_b']) await service.send(id, 'L-none')
  await service.batch()
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await inBucket('not_at_gateway', `&limit=1${cursor}`)
    t.equal(status, 200, JSON.stringify(body))
    ids.push(...body.payments.map((one: any) => one.gateway_payment_id))
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  t.same(ids, ['pay_b', 'pay_ä'])
})

t.test('the totals and the CSV say the same as the days', async t => {
  const { service } = await balanced(t)
  const { days, totals } = await reconciliation(service.call)
  t.same(totals.buckets, days[0].buckets)
  t.same(totals.captured, days[0].captured)
  t.match(totals, { day: null, currency: 'INR', balanced: true })
  const [header, line] = (
    await textOf(service, `/api/reconciliation.csv?from=${DAY}&to=${DAY}`)
  ).split('\r\n')
  t.match(
    header,
    /^day,lender,gateway,currency,captured_payments,captured_amount,posted_payments,posted_amount,/,
  )
  t.match(header, /,not_at_gateway_payments,not_at_gateway_amount,balanced$/)
  t.match(line, `${DAY},LENDER_02,gateway_a,INR,2,3500.50,2,3500.50,`)
})

t.test('totals keep their amounts beside an event that shows no amount or currency', async t => {
  const { service } = await balanced(t)
  const before = (await reconciliation(service.call)).totals
  const entity = { id: 'pay_9', status: 'captured', created_at: Date.parse(PAID_AT) / 1_000 }
  const event = { event: 'payment.captured', payload: { payment: { entity } } }
  await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await service.batch()
  const { days, totals } = await reconciliation(service.call)
  t.same(days.map(({ currency }: any) => currency).sort(), ['INR', null])
  t.match(totals, {
    currency: 'INR',
    balanced: false,
    captured: before.captured,
    buckets: { posted: before.buckets.posted },
  })
})

t.test('a repayment that was adjusted at the ledger counts with what stands there', async t => {
  const { service, theDay } = await balanced(t)
  await service.undo('gateway_a-pay_2')
  await service.bookByHand('pay_2', 2_000)
  t.match(await service.check('pay_2'), { body: { objection: 'differs_at_ledger' } })
  t.same(filled(await theDay()), { posted: '2 3000.00', missing: '1 500.50' })
  await service.resolve('pay_2', { outcome: 'handled', note: 'agreed with the borrower' })
  t.same(filled(await theDay()), { posted: '2 3000.00', handled: '1 500.50' })
})

t.test('days in the wrong order, and too many of them, are refused', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const query of [
    'from=2026-02-06&to=2026-02-05',
    'from=2024-01-01&to=2026-02-05',
    'from=yesterday',
  ])
    t.match(await call('GET', `/api/reconciliation?${query}`), {
      status: 400,
      body: { code: 'INVALID_QUERY' },
    })
  t.match(await call('GET', '/api/reconciliation'), { status: 200 })
})

async function setUp(t: Test) {
  const gateways = await gatewaySandbox(t)
  const service = withReadback(await paymentService(t, gateways.settings))
  await service.loan('L-1')
  const paid = (id: string, amount = 100_000) =>
    gateways.put('/payments', {
      gateway: 'gateway_a',
      id,
      amount,
      created_at: PAID_AT,
      notes: { loan_id: 'L-1', lender: 'LENDER_02' },
    })
  /** The only day. */
  const theDay = async () => {
    const { days } = await reconciliation(service.call, '&lender=LENDER_02&gateway=gateway_a')
    return days[0]
  }
  const inBucket = (bucket: string, query = '') =>
    service.call('GET', `/api/reconciliation/payments?day=${DAY}&bucket=${bucket}${query}`)
  return { service, paid, theDay, inBucket }
}

/** A day with pay_1 of 1,000 and pay_2 of 2,500.50, both as their gateway says and posted. */
async function balanced(t: Test) {
  const day = await setUp(t)
  await day.paid('pay_1')
  await day.paid('pay_2', 250_050)
  await fetchAll(day.service.call, 'gateway_a', ALL_DAY)
  await day.service.batch()
  await day.service.readBack()
  return day
}
