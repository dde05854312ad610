import t from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway, settledOfA } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

const settlements = async ({ call }: TestService) =>
  (await call('GET', '/api/settlements?utr=UTR1')).body.settlements

/** Two payments and two refunds, of which one each is charged to credits, and the other to the settlement. */
const rows = [
  settledOfA('pay_1', 'payment', { amount: 100_000, fee: 2_360, tax: 360, credit: 100_000 }),
  settledOfA('pay_2', 'payment', { amount: 100_000, fee: 2_360, tax: 360, credit: 97_640 }),
  settledOfA('rfnd_1', 'refund', { amount: 5_000, payment_id: 'pay_1' }),
  settledOfA('rfnd_2', 'refund', { amount: 7_000, fee: 590, tax: 90, debit: 7_590 }),
]
const REPORT = [
  'type,entity_id,amount,currency,fee,tax,debit,credit,created_at,settlement_id,settled_at,settlement_utr',
  ...[
    'payment,pay_1,1000,INR,23.6,3.6,0,1000',
    'payment,pay_2,1000,INR,23.6,3.6,0,976.4',
    'refund,rfnd_1,50,INR,0,0,0,0',
    'refund,rfnd_2,70,INR,5.9,0.9,75.9,0',
  ].map(row => `${row},2026-02-05 10:00:00,setl_1,2026-02-07 12:00:00,UTR1`),
].join('\n')

const EXPECTED = [
  {
    payments: 2,
    gross: /^2000/,
    fees: /^25(\.0+)?$/,
    tax: /^4\.50?$/,
    refunds: /^70/,
    paid_out: /^1900\.50?$/,
    off_by: /^0/,
    adds_up: true,
  },
]

t.test('fees and refunds that were charged to credits are not taken off a settlement', async t => {
  const { settings } = await oddGateway(t, ({ path, query }) => {
    if (path === '/v1/payments') return { items: [itemOfA('pay_1'), itemOfA('pay_2')] }
    const isItsDay = path.startsWith('/v1/settlements') && query.get('day') === '5'
    return isItsDay ? { items: rows } : undefined
  })
  const service = await startTestService(t, settings)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  t.match(await settlements(service), EXPECTED)
})

t.test('a report’s fees and refunds that were charged to credits are not taken off', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const path = 'gateway_a/statement?lender=LENDER_02'
  t.match(await uploadStatement(service.url, path, REPORT), { status: 201 })
  t.match(await settlements(service), EXPECTED)
})

const OF_B = [
  'Event ID,Event Type,Sale Type,Event Currency,Event Time,Status,Event Amount,Event Settlement Amount,Settlement Date,UTR,Cashfree Reference ID,Transaction Amount,Transaction Service Charge,Txn ST/GST,Transaction Time',
  '1,PAYMENT,CREDIT,INR,2026-02-05 10:00:09,SUCCESS,1000.00,976.40,2026-02-07 12:00:00,UTR1,1,1000.00,20.00,3.60,2026-02-05 10:00:00',
  '77,REFUND,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,50.00,-50.00,2026-02-07 12:00:00,UTR1,1,1000.00,20.00,3.60,2026-02-05 10:00:00',
].join('\n')

t.test('a payment’s fee that its refund’s row repeats is taken off a settlement once', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const path = 'gateway_b/statement?lender=LENDER_02'
  t.match(await uploadStatement(service.url, path, OF_B), { status: 201 })
  t.match(await settlements(service), [
    { fees: '20.00', tax: '3.60', refunds: '50.00', paid_out: '926.40', adds_up: true },
  ])
})
