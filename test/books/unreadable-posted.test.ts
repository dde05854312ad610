import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { asPerson } from '../support/accounts/as-person.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, oddGateway } from '../support/books/odd-gateway.ts'
import { withReadback } from '../support/books/readback.ts'
import { ALL_DAY, filled, offBy } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'

/** A payment that a fetch has listed without its currency, so that it is in suspense as unreadable. */
async function withUnreadable(t: Test) {
  const item = itemOfA('pay_1', { currency: null })
  const { settings } = await oddGateway(t, listOfA(item))
  const service = withReadback(await paymentService(t, settings))
  await service.loan('L-1')
  const fetch = async () => {
    await fetchAll(service.call, 'gateway_a', ALL_DAY)
    await service.batch()
  }
  await fetch()
  const { payments } = (await service.call('GET', '/api/payments')).body
  return {
    ...service,
    item,
    fetch,
    resolve: async (id: string, decision: object) => {
      const said = { note: 'as the gateway told us', ...decision }
      const path = `/api/payments/gateway_a/${id}/resolve`
      t.equal((await service.call('POST', path, said, await asPerson(service))).status, 200)
      await service.batch()
      await service.readBack()
    },
    unreadable: payments[0].gateway_payment_id as string,
    /** All days until that of the last event, which the fetches cover too. */
    days: async () => {
      await sql`
        update core.gateway_window set covers = tstzrange(lower(covers), now() + interval '2 days')
         where source = 'api'`.execute(service.db)
      const { rows } = await sql<{ first: string; last: string }>`
        with changed as (
          insert into core.changed_day
          select (received_at at time zone 'Asia/Kolkata')::date from core.transaction
          returning day)
        select min(day)::text as first, max(day)::text as last from changed`.execute(service.db)
      const asked = async (query: string) =>
        (await service.call('GET', `/api/reconciliation?${query}`)).body.days
      const days = [
        ...(await asked('from=2026-02-01&to=2026-02-28')),
        ...(await asked(`from=${rows[0]?.first}&to=${rows[0]?.last}`)),
      ]
      for (const day of days) if (day.captured) t.equal(offBy(day), '0')
      return days.map((day: any) => [day.day, day.balanced, filled(day)])
    },
    upload: () =>
      uploadStatement(
        service.url,
        'gateway_a/statement?lender=LENDER_02',
        `${STATEMENT_HEADER}\npay_1,1000.00,INR,captured,${PAID_AT_ISO},,,,,`,
      ),
  }
}

const POST = { outcome: 'post', external_loan_id: 'L-1', amount: 1000, paid_on: '05 February 2026' }
const POSTED = ['2026-02-05', true, { posted: '1 1000.00' }]

t.test('an unreadable payment that was posted is posted on its day, and not missing', async t => {
  const service = await withUnreadable(t)
  await service.resolve(service.unreadable, POST)
  t.same(await service.days(), [['2026-02-05', false, { posted: '1 1000.00' }]], 'partial')
  await service.upload()
  t.same(await service.days(), [POSTED])
})

t.test('an unreadable payment that was posted is posted once its own row is dismissed', async t => {
  const service = await withUnreadable(t)
  await service.resolve(service.unreadable, POST)
  service.item.currency = 'INR' as never
  await service.fetch()
  t.same(await service.days(), [['2026-02-05', false, { suspense: '1 1000.00' }]])
  await service.resolve('pay_1', { outcome: 'dismiss' })
  t.same(await service.days(), [POSTED])
})

t.test('an unreadable payment that was handled is handled where its gateway has it', async t => {
  const service = await withUnreadable(t)
  await service.resolve(service.unreadable, { outcome: 'handled' })
  const [[, isBalanced, figures] = []] = await service.days()
  t.same([isBalanced, figures], [true, { handled: '1 0.00' }])
  await service.upload()
  t.same(await service.days(), [['2026-02-05', true, { handled: '1 1000.00' }]])
})

t.test('the part of an unreadable payment that an operator left out is handled', async t => {
  const service = await withUnreadable(t)
  await service.resolve(service.unreadable, { ...POST, amount: 900 })
  await service.upload()
  t.same(await service.days(), [['2026-02-05', true, { posted: '1 900.00', handled: '1 100.00' }]])
})

t.test('an unreadable payment that was undone by hand is in suspense on its day', async t => {
  const service = await withUnreadable(t)
  await service.resolve(service.unreadable, POST)
  await service.upload()
  await service.undo('gateway_a-pay_1')
  await service.readBack()
  t.same(await service.days(), [['2026-02-05', false, { suspense: '1 1000.00' }]])
})
