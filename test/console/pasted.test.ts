import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { runBatch } from '../support/payments/payments.ts'

const { url, call, operator } = await startWithConsole(t)
await fillConsole(url)
const event = capturedA({ id: 'pay_plus', loan: '+91-L-1' })
await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
await runBatch(call)

t.test('a filter that is pasted with blanks around it finds the same', async t => {
  for (const path of ['payments?loan=', 'operations?external_id=', 'search?q=']) {
    const pasted = encodeURIComponent('\u00a0L-1001\t')
    const [plain, blank] = await Promise.all(
      ['L-1001', pasted].map(id => operator(`/console/${path}${id}`)),
    )
    t.equal(blank?.headers.get('location'), plain?.headers.get('location'), path)
    t.equal(linksIn(blank?.text), linksIn(plain?.text), path)
  }
})

const linksIn = (text = '') => text.match(/<td[^>]*><a href/g)?.length

t.test('a search finds an id as our CSV files write it, with an apostrophe before it', async t => {
  const { text } = await operator('/console/payments.csv?loan=%2B91-L-1')
  const [cell = ''] = /'[^,]*91-L-1/.exec(text) ?? []
  const { headers } = await operator(`/console/search?q=${encodeURIComponent(cell)}`)
  t.equal(headers.get('location'), '/console/loans/%2B91-L-1')
  // People type one before a long number, so that the spreadsheet keeps its digits.
  const reference = { acquirer_data: { rrn: '412345678901' } }
  const paid = capturedA({ id: 'pay_rrn', payment: reference })
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', paid)
  await runBatch(call)
  const found = await operator(`/console/search?q=${encodeURIComponent("'412345678901")}`)
  t.equal(found.headers.get('location'), '/console/payments/gateway_a/pay_rrn')
})

t.test(
  'a search finds an id in quotation marks, before a comma, or in letters of another case',
  async t => {
    const found = async (q: string) =>
      (await operator(`/console/search?q=${encodeURIComponent(q)}`)).headers.get('location')
    for (const spelt of ['"L-1001"', '“L-1001”', '„L-1001“', 'L-1001,', '"L-1001";', 'l-1001'])
      t.equal(await found(spelt), '/console/loans/L-1001', spelt)
  },
)

t.test('a search finds a payment or a loan as messages and callbacks name it', async t => {
  const found = async (q: string) =>
    (await operator(`/console/search?q=${encodeURIComponent(q)}`)).headers.get('location')
  const page = await found('pay_plus')
  for (const spelt of ['gateway_a/pay_plus', 'payment:gateway_a/pay_plus', 'gateway_a-pay_plus-r2'])
    t.equal(await found(spelt), page, spelt)
  t.equal(await found('loan:L-1001'), '/console/loans/L-1001')
  t.equal(page, '/console/payments/gateway_a/pay_plus')
})

t.test('a search that shows only some of what it finds says so', async t => {
  const says = async () =>
    /there may be more/.test((await operator('/console/search?q=a@upi')).text)
  const pay = async (from: number, to: number) => {
    for (let i = from; i <= to; i++) {
      const event = capturedA({ id: `pay_of_payer_${i}`, payment: { vpa: 'a@upi' } })
      await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
    }
    await runBatch(call)
  }
  await pay(1, 19)
  t.notOk(await says())
  await pay(20, 25)
  t.ok(await says())
})
