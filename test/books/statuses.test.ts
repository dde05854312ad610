import { sql } from 'kysely'
import t from 'tap'
import { withStatuses } from '../../src/books/apis/with-statuses.ts'
import type { PayloadFields } from '../../src/payments/gateways/gateway.ts'
import { gatewayA } from '../../src/payments/gateways/gateway-a/gateway-a.ts'
import type { ApiPayment, CallGateway } from '../../src/payments/gateways/gateway-api.ts'
import { gatewayB } from '../../src/payments/gateways/gateway-b/gateway-b.ts'
import { parseExact } from '../../src/payments/gateways/items/exact-json.ts'
import { majorUnits } from '../../src/payments/gateways/items/major-units.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const PAID_AT = '2026-02-05T10:00:00+05:30'

/** Each value of each field, together with each of the others. */
function every(fields: Record<string, unknown[]>): PayloadFields[] {
  return Object.entries(fields).reduce<PayloadFields[]>(
    (all, [name, values]) =>
      all.flatMap(one =>
        values.map(value => (value === undefined ? one : { ...one, [name]: value })),
      ),
    [{}],
  )
}

const WORDS_OF_A = ['created', 'pending', 'authorized', 'captured', 'refunded', 'failed', 'odd']
const WORDS_OF_B = ['SUCCESS', 'FAILED', 'USER_DROPPED', 'CANCELLED', 'VOID', 'PENDING', 'ACTIVE']

const itemsOfA = every({
  status: WORDS_OF_A,
  captured: [undefined, true, false, 'false', 0, '1', 'no'],
  method: [undefined, 'upi', 'cod', 'cash_on_delivery'],
}).map(fields => ({
  id: 'pay_1',
  amount: 100,
  currency: 'INR',
  created_at: 1_770_266_400,
  ...fields,
}))

const itemsOfB = every({
  payment_status: [...WORDS_OF_B, 'NOT_ATTEMPTED', 'INITIALIZED', 'ODD'],
  is_captured: [undefined, true, false, '0'],
  payment_group: [undefined, 'upi', 'cod', 'cash_on_delivery'],
  payment_method: [undefined, { upi: {} }, { cod: {} }],
  authorization: [undefined, { action: 'CAPTURE' }, { action: 'VOID' }],
}).map(fields => ({
  cf_payment_id: '1',
  payment_amount: 1,
  payment_currency: 'INR',
  payment_time: PAID_AT,
  ...fields,
}))

for (const [gateway, items, event] of [
  [
    gatewayA,
    itemsOfA,
    (entity: object) => ({ event: 'order.paid', payload: { payment: { entity } } }),
  ],
  [
    gatewayB,
    itemsOfB,
    (payment: object) => ({ type: 'PAYMENT_SUCCESS_WEBHOOK', data: { payment } }),
  ],
] as const)
  t.test(`a payment of ${gateway.title} is captured for a fetch as it is for a batch`, async t => {
    const { db } = await freshDatabase(t)
    const fetched: ApiPayment[] = []
    for (const item of items) {
      const answer: CallGateway = async () => parseExact(JSON.stringify(item))
      const payment = await gateway.client.reads(answer, majorUnits({ '': 1 })).payment('1', '1')
      fetched.push(payment as ApiPayment)
    }
    const stated = await withStatuses(db, gateway.name, fetched)
    const bodies = items.flatMap(item => [
      gateway.client.body({ kind: 'payment', item }),
      event(item),
    ])
    const { rows } = await sql<{ read: string | null }>`
      select case when f.problem is null then f.status end as read
        from jsonb_array_elements(${JSON.stringify(bodies)}::jsonb) with ordinality b (body, place)
        left join lateral ${sql.id('base', gateway.name)}(convert_to(body::text, 'UTF8')) f on true
       order by place`.execute(db)
    const differing = stated.filter(({ status }, at) => {
      const isCaptured = status === 'captured' || status === 'refunded'
      return rows.slice(2 * at, 2 * at + 2).some(({ read }) => (read === 'captured') !== isCaptured)
    })
    t.same(
      differing.map(({ status, item }) => ({ status, item })),
      [],
    )
    t.equal(new Set(stated.map(({ status }) => status)).size, gateway === gatewayA ? 5 : 4)
  })
