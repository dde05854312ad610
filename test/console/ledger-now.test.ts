import t, { type Test } from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { clientData, newName } from '../support/ledger/loans.ts'
import { type Interference, startProxy } from '../support/ledger/proxy.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { runBatch, webhooks } from '../support/payments/payments.ts'
import { operate, TOKEN } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Longer than this test takes: a read that ends sooner was aborted. */
const LEDGER_TIMEOUT_MS = '60000'
const PAGES = 60
const MOST_READS = 2

t.test('no page about an id leads our credentials to another resource', async t => {
  const { viewer, proxy } = await startBehindProxy(t)
  const paths = ['..%2F..%2Fusers%2F1', 'C-1%3Fa%3Db', 'C-1%2F..%2F..']
  for (const path of paths) await viewer(`/console/clients/${path}?ledger=now`)
  for (const path of paths) await viewer(`/console/loans/${path}?ledger=now`)
  // The worker looks for the lenders' products when it starts.
  const targets = proxy.targets.filter(target => !target?.endsWith('/loanproducts'))
  for (const target of targets) {
    t.match(
      target,
      /^\/fineract-provider\/api\/v1\/(offices|(clients|loans)(\?externalId=[^/?&]+|\/external-id\/[^/?]+(\?associations=[\w%]+)?))$/,
    )
    t.notMatch(target, /\/\.{1,2}(\/|\?|$)/)
  }
  // What no path takes is looked up in a list, and then whether the list shows everything.
  t.equal(targets.length, 2 * (2 + 1 + 2))
})

t.test('operations do not wait for people who look at a slow ledger', async t => {
  const { viewer, call, proxy } = await startBehindProxy(t)
  proxy.interferences.push(hanging('L-slow'))
  const pages = Array.from({ length: PAGES }, () => viewer('/console/loans/L-slow?ledger=now'))
  // On a busy machine, the pages give up before the next poll.
  await until(async () => proxy.mostUnderWay >= MOST_READS)
  const ended = await operate(call, 'CLIENT_CREATE', clientData(newName('C')))
  t.match(ended, { status: 'success' })
  await Promise.all(pages)
  t.ok(proxy.mostUnderWay <= MOST_READS + 1, `${proxy.mostUnderWay} calls at a time`)
  t.ok(await until(async () => proxy.underWay === 0), 'every read ended with its page')
})

t.test('reads for people that fail do not hold up operations', async t => {
  const { viewer, url, proxy } = await startBehindProxy(t)
  proxy.interferences.push({ of: 'L-503', on: 'reads', status: 503 })
  for (let i = 0; i < 6; i++)
    t.match((await viewer('/console/loans/L-503?ledger=now')).text, 'The ledger cannot be read.')
  t.match(await (await fetch(`${url}/metrics`)).text(), /^loanops_ledger_breaker_open 0$/m)
})

t.test('a read for a caller ends when the caller goes away', async t => {
  const { call, url, proxy } = await startBehindProxy(t)
  await webhooks(url)('gateway_a', capturedA({ id: 'pay_1' }), { lender: 'LENDER_02' })
  await runBatch(call)
  proxy.interferences.push(hanging('L-slow'))
  const leaving = new AbortController()
  const resolving = fetch(`${url}/api/payments/gateway_a/pay_1/resolve`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { 'x-internal-token': TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({
      outcome: 'handled',
      note: 'by hand',
      external_loan_id: 'L-slow',
      ledger_transaction_id: 1,
    }),
  }).catch(error => error.name)
  await until(async () => proxy.underWay === 1)
  leaving.abort()
  t.equal(await resolving, 'AbortError')
  t.ok(await until(async () => proxy.underWay === 0))
})

const hanging = (of: string): Interference => ({ of, on: 'reads', hangs: true })

async function startBehindProxy(t: Test) {
  const proxy = await startProxy(t)
  const service = await startWithConsole(t, { LEDGER_URL: proxy.url, LEDGER_TIMEOUT_MS })
  proxy.target = service.ledger.url
  return { ...service, proxy }
}
