import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { holdCommits, waitingForRow, waitingTransaction } from '../../support/database/locks.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import {
  LENDER,
  paymentService,
  replaceView,
  serviceWithSource,
} from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const SOURCE = 'lender_02_gateway_a'

/** An event that its view cannot read until it is corrected. */
function renamed(id: string): object {
  const event: any = capturedA({ id, loan: 'L-1' })
  event.payload.payment.entity.paise = event.payload.payment.entity.amount
  delete event.payload.payment.entity.amount
  return event
}

const correctView = (db: Database) =>
  replaceView(db, {
    body: `convert_to(replace(replace(convert_from(r.body, 'UTF8'), '"paise"', '"amount"'), '"settled"', '"captured"'), 'UTF8')`,
  })

t.test(
  'an event that a view could not read or did not know is posted once after the view is corrected',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    const settled = {
      ...capturedA({ id: 'pay_settled', loan: 'L-1', status: 'settled' }),
      event: 'x',
    }
    for (const event of [capturedA({ loan: 'L-1' }), renamed('pay_renamed'), settled])
      await service.webhook('gateway_a', event, LENDER)
    t.match(await service.batch(), { transformed: 3, posted: 1, suspended: 2 })
    const payment = (await service.payment('pay_1')).payment

    await correctView(service.db)
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

t.test('an operator’s decision since a source was to be read again still stands', async t => {
  const service = await serviceWithSource(t)
  const ways = ['during', 'since']
  for (const way of ways) await service.webhook('gateway_a', renamed(`pay_${way}`), LENDER)
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const [during, since] = ways.map(
    way =>
      body.payments.find((one: any) => one.hints.payment_id === `pay_${way}`).gateway_payment_id,
  )
  await correctView(service.db)
  const handle = (id: string) => service.resolve(id, { outcome: 'handled', note: 'by hand' })
  const under = await holdCommits(service.db, sql`new.decision is not null`, async () => {
    const handled = handle(during)
    await until(() => waitingTransaction(service.db), 'the decision commits')
    let isReread = false
    const reread = sql`select ops.reread(${SOURCE}, '2026-01-01')`.execute(service.db)
    reread.then(() => {
      isReread = true
    })
    await until(async () => isReread || waitingForRow(service.db), 'the source is to be read again')
    return { handled, reread }
  })
  t.match([await under.handled, await handle(since)], [{ status: 200 }, { status: 200 }])
  await under.reread
  t.match(await service.batch(), { posted: 0, last_error: null })
  for (const id of [during, since])
    t.match(await service.payment(id), { payment: { state: 'handled' } })
  t.same(
    (await service.repayments()).map(one => one.receiptNumber),
    ['pay_0'],
  )
})

t.test('a payment whose row was deleted while its event is read gets a row again', async t => {
  const service = await serviceWithSource(t)
  await service.webhook(
    'gateway_a',
    { ...capturedA({ loan: 'L-1', status: 'settled' }), event: 'x' },
    LENDER,
  )
  await service.batch()
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_03' })
  const batch = await service.db.transaction().execute(async trx => {
    await sql`delete from core.transaction where gateway_payment_id = 'pay_1'`.execute(trx)
    const batch = { ends: service.batch() }
    await until(() => waitingForRow(service.db), 'the batch waits for the row')
    return batch
  })
  await batch.ends
  t.match(await service.payment('pay_1'), {
    payment: { state: 'suspense', reason: 'lender_mismatch' },
  })
})

t.test('a source that does not exist cannot be read again', async t => {
  const { db } = await paymentService(t)
  await t.rejects(sql`select ops.reread('nobody', now())`.execute(db), { message: /nobody/ })
})
