import { sql } from 'kysely'
import t from 'tap'
import { capturedA } from '../support/gateway-events.ts'
import { matchEach } from '../support/match-each.ts'
import { paymentService } from '../support/payments.ts'

const LENDER = { lender: 'LENDER_02' }
const SOURCE = 'lender_02_gateway_a'

t.test(
  'events that a view could not read, or did not know, are posted exactly once after the view is corrected',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    const renamed: any = capturedA({ id: 'pay_renamed', loan: 'L-1' })
    renamed.payload.payment.entity.paise = renamed.payload.payment.entity.amount
    delete renamed.payload.payment.entity.amount
    const settled = {
      ...capturedA({ id: 'pay_settled', loan: 'L-1', status: 'settled' }),
      event: 'x',
    }
    for (const event of [capturedA({ loan: 'L-1' }), renamed, settled])
      await service.webhook('gateway_a', event, LENDER)
    t.match(await service.batch(), { transformed: 3, posted: 1, suspended: 2 })
    const payment = (await service.payment('pay_1')).payment

    await sql`
      create or replace view base.lender_02_gateway_a as
      select r.id as raw_id, r.received_at, r.event_id, r.event_type, r.address, r.verified_by,
             f.kind, f.payment_id, f.of_payment_id, f.status, f.amount, f.currency, f.paid_at, f.external_loan_id,
             f.problem, f.hints
        from raw.lender_02_gateway_a r
       cross join lateral base.gateway_a(convert_to(replace(replace(convert_from(r.body, 'UTF8'),
         '"paise"', '"amount"'), '"settled"', '"captured"'), 'UTF8')) f`.execute(service.db)
    const reread = async (since: string) => {
      const { rows } = await sql<{ events: string }>`
        select ops.reread(${SOURCE}, ${sql.raw(since)}) as events`.execute(service.db)
      return rows[0]?.events
    }
    t.equal(await reread("now() + interval '1 hour'"), '0', 'none received since')
    t.equal(await reread("now() - interval '1 hour'"), '2')
    const source = async () =>
      (await sql`select events, events_behind from ops.source`.execute(service.db)).rows
    matchEach(t, await source(), [{ events: '3', events_behind: '2' }])
    t.match(await service.batch(), { transformed: 2, posted: 2 })
    matchEach(t, await source(), [{ events: '3', events_behind: '0' }])
    t.equal(await reread("now() - interval '1 hour'"), '0', 'all is read')

    const { body } = await service.call('GET', '/api/payments')
    t.same(body.payments.map((one: any) => `${one.gateway_payment_id} ${one.state}`).sort(), [
      'pay_1 posted',
      'pay_renamed posted',
      'pay_settled posted',
    ])
    t.same((await service.payment('pay_1')).payment, payment)
    t.equal((await service.repayments()).length, 3)
  },
)

t.test('a source that does not exist cannot be read again', async t => {
  const { db } = await paymentService(t)
  await t.rejects(sql`select ops.reread('nobody', now())`.execute(db), { message: /nobody/ })
})
