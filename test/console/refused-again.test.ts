import { parse } from 'node-html-parser'
import t from 'tap'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'

const NOBODY = '/console/payments/gateway_a/pay_nobody'
const SUSPENSE = '/console/payments?state=suspense&reason=no_loan_named'

const service = await startWithConsole(t)
const { url, operator } = service
await fillConsole(url)

/** Sends a form of a page from where the browser is. */
async function send(page: { text: string; at: string }, path: string, typed: object) {
  const form = parse(page.text).querySelector(`main form[action^="${path}"]`)
  const action = form?.getAttribute('action') ?? ''
  const hidden = form?.querySelectorAll('input[type=hidden]').map(one => one.attributes) ?? []
  const fields = Object.fromEntries(hidden.map(({ name, value }) => [name, value]))
  const referer = url + page.at
  const { status, text } = await operator(action, { ...fields, ...typed }, { referer })
  return { status, text, at: action, headers: new Headers() }
}

t.test('a form that is refused again is shown again, with what was typed last', async t => {
  const decision = { outcome: 'post', note: 'by hand', external_loan_id: 'L-1001' }
  let page = { ...(await operator(NOBODY)), at: NOBODY }
  for (const amount of ['none', '0', '99999999']) {
    const typed = { ...decision, amount, paid_on: '01 February 2026' }
    page = await send(page, `${NOBODY}/resolve`, typed)
    t.equal(page.status, 400)
    t.match(page.text, /<h1>Payment pay_nobody/, amount)
    const field = parse(page.text).querySelector('[name=amount]')
    t.equal(field?.getAttribute('value'), amount)
    t.equal(field?.getAttribute('aria-invalid'), 'true')
  }
  const typed = { ...decision, amount: '1.00', paid_on: '01 February 2026' }
  t.equal((await send(page, `${NOBODY}/resolve`, typed)).status, 303)
})

t.test('any form of a page with a refused form is shown on that page', async t => {
  const typed = { outcome: 'handled' }
  const page = '/console/payments/gateway_a/pay_unknown_loan'
  const at = `${page}?done=noted`
  const first = await send({ ...(await operator(at)), at }, `${page}/resolve`, typed)
  t.notMatch(first.text, /class="notice"/, 'the notice of what was done before')
  const second = await send(first, `${page}/note`, { note: 'n'.repeat(1_001) })
  t.match(second.text, /<h1>Payment pay_unknown_loan.*note-refused/s)
})

t.test('a refused decision on a refund is shown in its own form, not in Reverse', async t => {
  const at = '/console/payments/gateway_a/rfnd_1?kind=refund'
  const typed = { outcome: 'handled', note: 'by hand', ledger_transaction_id: 'none' }
  const path = '/console/payments/gateway_a/rfnd_1/re'
  const { text } = await send({ ...(await operator(at)), at }, `${path}solve`, typed)
  const own = parse(text).querySelector(`form[action^="${path}solve"]`)
  t.match(own?.querySelector('[role=alert]')?.text, /beside the field/)
  t.equal(own?.querySelector('[name=note]')?.text, 'by hand')
  const other = parse(text).querySelector(`form[action^="${path}verse"]`)
  t.equal(other?.querySelector('[name=note]')?.text, '')
  t.equal(other?.querySelector('[name=outcome]')?.getAttribute('value'), 'reverse')
  t.equal(other?.querySelector('[autofocus]'), null)
})

t.test('a choice that another decision took away must be made again', async t => {
  const at = '/console/payments/gateway_a/pay_unknown_loan'
  const page = { ...(await operator(at)), at }
  const handled = { outcome: 'handled', note: 'booked by hand' }
  t.equal((await send(page, `${at}/resolve`, handled)).status, 303)
  const { status, text } = await send(page, `${at}/resolve`, { ...handled, outcome: 'dismiss' })
  t.equal(status, 412)
  const select = parse(text).querySelector('[name=outcome]')
  t.equal(select?.querySelector('[selected]')?.getAttribute('value'), '')
  t.match(select?.attributes, { required: '', autofocus: '' })
  t.match(select?.text, /reopen/)
})

t.test('a file that is refused again leaves its page as it was', async t => {
  let page = { ...(await operator('/console/portfolio')), at: '/console/portfolio' }
  for (const name of ['first.csv', 'second.csv']) {
    const form = parse(page.text).querySelector('main form[data-upload]')
    const path = form?.getAttribute('action') ?? ''
    const file = new File(['not,a,file\n1,2,3\n'], name)
    const refused = await sendFile(service, { page: page.at, path }, { type: 'repayments' }, file)
    t.equal(refused.status, 400, name)
    t.match(refused.text, /<h1>Portfolio.*is not a column of repayments/s)
    page = { ...refused, at: path }
  }
})

t.test('the button that was refused has the focus, not the first of its form', async t => {
  const invalid =
    'loan_external_id,transaction_date,amount,payment_reference,gateway,note\nL-1001,never,1.00,REF-2,,'
  const { migration_id: id } = (await uploadCsv({ url }, 'repayments', invalid)).body
  const at = `/console/portfolio/${id}`
  const { status, text } = await send({ ...(await operator(at)), at }, `${at}/run`, {})
  t.equal(status, 409)
  t.equal(parse(text).querySelector('[autofocus]')?.text, 'Run')
})

t.test('a page that a refused form names is one of the console', async t => {
  const path = `${NOBODY}/note?form_page=${encodeURIComponent('https://elsewhere.example/')}`
  t.match((await operator(path, { note: 'n'.repeat(1_001) })).text, /<h1>Overview/)
})

t.test('a bulk decision that lacks its note is asked for it on its list', async t => {
  const wanted = `/console/bulk?state=suspense&reason=no_loan_named&decision=payments.dismiss`
  const { status, text } = await operator(wanted, undefined, { referer: url + SUSPENSE })
  t.equal(status, 400)
  t.match(text, /<h1>Payments.*<option value="payments.dismiss" selected.*id="note-refused"/s)
  t.match((await operator(wanted)).text, /<h1>The request was refused/, 'without its list')
})

t.test('two refused pages that name each other are each asked for once', async t => {
  const other = '/console/operations?bad=1'
  const page = `/console/payments?bad=1&form_page=${encodeURIComponent(other)}`
  t.equal((await operator(other, undefined, { referer: url + page })).status, 400)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const asked = (route: string) =>
    metrics.match(`http_request_seconds_count{.*route="${route}",status="400"} (\\d+)`)?.[1]
  t.equal(asked('/console/operations'), '1')
  t.equal(asked('/console/payments'), '1')
})
