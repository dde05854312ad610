import { sql } from 'kysely'
import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, disputeA, eventA, refundA } from '../../support/payments/gateway-events.ts'
import { LENDER, replaceView, serviceWithSource } from '../../support/payments/payments.ts'
import { sourceOf } from '../../support/payments/source.ts'

t.test('each type is counted per source, with how it is taken and when it came last', async t => {
  const service = await sourceOf(t, 'gateway_a')
  await service.save(
    capturedA({ loan: 'L-1' }),
    capturedA({ id: 'pay_2' }),
    capturedA({ id: 'pay_0', amount: 0 }),
    refundA(),
    refundA({ id: 'rfnd_2', status: 'failed' }),
    disputeA('created'),
    eventA('payment.authorized', { status: 'authorized' }),
    { event: 'payout.initiated', payload: { payout: { entity: { id: 'pout_1', amount: 5 } } } },
    { event: 'moon.risen' },
    { payload: {} },
  )
  await service.transform()
  await service.save(capturedA({ id: 'pay_3' }))
  await service.transform()
  t.same(await service.types(), [
    '(none) unknown 1',
    'moon.risen unknown 1',
    'payment.authorized ignored 1',
    'payment.captured payment 4',
    'payment.dispute.created chargeback 1',
    'payout.initiated ignored 1',
    'refund.failed ignored 1',
    'refund.processed refund 1',
  ])
  const { rows } = await sql`
    select last_at = (select max(received_at) from raw.lender_02_gateway_a) as "isLast"
      from ops.event_type where event_type = 'payment.captured'`.execute(service.db)
  t.same(rows, [{ isLast: true }])
  t.notMatch((await service.fates()).join(), /pay_0/, 'zero is no payment')
})

t.test('a vendor’s new status at gateway B is known, and is no money', async t => {
  const service = await sourceOf(t, 'gateway_b')
  const data = {
    merchant_id: 1,
    merchant_vendor_id: 'v_1',
    updated_status: 'ACTIVE',
    max_split: 100,
  }
  await service.save({
    type: 'VENDOR_STATUS_UPDATE',
    event_time: '2026-02-05T10:00:00+05:30',
    data,
  })
  await service.transform()
  t.same(await service.types(), ['VENDOR_STATUS_UPDATE ignored 1'])
})

t.test('invented names do not add rows without end, and hide no documented type', async t => {
  const service = await sourceOf(t, 'gateway_a')
  for (const round of [1, 2]) {
    await sql`
      insert into raw.lender_02_gateway_a (event_type, body)
      select repeat('x', 300) || n, convert_to(format('{"event": "x%s", "n": %s}', n, ${round}::integer), 'UTF8') from generate_series(1, 50) n
      union all
      select 'x' || n * ${round}, convert_to(format('{"event": "x", "n": "%s-%s"}', n, ${round}::integer), 'UTF8')
       from generate_series(1, 300) n`.execute(service.db)
    await service.transform()
  }
  await service.save(capturedA())
  await service.transform()
  const { rows } = await sql`
    select count(*)::integer as types, sum(events)::integer as events, max(length(event_type)) <= 100 as "isShort"
      from ops.event_type`.execute(service.db)
  t.same(rows, [{ types: 202, events: 701, isShort: true }])
  const types = await service.types()
  t.match(types[0], /^\(other\) unknown \d+$/)
  t.ok(types.includes('payment.captured payment 1'))
})

t.test('a row that was put aside is counted, once, also when it is read again', async t => {
  const service = await serviceWithSource(t)
  await replaceView(service.db, { amount: '10 / (f.amount - 13)' })
  for (const amount of [1_300, 2_300])
    await service.webhook('gateway_a', capturedA({ id: `pay_${amount}`, amount }), LENDER)
  t.match(await service.batch(), { transformed: 2, suspended: 2 })
  const counted = async () => {
    const { rows } = await sql`
      select e.event_type, e.taken, e.events, s.events - s.events_behind as taken_out
        from ops.event_type e join ops.source s using (source)`.execute(service.db)
    return rows
  }
  const all = [{ event_type: 'payment.captured', taken: 'payment', events: '3', taken_out: '3' }]
  t.same(await counted(), all)
  await replaceView(service.db, { amount: 'f.amount' })
  await sql`select ops.reread('lender_02_gateway_a', now() - interval '1 hour')`.execute(service.db)
  matchEach(t, await counted(), [{ events: '2', taken_out: '2' }])
  await service.batch()
  t.same(await counted(), all)
})
