import { sql } from 'kysely'
import t from 'tap'
import { disputeA, successB } from '../../support/payments/gateway-events.ts'
import { sourceOf } from '../../support/payments/source.ts'

const PAYMENT = successB({ loan: 'L-1' })

const dispute = (type: string, status: string, at: string) => ({
  type,
  data: {
    dispute: {
      dispute_id: '77',
      dispute_type: 'DISPUTE',
      dispute_amount: '40.5',
      created_at: '2026-02-06T10:00:00+05:30',
      updated_at: at,
      dispute_status: status,
    },
    order_details: { cf_payment_id: 1_453_002_795, payment_currency: 'INR' },
  },
})
const CREATED = dispute('DISPUTE_CREATED', 'DISPUTE_CREATED', '2026-02-06T10:00:00+05:30')
const WON = dispute('DISPUTE_CLOSED', 'CHARGEBACK_MERCHANT_WON', '2026-02-07T10:00:00+05:30')
const AGAIN = dispute('DISPUTE_UPDATED', 'PRE_ARBITRATION_CREATED', '2026-02-08T10:00:00+05:30')
const LOST = dispute('DISPUTE_CLOSED', 'PRE_ARBITRATION_MERCHANT_LOST', '2026-02-09T10:00:00+05:30')
const WON_AT_LAST = dispute('DISPUTE_CLOSED', 'ARBITRATION_MERCHANT_WON', '2026-02-10T10:00:00Z')

const HELD = ['payment 1453002795 suspense chargeback', 'chargeback 77 suspense chargeback']
const RELEASED = ['payment 1453002795 waiting', 'chargeback 77 failed']

for (const [what, events, fates] of [
  ['an open dispute holds its payment', [CREATED], HELD],
  ['a dispute that was won releases its payment', [CREATED, WON], RELEASED],
  ['the next phase of a dispute that was won holds its payment again', [CREATED, WON, AGAIN], HELD],
  ['a lost dispute holds its payment', [CREATED, WON, AGAIN, LOST], HELD],
  [
    'a dispute lost in one phase and won in the next releases its payment',
    [LOST, WON_AT_LAST],
    RELEASED,
  ],
] as const)
  t.test(`${what}, in whatever order the dispute’s events come`, async t => {
    for (const order of [events, events.toReversed()]) {
      const service = await sourceOf(t, 'gateway_b')
      await service.save(PAYMENT)
      await service.transform()
      for (const event of order) {
        await service.save(event)
        await service.transform()
      }
      t.same(await service.fates(), fates)
    }
  })

t.test('a lost dispute of gateway A states what was deducted', async t => {
  const service = await sourceOf(t, 'gateway_a')
  const lost: any = disputeA('lost', { loan: 'L-1' })
  Object.assign(lost.payload.dispute.entity, { amount: 100_000, amount_deducted: 39_000 })
  await service.save(lost)
  await service.transform()
  const { rows } = await sql`
      select gateway_payment_id, amount::text from ops.payment order by 1`.execute(service.db)
  t.same(rows, [
    { gateway_payment_id: 'disp_1', amount: '390.00' },
    { gateway_payment_id: 'pay_1', amount: '1000.00' },
  ])
})
