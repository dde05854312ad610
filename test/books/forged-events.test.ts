import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import { gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { allSaved, paymentService } from '../support/payments/payments.ts'

const LOANS = ['L-7', 'L-77']
const samples: { body: object }[] = JSON.parse(
  readFileSync(new URL('../payments/gateways/gateway-b-samples.json', import.meta.url), 'utf8'),
).samples

/** What a forger may know of a payment: `amount` where it is not the sample's. */
type Known = { id: string; order: string; loan: string; amount?: number }

/** Every documented sample, the retired credit to a virtual account, and what only a fetch stores. */
const SHAPES: object[] = [
  ...samples.map(({ body }) => body),
  {
    event: 'AMOUNT_COLLECTED',
    referenceId: 1,
    amount: '1.00',
    paymentTime: '2026-02-05 10:00:00',
    external_loan_id: 'L-7',
  },
  {
    type: 'LOANOPS_BACKFILL',
    data: {
      cf_payment_id: '1',
      order_id: 'o',
      payment_status: 'SUCCESS',
      is_captured: true,
      payment_amount: 1,
      payment_currency: 'INR',
      payment_time: '2026-02-05T10:00:00+05:30',
    },
    order: { order_id: 'o', order_tags: {} },
  },
]

/** `n` makes an id that nobody has. */
const KNOWN: ((n: number) => Known)[] = [
  n => ({ id: `7${n}`, order: `order-${n}`, loan: 'L-7' }),
  () => ({ id: '900', order: 'order_900', loan: 'L-7' }),
  () => ({ id: '900', order: 'order_900', loan: 'L-77', amount: 4321 }),
  () => ({ id: '900', order: 'order_901', loan: 'L-7', amount: 4321 }),
  () => ({ id: '901', order: 'order_901', loan: 'L-7', amount: 4321 }),
]

/** The lender as whose an event is sent, and what is sent beside it. */
const SENDERS: { query?: string; lender?: string; headers?: Record<string, string> }[] = [
  { query: '?lender=LENDER_07' },
  {},
  { query: '?lender=LENDER_02' },
  { query: '?lender=NOBODY' },
  { query: '?lender=LENDER_07&lender=LENDER_02' },
  { lender: 'LENDER_07' },
  { lender: 'LENDER_02' },
  { query: '?lender=LENDER_07', headers: { 'x-idempotency-key': 'the-genuine-one' } },
  {
    query: '?lender=LENDER_07',
    headers: { 'x-webhook-timestamp': '1', 'x-webhook-signature': 'AAAA' },
  },
  { query: '?lender=LENDER_07', headers: { 'x-forwarded-for': '10.1.2.3' } },
]

const TAGS = ['order_tags', 'link_notes', 'subscription_tags']

/** The same event about another payment. */
function about(value: unknown, known: Known, lender: string | undefined, n: number): unknown {
  if (Array.isArray(value)) return value.map(one => about(one, known, lender, n))
  if (typeof value !== 'object' || value === null) return value
  const tags = { external_loan_id: known.loan, ...(lender && { lender }) }
  const own = (name: string, inner: unknown): unknown => {
    if (TAGS.includes(name)) return tags
    if (['cf_payment_id', 'referenceId'].includes(name)) return known.id
    if (['cf_refund_id', 'dispute_id'].includes(name)) return `8${n}`
    if (name === 'order_id') return known.order
    if (/amount$/.test(name) && known.amount !== undefined) return known.amount
    return about(inner, known, lender, n)
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, own(name, inner)]))
}

const forged = SHAPES.flatMap(shape =>
  KNOWN.flatMap(known => SENDERS.map(sender => ({ shape, known, sender }))),
)

t.test('of a thousand forged events of gateway B, none becomes a repayment', async t => {
  t.ok(forged.length >= 1_000, `${forged.length} events`)
  const gateways = await gatewaySandbox(t)
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { confirm: true } } })
  const service = await paymentService(t, { ...gateways.settings, LENDERS_FILE })
  for (const loan of LOANS) await service.loan(loan, { product: 7 })
  const real = { gateway: 'gateway_b', amount: 432_100, created_at: PAID_AT }
  await gateways.put('/payments', [
    { ...real, id: '900', notes: { loan_id: 'L-7' } },
    { ...real, id: '901', notes: { loan_id: 'L-7' }, status: 'failed' },
  ])
  const left = forged.entries()
  const statuses = new Set<number>()
  const send = async () => {
    for (const [n, { shape, known, sender }] of left) {
      const body = JSON.stringify(about(shape, known(n), sender.lender, n))
      const url = `${service.url}/api/webhooks/gateway_b${sender.query ?? ''}`
      const headers = { 'content-type': 'application/json', ...sender.headers }
      statuses.add((await fetch(url, { method: 'POST', headers, body })).status)
    }
  }
  await Promise.all(Array.from({ length: 20 }, send))
  t.same([...statuses], [200])
  await allSaved(service.db)
  await service.batch()
  await service.batch()
  t.same(await service.repayments(), [])
  const { rows } = await sql<{ state: string }>`
    select distinct state from core.transaction order by state`.execute(service.db)
  t.same(
    rows.map(({ state }) => state),
    // A refund of nothing is returned.
    ['failed', 'returned', 'suspense'],
    'none is on its way either',
  )
  t.ok((await gateways.calls()).length < 1_000, 'nor does each of them cost a question')

  const url = `${service.url}/api/webhooks/gateway_b?lender=LENDER_07`
  await gateways.sendWebhook({ gateway: 'gateway_b', id: '900', url })
  await service.batch()
  t.match(
    await service.repayments(),
    [{ externalId: 'gateway_b-900', amount: '4321.00', loanExternalId: 'L-7' }],
    'and the genuine one is posted all the same',
  )
})
