import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { booksAt, driver, LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'

async function setup(t: Test) {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const ledger = driver(sandbox.url)
  await ledger.loan('L-1')
  return { sandbox, ...ledger }
}

t.test('amounts are returned with six decimals, and days as arrays', async t => {
  const { sandbox } = await setup(t)
  const response = await fetch(`${sandbox.url}/loans/external-id/L-1`, { headers: LEDGER_HEADERS })
  const text = await response.text()
  t.match(text, /"principal":12000\.000000,/)
  t.match(text, /"approvedOnDate":\[2024,1,15\]/)
})

t.test('a health check needs neither tenant nor credentials', async t => {
  const { sandbox } = await setup(t)
  const health = await fetch(new URL('/fineract-provider/actuator/health', sandbox.url))
  t.match(await health.json(), { status: 'UP' })
})

t.test('the authentication path accepts only POST, and a GET on it needs credentials', async t => {
  const { sandbox, call } = await setup(t)
  t.equal((await call('GET', '/authentication')).status, 405)
  const headers = { 'fineract-platform-tenantid': 'default' }
  t.equal((await fetch(`${sandbox.url}/authentication`, { headers })).status, 401)
})

t.test('notes are found only by their loan’s id', async t => {
  const { call } = await setup(t)
  t.equal((await call('GET', '/loans/1/notes')).status, 200)
  t.equal((await call('GET', '/loans/external-id/L-1/notes')).status, 404)
})

t.test('an operation that the sandbox does not support is 501 with a message', async t => {
  const { call } = await setup(t)
  const reply = await call('POST', '/loans/external-id/L-1/transactions?command=foreclosure', {})
  t.match(reply, { status: 501, body: { defaultUserMessage: /does not support the transaction/ } })
})

t.test('the business date can be set, and "future" follows it', async t => {
  const { sandbox, repay } = await setup(t)
  const set = (date: string | null) =>
    fetch(`${sandbox.controlUrl}/business-date`, { method: 'PUT', body: JSON.stringify({ date }) })
  await set('2024-02-14')
  t.match(await repay('L-1', 'R-1'), {
    status: 403,
    body: { errors: [{ userMessageGlobalisationCode: /cannot.be.a.future.date/ }] },
  })
  await set('2024-02-15')
  t.match(await repay('L-1', 'R-1'), { status: 200 })
})

t.test('a reset empties books, keys and counters', async t => {
  const { sandbox, repay, loan } = await setup(t)
  await repay('L-1', 'R-1', { key: 'k' })
  await fetch(`${sandbox.controlUrl}/reset`, { method: 'POST' })
  const { clients, loans, transactions, log, counters } = await booksAt(sandbox.controlUrl)
  t.strictSame(
    { clients, loans, transactions, log },
    { clients: [], loans: [], transactions: [], log: [] },
  )
  t.strictSame(counters.calls, {})
  await loan('L-1')
  t.match(await repay('L-1', 'R-1', { key: 'k' }), { status: 200, fromStore: false })
})
