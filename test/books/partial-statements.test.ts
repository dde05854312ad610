import t from 'tap'
import { DAY_MS } from '../../src/day.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, oddGateway } from '../support/books/odd-gateway.ts'
import { ALL_DAY, filled, offBy, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { capturedA, PAID_AT, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { type PaymentService, paymentService } from '../support/payments/payments.ts'

const PATH = 'gateway_a/statement?lender=LENDER_02'
const row = (id: string, amount: string, at = PAID_AT_ISO) =>
  `${id},${amount},INR,captured,${at},,,,,`
const upload = ({ url }: PaymentService, ...rows: string[]) =>
  uploadStatement(url, PATH, [STATEMENT_HEADER, ...rows].join('\n'))

/** A service with two posted payments of 1,000 of the day. */
async function withPayments(t: Parameters<typeof paymentService>[0], settings = {}) {
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  for (const id of ['pay_1', 'pay_2'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  return service
}

const dayOf = async (service: PaymentService) => (await reconciliation(service.call)).days[0]

t.test('a refused row leaves its day partial, and nothing is not_at_gateway for it', async t => {
  const service = await withPayments(t)
  const other = '2026-02-07T10:00:00+05:30'
  t.match((await upload(service, row('pay_1', '1000.00'), row('pay_2', '"1.000,00"'))).body, {
    valid_rows: 1,
    invalid_rows: 1,
  })
  const partial = await dayOf(service)
  t.match(partial, { statement: 'partial', captured: null, balanced: false })
  t.same(filled(partial), { unchecked: '2 2000.00' })
  const { totals } = await reconciliation(service.call)
  t.match(totals, { statement: 'partial', captured: null })

  t.match((await upload(service, row('pay_2', '1000.00'))).status, 201)
  const complete = await dayOf(service)
  t.match(complete, { statement: 'complete', captured: { payments: 2, amount: '2000.00' } })
  t.equal(offBy(complete), '0')

  await upload(service, row('pay_3', '7.00', other), row('pay_4', '7,5', other))
  t.match(await dayOf(service), { statement: 'complete' }, 'a refused row of another day')
})

t.test('the headers of reports that were joined leave no day partial', async t => {
  const service = await withPayments(t)
  await upload(service, row('pay_1', '1000.00'), STATEMENT_HEADER, row('pay_2', '1000.00'))
  t.match(await dayOf(service), { statement: 'complete', captured: { payments: 2 } })
})

t.test('a refused row without a readable day leaves all days of its file partial', async t => {
  const service = await withPayments(t)
  await upload(service, row('pay_1', '1000.00'), row('pay_2', '1000.00', '05/02/2026 10:00'))
  t.match(await dayOf(service), {
    statement: 'partial',
    buckets: { not_at_gateway: { payments: 0 } },
  })
  await upload(service, row('pay_1', '1000.00'), 'pay_2,1000.00')
  t.match(await dayOf(service), { statement: 'partial' }, 'a row with too few cells')
})

t.test('a payment of the future or another century is refused, and stays in its month', async t => {
  const service = await withPayments(t)
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString()
  await upload(service, row('pay_1', '1000.00'), row('pay_2', '1000.00'))
  for (const at of ['2962-02-05 10:00:00', '1926-02-05 10:00', '05-Feb-62 10:00'])
    t.match(
      (await upload(service, row('pay_1', '1000.00', at), row('pay_3', '7.00', tomorrow))).body,
      {
        valid_rows: 1,
        errors: [{ line: 2, reason: /^captured_at is .*, in the future or before 2000$/ }],
      },
    )
  t.match(await dayOf(service), { statement: 'complete', captured: { amount: '2000.00' } })
})

t.test('a day that no file covers has no statement', async t => {
  const service = await withPayments(t)
  t.match(await dayOf(service), { statement: null, captured: null })
  t.match((await reconciliation(service.call)).totals, { statement: null })
})

t.test('a file without a valid row is refused with reasons, and leaves nothing behind', async t => {
  const service = await withPayments(t)
  const { status, body } = await upload(service, row('pay_1', '"1,000"'), row('pay_2', 'x'))
  t.equal(status, 400)
  t.match(body, {
    code: 'INVALID_PAYLOAD',
    detail: /^The file has no valid row: line 2: amount must be.*; line 3: amount must be/,
  })
  t.match(await dayOf(service), { statement: null })
  const list = await service.call('GET', '/api/gateways/gateway_a/statements')
  t.same(list.body, { statements: [], next_cursor: null })
})

t.test('amounts with groups that fit and a decimal point are read, and no others', async t => {
  const service = await paymentService(t)
  const read = ['"4,583.99"', '"1,23,456.70"', '"12,34,56,789.5"', '"1,234,567.89"']
  const odd = [
    '"4583,99"',
    '"4,583"',
    '"45,83.99"',
    '"1,2345.00"',
    '"4.583,99"',
    '",583.99"',
    "4'583.99",
    '4583.000',
    '"4,583.000"',
  ]
  const rows = [...read, ...odd].map((amount, n) => row(`pay_${n}`, amount))
  const { body } = await upload(service, ...rows)
  t.same(
    body.errors.map(({ line }: any) => line),
    odd.map((_, n) => 2 + read.length + n),
  )
  const day = await reconciliation(service.call)
  t.match(day.days[0], { statement: 'partial', buckets: { missing: { amount: '124819398.08' } } })
})

t.test('a fetch that could not read a payment leaves its day partial until one can', async t => {
  let currency: string | null = null
  const { settings } = await oddGateway(t, asked =>
    listOfA(itemOfA('pay_1'), itemOfA('pay_2', { currency }))(asked),
  )
  const service = await withPayments(t, settings)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  const day = await dayOf(service)
  t.match(day, {
    statement: 'partial',
    captured: null,
    buckets: { not_at_gateway: { payments: 0 } },
  })
  currency = 'INR'
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  t.match(await dayOf(service), { statement: 'complete', captured: { payments: 2 } })
})

t.test('an item without a time leaves the days of its fetch partial', async t => {
  const { settings } = await oddGateway(
    t,
    listOfA(itemOfA('pay_1'), itemOfA('pay_2', { created_at: null })),
  )
  const service = await withPayments(t, settings)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  t.match(await dayOf(service), { statement: 'partial' })
  t.equal(PAID_AT, Date.parse(PAID_AT_ISO) / 1_000)
})
