import { sql } from 'kysely'
import { parse } from 'node-html-parser'
import t, { type Test } from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { control } from '../support/ledger/loans.ts'
import { until } from '../support/until.ts'

const POSTED = '/console/payments/gateway_a/pay_posted'
const REFUND = '/console/payments/gateway_a/rfnd_1'
const BY_HAND = { outcome: 'handled', note: 'by hand', ledger_transaction_id: '1' }
/** Forms that read the ledger before they act: what the audit has afterwards, the page, where it leads, and what is typed. */
const FORMS: [action: string, page: string, path: string, typed: Record<string, string>][] = [
  ['payment.check', POSTED, `${POSTED}/check`, {}],
  ['payment.resolve', `${REFUND}?kind=refund`, `${REFUND}/resolve?kind=refund`, BY_HAND],
]

// Shared: each test changes records of its own.
const service = await startWithConsole(t)
const { url, db, operator } = service
await fillConsole(url)

t.test('a form has its effect if the browser drops its first click for the second', async t => {
  await beFaulty(t, { kind: 'latency', ms: 1_000, match: { on: 'reads' } })
  for (const [action, page, path, typed] of FORMS) {
    const form = { ...(await hiddenOf(page, path)), ...typed }
    const [before, reads] = [await audited(action), await hits()]
    const browser = new AbortController()
    const first = fetch(url + path, {
      method: 'POST',
      headers: { cookie: operator.cookie },
      body: new URLSearchParams(form),
      signal: browser.signal,
    }).catch(() => 'dropped')
    await until(async () => (await hits()) > reads, 'the ledger is read')
    browser.abort()
    t.equal(await first, 'dropped')
    const second = await operator(path, form)
    t.equal(second.status, 303, action)
    t.match(second.headers.get('location'), 'done=', action)
    t.equal(await audited(action), before + 1, action)
  }
})

t.test('if the ledger cannot be read, a form changes nothing and may be sent again', async t => {
  const page = '/console/payments/gateway_a/pay_posted'
  const path = `${page}/check`
  const form = await hiddenOf(page, path)
  await beFaulty(t, { kind: 'reset', match: { on: 'reads' } })
  const refused = await operator(path, form, { referer: url + page })
  t.equal(refused.status, 503)
  t.notMatch(refused.text, 'may still take effect')
  await control(service, 'PUT', '/faults', [])
  await until(async () => (await operator(path, form)).status === 303, 'the ledger is read again')
})

t.test('a form that gave up waiting for the ledger does not blame the database alone', async t => {
  await beFaulty(t, { kind: 'latency', ms: 6_000, match: { on: 'reads' } })
  const form = await hiddenOf(POSTED, `${POSTED}/check`)
  const late = await operator(`${POSTED}/check`, form, { referer: url + POSTED })
  t.match(late.text, 'the database or the ledger does not answer in time')
})

async function hiddenOf(page: string, path: string): Promise<Record<string, string>> {
  const form = parse((await operator(page)).text).querySelector(`form[action="${path}"]`)
  const hidden = form?.querySelectorAll('[type=hidden]') ?? []
  return Object.fromEntries(
    hidden.map(({ attributes: { name = '', value = '' } }) => [name, value]),
  )
}

async function beFaulty(t: Test, fault: object): Promise<void> {
  await control(service, 'PUT', '/faults', [fault])
  t.teardown(() => control(service, 'PUT', '/faults', []))
}

const hits = async (): Promise<number> => (await control(service, 'GET', '/faults')).rules[0].hits

async function audited(action: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from ops.audit where action = ${action}`.execute(db)
  return Number(rows[0]?.count)
}
