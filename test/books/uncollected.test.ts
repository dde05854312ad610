import { sql } from 'kysely'
import t from 'tap'
import { paidB } from '../support/books/confirm.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { uploadStatement } from '../support/books/statements.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { type PaymentService, paymentService } from '../support/payments/payments.ts'

const stated = async ({ db }: PaymentService) =>
  (
    await sql<{
      id: string
    }>`select gateway_payment_id as id from ops.statement order by 1`.execute(db)
  ).rows.map(({ id }) => id)

/** The ways in which a payment of gateway B says that nobody has collected it yet. */
const UNCOLLECTED = [
  { is_captured: false },
  { is_captured: 'false' },
  { is_captured: 0 },
  { payment_group: 'cash_on_delivery' },
  { payment_group: 'cod' },
  { payment_method: { cash_on_delivery: {} } },
  { payment_method: { cod: { channel: 'link' } } },
  { authorization: { action: 'VOID', status: 'SUCCESS', captured_amount: null } },
]

/** Gateway B's answer about one payment. */
const paymentOfB = (id: string, more: object = {}) => ({
  cf_payment_id: id,
  order_id: `order_${id}`,
  payment_status: 'SUCCESS',
  payment_amount: 1_000,
  payment_currency: 'INR',
  payment_time: PAID_AT_ISO,
  ...more,
})

t.test(
  'a payment that is listed as paid but was never collected is neither posted nor in the statement',
  async t => {
    const collected = { is_captured: true, payment_group: 'upi', payment_method: { upi: {} } }
    const { settings } = await oddGateway(t, asked =>
      asked.path === '/pg/recon'
        ? listOfB(
            ...UNCOLLECTED.map((payment, n) => rowOfB(`${n}`, { payment })),
            { ...rowOfB('8').event_details, ...rowOfB('8').payment_details, payment_group: 'cod' },
            rowOfB('9', { payment: collected }),
          )(asked)
        : listOfA(
            itemOfA('pay_cod', { method: 'cod' }),
            itemOfA('pay_1', { method: 'upi' }),
          )(asked),
    )
    const service = await paymentService(t, settings)
    await service.loan('L-1')
    t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { status: 'completed', missed: 1 })
    t.match(await fetchAll(service.call, 'gateway_b', ALL_DAY), { status: 'completed', missed: 1 })
    await service.batch()
    t.same((await service.repayments()).map(({ externalId }) => externalId).sort(), [
      'gateway_a-pay_1',
      'gateway_b-9',
    ])
    t.same(await stated(service), ['9', 'pay_1'])
  },
)

t.test('money that nobody has collected is not confirmed by its gateway', async t => {
  const { settings } = await oddGateway(t, ({ path }) => {
    const id = /^\/pg\/orders\/[^/]+\/payments\/(\d+)$/.exec(path)?.[1]
    return id === undefined ? undefined : paymentOfB(id, UNCOLLECTED[Number(id)])
  })
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { confirm: true } } })
  const service = await paymentService(t, { ...settings, LENDERS_FILE })
  await service.loan('L-7', { product: 7 })
  for (const id of UNCOLLECTED.keys())
    await service.webhook('gateway_b', paidB(String(id)), { lender: 'LENDER_07' })
  await service.batch()
  t.same(await service.repayments(), [])
  const { body } = await service.call('GET', '/api/payments?reason=not_at_gateway')
  t.equal(body.payments.length, UNCOLLECTED.length)
  t.match(body.payments[0], { detail: 'the gateway has not captured it' })
})

t.test('of a reserved payment, the part that was captured is confirmed and posted', async t => {
  const authorization = { action: 'CAPTURE', status: 'SUCCESS', captured_amount: 600.5 }
  const { settings } = await oddGateway(t, ({ path }) =>
    path.endsWith('/payments/1') ? paymentOfB('1', { authorization }) : undefined,
  )
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { confirm: true } } })
  const service = await paymentService(t, { ...settings, LENDERS_FILE })
  await service.loan('L-7', { product: 7 })
  const event: any = paidB('1')
  event.data.payment.authorization = authorization
  await service.webhook('gateway_b', event, { lender: 'LENDER_07' })
  await service.batch()
  t.match((await service.payment(1, 'gateway_b')).payment, { amount: '600.5' })
  t.match(await service.assign('1', 'L-7', 'gateway_b'), { status: 200 })
  await service.batch()
  t.match(await service.repayments(), [{ externalId: 'gateway_b-1', amount: 600.5 }])
})

t.test('an uncollected payment is not in the statement of a gateway’s own export', async t => {
  const service = await paymentService(t, { ROLE: 'api' })
  const upload = async (gateway: string, ...lines: string[]) => {
    const path = `${gateway}/statement?lender=LENDER_02`
    const { status, body } = await uploadStatement(service.url, path, lines.join('\n'))
    t.equal(status, 201, JSON.stringify(body))
  }
  await upload(
    'gateway_a',
    'id,amount,currency,status,method,captured,fee,tax,created_at',
    'pay_cod,1000,INR,captured,cod,1,0,0,2026-02-05T10:00:00',
    'pay_1,1000,INR,captured,upi,1,0,0,2026-02-05T10:00:00',
  )
  await upload(
    'gateway_b',
    'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_payment_id,payment_amount,payment_time,payment_group',
    `1,PAYMENT,10,INR,SUCCESS,${PAID_AT_ISO},CREDIT,1,10,${PAID_AT_ISO},cash_on_delivery`,
    `2,PAYMENT,10,INR,SUCCESS,${PAID_AT_ISO},CREDIT,2,10,${PAID_AT_ISO},upi`,
  )
  t.same(await stated(service), ['2', 'pay_1'])
})
