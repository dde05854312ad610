import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { openReference } from '../../../src/ledger/reference/reference.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { atLedger, control } from '../../support/ledger/loans.ts'
import { startProxy } from '../../support/ledger/proxy.ts'
import { testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Long enough that a newer list is read, and longer than a list may be used. */
const SOON_MS = 45_000
const LATER_MS = 61_000
const NO_DATABASE = 'postgres://nobody@127.0.0.1:1/none'

async function referenceOf(t: Test, url?: string) {
  const ledger = await startSandbox({ port: 0 })
  const config = readConfig(testEnv(NO_DATABASE, url ?? ledger.url, { LEDGER_TIMEOUT_MS: '2000' }))
  const client = openLedger(config)
  t.teardown(async () => {
    await client.cutOff()
    await ledger.close()
  })
  const hangs = async () => (await control({ ledger }, 'GET', '/counters')).faults.hang ?? 0
  return { ledger, reference: openReference(client, config), hangs }
}

t.test('while a newer list of products is being read, one under a minute old is used', async t => {
  const { ledger, reference, hangs } = await referenceOf(t)
  const { id } = (await reference.product('LENDER_01', 'LENDER_01')) ?? {}
  t.ok(id)
  await control({ ledger }, 'PUT', '/faults', [{ kind: 'hang' }])
  goOnBy(t, SOON_MS)
  t.match(await reference.product('LENDER_01', 'LENDER_01'), { id })
  await until(async () => (await hangs()) === 1)
  t.match(await reference.product('LENDER_02', 'LENDER_02'), { name: 'LENDER_02' })
  t.equal(await hangs(), 1, 'one read at a time')
})

t.test('no list of products is used that is more than a minute old', async t => {
  const { ledger, reference } = await referenceOf(t)
  await reference.product('LENDER_01', 'LENDER_01')
  await control({ ledger }, 'PUT', '/faults', [{ kind: 'hang' }])
  goOnBy(t, LATER_MS)
  await t.rejects(reference.product('LENDER_01', 'LENDER_01'), { message: /no answer/ })
  await control({ ledger }, 'PUT', '/faults', [])
  t.match(await reference.product('LENDER_01', 'LENDER_01'), { name: 'LENDER_01' })
})

t.test('a name that is not in the list causes it to be read again', async t => {
  const { ledger, reference, hangs } = await referenceOf(t)
  await reference.product('LENDER_01', 'LENDER_01')
  await control({ ledger }, 'PUT', '/faults', [{ kind: 'hang' }])
  goOnBy(t, LATER_MS)
  await t.rejects(reference.product('NOBODY', 'NOBODY'), { message: /no answer/ })
  t.equal(await hangs(), 1)
})

t.test('an answer about another product says nothing of a product’s terms', async t => {
  const proxy = await startProxy(t)
  const { ledger, reference } = await referenceOf(t, proxy.url)
  proxy.target = ledger.url
  const body = await atLedger({ ledger }, 'GET', '/loanproducts/2')
  proxy.interferences = [{ of: '/loanproducts/1', on: 'reads', status: 200, body, times: 1 }]
  await t.rejects(reference.productWithTerms(1), { message: /another record than 1/ })
  t.match(await reference.productWithTerms(1), { id: 1 })
})

function goOnBy(t: Test, ms: number): void {
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + ms })
}
