import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { purgeEvents } from '../../src/payments/purge-events.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import {
  allSaved,
  LENDER,
  type PaymentService,
  paymentService,
  serviceWithSource,
} from '../support/payments/payments.ts'

const UNREADABLE = { event: 'payment.captured', payload: { payment: { entity: { id: 'pay_x' } } } }

t.test('old events of closed payments are deleted, and what may still be needed stays', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const send = (event: unknown) => service.webhook('gateway_a', event, LENDER)
  await send(capturedA({ id: 'pay_posted', loan: 'L-1' }))
  await send(capturedA({ id: 'pay_failed', loan: 'L-1', status: 'failed' }))
  await send(capturedA({ id: 'pay_open' }))
  await send(capturedA({ id: 'pay_refunded', loan: 'L-1' }))
  await send(UNREADABLE)
  await service.batch()
  await send(refundA({ of: 'pay_refunded' }))
  await service.batch()
  await resolveUnreadable(service)
  t.equal(await purgeEvents(service.db, 30), 0, 'none is old')
  await makeOld(service)
  await send(capturedA({ id: 'pay_young', loan: 'L-1' }))
  await service.batch()
  await send(capturedA({ id: 'pay_pending', loan: 'L-1' }))
  await allSaved(service.db)
  await makeOld(service, 'pay_pending')

  t.equal(await purgeEvents(service.db, 30), 2)
  t.equal(await purgeEvents(service.db, 30), 0)
  const left = async (id: string) => (await service.payment(id)).events.length
  t.same(await Promise.all(['pay_posted', 'pay_failed'].map(left)), [0, 0])
  t.same(await Promise.all(['pay_open', 'pay_refunded', 'pay_young'].map(left)), [1, 1, 1])
  const { rows } = await sql`select from raw.lender_02_gateway_a`.execute(service.db)
  t.equal(rows.length, 6, 'with the refund, the pending and the unreadable event')
  t.match((await service.payment('pay_posted')).payment, {
    state: 'posted',
    external_loan_id: 'L-1',
  })
})

t.test('a repeat of a deleted event does not become a second payment', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const event = capturedA({ id: 'pay_1', loan: 'L-1' })
  await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  const { payment } = await service.payment('pay_1')
  await makeOld(service)
  t.equal(await purgeEvents(service.db, 30), 1)

  await service.webhook('gateway_a', event, LENDER)
  t.match(await service.batch(), { transformed: 1, posted: 0, suspended: 0, failed: 0 })
  const again = await service.payment('pay_1')
  t.match(again.payment, {
    state: 'posted',
    objection: null,
    ledger_transaction_id: payment.ledger_transaction_id,
  })
  t.equal(again.events.length, 1)
  t.equal((await service.repayments()).length, 1)
})

t.test('events are read again and counted although others have been deleted', async t => {
  const service = await serviceWithSource(t)
  await makeOld(service)
  const source = async () =>
    (await sql`select events, events_behind from ops.source`.execute(service.db)).rows
  const before = await source()
  t.equal(await purgeEvents(service.db, 30), 1)
  t.same(await source(), before)
  const { rows } =
    await sql`select ops.reread('lender_02_gateway_a', '-infinity') as events`.execute(service.db)
  t.same(rows, [{ events: '0' }])
  await sql`insert into core.pending_event (source, raw_id, received_at)
    values ('lender_02_gateway_a', raw.new_id(), now())`.execute(service.db)
  t.match(
    await service.batch(),
    { status: 'completed', transformed: 1, posted: 0 },
    'a missing row is passed over',
  )
})

t.test('only the purge deletes events, and only old ones', async t => {
  const service = await serviceWithSource(t)
  await makeOld(service)
  const ours = openDatabase(service.databaseUrl, { max: 1, name: 'test', onError() {} })
  t.teardown(() => ours.destroy())
  const claimed = sql`select set_config('loanops.deleting_raw', 'lender_02_gateway_a ' || pg_current_xact_id(), true)`
  const deletion = sql`delete from raw.lender_02_gateway_a`
  await t.rejects(deletion.execute(service.db), { message: /append-only/ })
  await t.rejects(sql`truncate raw.lender_02_gateway_a`.execute(service.db), {
    message: /append-only/,
  })
  await t.rejects(
    ours.transaction().execute(async trx => {
      await claimed.execute(trx)
      await deletion.execute(trx)
    }),
    { message: /permission denied/ },
  )
  await t.rejects(purgeEvents(ours, 0), { message: /younger than a day/ })
  await t.rejects(
    service.db.transaction().execute(async trx => {
      await sql`select raw.delete_closed('lender_02_gateway_a', 30, core.first_id_at('epoch'), 100)`.execute(
        trx,
      )
      await deletion.execute(trx)
    }),
    { message: /append-only/ },
    'the permission ends with the call',
  )
  t.equal(await purgeEvents(ours, 30), 1, 'the service may do it')
})

/** Makes the events of a payment, or all of them, forty days older. */
async function makeOld({ db }: PaymentService, payment?: string): Promise<void> {
  await db.transaction().execute(async trx => {
    await sql`alter table raw.lender_02_gateway_a disable trigger append_only`.execute(trx)
    const aged = (id: string) =>
      sql`(left(core.first_id_at(now() - interval '40 days')::text, 13) || substr(${sql.ref(id)}::text, 14))::uuid`
    const named =
      payment === undefined ? sql`true` : sql`convert_from(body, 'UTF8') like ${`%${payment}%`}`
    const { rows } = await sql<{
      old: string
    }>`select id as old from raw.lender_02_gateway_a where ${named}`.execute(trx)
    const ids = rows.map(({ old }) => old)
    await sql`update raw.lender_02_gateway_a set id = ${aged('id')}, received_at = received_at - interval '40 days'
      where id = any(${ids}::uuid[])`.execute(trx)
    for (const table of ['core.event', 'core.transaction', 'core.pending_event'])
      await sql`update ${sql.table(table)} set raw_id = ${aged('raw_id')},
        received_at = received_at - interval '40 days'
         where raw_id = any(${ids}::uuid[])`.execute(trx)
    // An unreadable event has its raw row's id.
    for (const table of ['core.event', 'core.transaction'])
      await sql`update ${sql.table(table)} set gateway_payment_id = raw_id::text
        where gateway_payment_id = any(${ids})`.execute(trx)
    await sql`alter table raw.lender_02_gateway_a enable trigger append_only`.execute(trx)
  })
}

async function resolveUnreadable({ db, call }: PaymentService): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select gateway_payment_id as id from core.transaction where problem = 'unreadable'`.execute(db)
  await call('POST', `/api/payments/gateway_a/${rows[0]?.id}/resolve`, {
    outcome: 'dismiss',
    note: 'a test',
  })
}
