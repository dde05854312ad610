import { sql } from 'kysely'
import t from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { withReadback } from '../support/books/readback.ts'
import { ALL_DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { drawB, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

/** A transfer in gateway B's older format, under an id of its own. */
const collected = (id: number, utr: string) => ({
  event: 'AMOUNT_COLLECTED',
  referenceId: id,
  amount: '1000.00',
  paymentTime: '2026-02-05 10:00:00',
  vAccountId: 'VA1',
  utr,
})

/** The same in the report of today. */
function reported(id: string, bank_reference: string, order_tags: object | null = null) {
  const row = rowOfB(id, { payment: { bank_reference } })
  return { ...row, order_details: { order_id: `order-${id}`, order_tags } }
}

const DEBIT = drawB(
  'SUBSCRIPTION_PAYMENT_SUCCESS',
  { cf_txn_id: '11', payment_amount: 1000 },
  { loan_id: 'L-1' },
)

t.test('a transfer posted under its other id balances once the second is dismissed', async t => {
  // The bank’s reference may be in other capitals.
  const rows = [reported('11', 'n1'), reported('12', 'N2'), reported('13', 'N2')]
  const { settings } = await oddGateway(t, listOfB(...rows))
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  await service.call('PUT', '/api/references/gateway_b/virtual_account/VA1', {
    external_loan_id: 'L-1',
  })
  for (const event of [collected(1, 'N1'), collected(2, 'N2')])
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  await service.batch()
  await fetchAll(service.call, 'gateway_b', ALL_DAY)
  await service.batch()
  const days = async () =>
    (await reconciliation(service.call)).days.map((day: any) => [day.lender, filled(day)])
  t.same(await days(), [
    ['LENDER_02', { not_at_gateway: '2 2000.00' }],
    ['UNKNOWN', { suspense: '3 3000.00' }],
  ])
  const dismiss = (id: string) =>
    service.call('POST', `/api/payments/gateway_b/${id}/resolve`, {
      outcome: 'dismiss',
      note: 'posted under its other id',
    })
  for (const id of ['11', '12', '13']) t.equal((await dismiss(id)).status, 200)
  t.same(
    await days(),
    [
      ['LENDER_02', { unchecked: '2 2000.00' }],
      ['UNKNOWN', { dismissed: '1 1000.00' }],
    ],
    'a posted payment stands for one other only',
  )
})

for (const [name, booked] of Object.entries({
  'a transfer that names one loan in each format': collected(1, 'N1'),
  'a mandate debit': DEBIT,
}))
  t.test(`${name} balances once its payment of the other id is dismissed`, async t => {
    const { settings } = await oddGateway(t, listOfB(reported('11', 'N1', { loan_id: 'L-2' })))
    const service = await paymentService(t, settings)
    for (const loan of ['L-1', 'L-2']) await service.loan(loan)
    await service.call('PUT', '/api/references/gateway_b/virtual_account/VA1', {
      external_loan_id: 'L-1',
    })
    await service.webhook('gateway_b', booked, { lender: 'LENDER_02' })
    t.match(await service.batch(), { posted: 1 })
    await fetchAll(service.call, 'gateway_b', ALL_DAY)
    t.match(await service.batch(), { posted: 0, suspended: 1 })
    const dismissed = await service.call('POST', '/api/payments/gateway_b/11/resolve', {
      outcome: 'dismiss',
      note: 'posted under its other id',
    })
    t.equal(dismissed.status, 200)
    const { days } = await reconciliation(service.call)
    t.same(
      days.map((day: any) => [day.lender, filled(day)]),
      [['LENDER_02', { unchecked: '1 1000.00' }]],
    )
  })

for (const [name, booked] of Object.entries({
  'a transfer': { ...collected(49_914_526, 'N1'), paymentTime: '2026-02-05 23:59:50' },
  'a mandate debit': { ...DEBIT, event_time: '2026-02-05T23:59:50+05:30' },
}))
  t.test(`the day of ${name} and that of its other id change together`, async t => {
    const late = '2026-02-06T00:00:10+05:30'
    const payment = { payment_time: late, bank_reference: 'N1' }
    const { settings } = await oddGateway(
      t,
      listOfB(rowOfB('11', { event: { event_time: late }, payment })),
    )
    const service = withReadback(await paymentService(t, settings))
    await service.loan('L-1')
    await service.call('PUT', '/api/references/gateway_b/virtual_account/VA1', {
      external_loan_id: 'L-1',
    })
    const days = async () => {
      await until(async () => {
        const { rows } = await sql`select from core.changed_day limit 1`.execute(service.db)
        return rows.length === 0
      }, 'the days are worked out')
      const path = '/api/reconciliation?from=2026-02-05&to=2026-02-06'
      const { body } = await service.call('GET', path)
      return Object.fromEntries(body.days.map((day: any) => [day.day, filled(day)]))
    }
    await service.webhook('gateway_b', booked, { lender: 'LENDER_02' })
    t.match(await service.batch(), { posted: 1 })
    await fetchAll(service.call, 'gateway_b', { ...ALL_DAY, to: '2026-02-06T18:30:00Z' })
    await service.batch()
    await service.readBack()
    t.same(await days(), {
      '2026-02-05': { not_at_gateway: '1 1000.00' },
      '2026-02-06': { suspense: '1 1000.00' },
    })
    const decision = { outcome: 'dismiss', note: 'posted under its other id' }
    await service.call('POST', '/api/payments/gateway_b/11/resolve', decision)
    t.same(await days(), { '2026-02-06': { posted: '1 1000.00' } })
    await service.undo('gateway_b-49914526')
    await service.readBack()
    t.same(await days(), {
      '2026-02-05': { not_at_gateway: '1 1000.00' },
      '2026-02-06': { dismissed: '1 1000.00' },
    })
  })

for (const at of [PAID_AT_ISO, '2026-02-06T00:00:10+05:30'])
  t.test(`a debit is paired with the statement of ${at} under the id only it names`, async t => {
    const service = withReadback(await paymentService(t))
    await service.loan('L-1')
    const file = [STATEMENT_HEADER, `11,1000.00,INR,captured,${at},,,,,`].join('\n')
    const upload = () => uploadStatement(service.url, 'gateway_b/statement?lender=LENDER_02', file)
    const days = async () => {
      const path = '/api/reconciliation?from=2026-02-05&to=2026-02-06'
      const { body } = await service.call('GET', path)
      return body.days.map((day: any) => [day.day, filled(day)])
    }
    const stated = at.slice(0, 10)
    await upload()
    t.same(await days(), [[stated, { missing: '1 1000.00' }]])
    await service.webhook('gateway_b', DEBIT, { lender: 'LENDER_02' })
    await service.batch()
    await service.readBack()
    t.same(await days(), [[stated, { posted: '1 1000.00' }]])
    await service.undo('gateway_b-49914526')
    await service.readBack()
    t.same(await days(), [[stated, { suspense: '1 1000.00' }]])
  })

t.test('a day is shown although thousands of payments share a constant reference', async t => {
  const service = await paymentService(t)
  const { db } = service
  await service.webhook('gateway_b', collected(1, 'N1'), { lender: 'LENDER_02' })
  await service.batch()
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, amount, currency, paid_at, is_captured, is_verified,
      state, posted_at, decision, source, raw_id, received_at, hints)
    select gateway, kind, 'c' || n, lender, amount, currency, paid_at - past, true, false,
           case when past is null then 'dismissed' else 'posted' end, received_at - past, case when past is null then 'dismiss' end,
           source, raw_id, received_at, '{"bank_reference": "123456789012"}'
      from core.transaction, generate_series(1, 20050) n
     cross join lateral (select case when n > 50 then n * interval '5 minutes' + interval '10 days' end) ago (past)`.execute(
    db,
  )
  await sql`
    update core.transaction set paid_at = ${PAID_AT_ISO} where state = 'dismissed'`.execute(db)
  t.equal(
    (await service.call('GET', '/api/reconciliation?from=2026-02-05&to=2026-02-05')).status,
    200,
  )
})
