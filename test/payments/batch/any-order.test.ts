import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { capturedA, disputeA, eventA, refundA } from '../../support/payments/gateway-events.ts'

type Case = { name: string; events: (id: string) => object[]; payment: string; refund?: string }

const never = { status: 'authorized', payment: { captured: false } }
const loan = 'L-1'

/** What the events of one payment make of it, and of its refund, in whatever order they come. */
const CASES: Case[] = [
  {
    name: 'captured, its order and a late authorized',
    events: id => [
      capturedA({ id, loan }),
      eventA('order.paid', { id }),
      eventA('payment.authorized', { id, status: 'authorized', loan }),
      eventA('payment.failed', { id, status: 'failed', loan }),
    ],
    payment: 'waiting',
  },
  {
    name: 'captured and refunded',
    events: id => [
      capturedA({ id, loan }),
      refundA({ id: `r${id}`, of: id, status: 'created' }),
      refundA({ id: `r${id}`, of: id }),
    ],
    payment: 'suspense refund',
    refund: 'suspense refund',
  },
  {
    name: 'captured, and a refund that came to nothing',
    events: id => [
      capturedA({ id, loan }),
      refundA({ id: `r${id}`, of: id, status: 'created', payment: { loan } }),
      refundA({ id: `r${id}`, of: id, status: 'failed' }),
    ],
    payment: 'waiting',
    refund: 'failed',
  },
  {
    name: 'failed, and its money returned',
    events: id => [
      eventA('payment.failed', { id, status: 'failed' }),
      refundA({ id: `r${id}`, of: id, status: 'created' }),
      refundA({ id: `r${id}`, of: id, payment: never }),
    ],
    payment: 'failed',
    refund: 'returned',
  },
  {
    name: 'a dispute that was won, after a part of the events named no loan',
    events: id => [
      capturedA({ id }),
      eventA('order.paid', { id, loan }),
      { ...disputeA('created', { id }), account_id: 'first' },
      disputeA('won', { id }),
    ],
    payment: 'waiting',
  },
  {
    name: 'two that disagree, and a third that agrees with one',
    events: id => [
      capturedA({ id, loan }),
      eventA('order.paid', { id, loan, amount: 5 }),
      eventA('payment_link.paid', { id, loan }),
    ],
    payment: 'suspense events_disagree',
  },
  {
    name: 'a whole refund seen before the payment itself',
    events: id => [
      capturedA({ id, loan }),
      refundA({
        id: `r${id}`,
        of: id,
        payment: { loan, status: 'refunded', payment: { captured: true } },
      }),
    ],
    payment: 'suspense refund',
    refund: 'suspense refund',
  },
]

t.test('a payment’s events lead to the same state in any order, in one batch or many', async t => {
  const { db } = await freshDatabase(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(db)
  let n = 0
  for (const { name, events, payment, refund } of CASES) {
    for (const order of permutations(events('x').map((_, i) => i))) {
      for (const isOneBatch of [true, false]) {
        const id = `pay_${++n}`
        const all = events(id)
        for (const i of order) {
          const body = Buffer.from(JSON.stringify(all[i]))
          await sql`insert into raw.lender_02_gateway_a (body) values (${body})`.execute(db)
          if (!isOneBatch) await sql`select core.transform('lender_02_gateway_a', 100)`.execute(db)
        }
        await sql`select core.transform('lender_02_gateway_a', 100)`.execute(db)
        const { rows } = await sql<{ kind: string; fate: string }>`
          select kind, concat_ws(' ', state, reason) as fate from core.transaction
           where gateway_payment_id in (${id}, ${`r${id}`}) order by kind`.execute(db)
        const fates = Object.fromEntries(rows.map(row => [row.kind, row.fate]))
        t.match(fates, { payment, ...(refund && { refund }) }, `${name}: ${order}`)
      }
    }
  }
})

function permutations(items: number[]): number[][] {
  if (items.length < 2) return [items]
  return items.flatMap(first =>
    permutations(items.filter(item => item !== first)).map(rest => [first, ...rest]),
  )
}
