import type { Page } from 'puppeteer-core'
import t from 'tap'
import { APPROVER } from '../support/accounts/approvals.ts'
import { openBrowser, violations } from '../support/console/browser.ts'
import { type Browse, loggedIn, startWithConsole } from '../support/console/console.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { withLedger } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

const APPROVALS =
  'payment.dismiss,payment.assign>2000,payment.post>100,bulk,ledger.pause,account.unlock,reference.write'
const service = withLedger(await startWithConsole(t, { APPROVALS, DOCS_ENABLED: 'true' }))
const { url, operator, admin, viewer, webhook, batch, payment } = service
await admin('/console/accounts', { ...APPROVER, role: 'operator' })
const approver = await loggedIn(url, APPROVER)
await service.loan('L-1', { principal: 90_000 })

const pathOf = (id: string) => `/console/payments/gateway_a/${id}`
async function held(ids: string[], lender = 'LENDER_02') {
  for (const id of ids) await webhook('gateway_a', capturedA({ id, loan: 'L-none' }), { lender })
  await batch()
}
/** The fields that a form of the page hides, such as what the payment was when it was shown. */
async function hidden(browse: Browse, path: string): Promise<Record<string, string>> {
  const fields = (await browse(path)).text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
  const all = [...fields].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&quot;', '"'),
  ])
  return Object.fromEntries(all.filter(([name]) => name !== 'form'))
}
async function dismissed(id: string) {
  const { if_match = '' } = await hidden(operator, pathOf(id))
  return operator(`${pathOf(id)}/resolve`, { outcome: 'dismiss', note: 'a forgery', if_match })
}
/** The path of the newest proposal. */
async function newest(): Promise<string> {
  const { body } = await service.call('GET', '/api/approvals?limit=1')
  return `/console/approvals/${body.approvals[0].approval_id}`
}
/** @returns the path of the proposal to dismiss a new payment */
async function proposed(id: string): Promise<string> {
  await held([id])
  await dismissed(id)
  return newest()
}
const stateOf = async (id: string) => (await payment(id)).payment.state

t.test('a form of a covered act is sent for approval, and says so', async t => {
  await held(['pay_1'])
  const { headers } = await dismissed('pay_1')
  const open = (await service.call('GET', '/api/approvals?state=proposed')).body.approvals.length
  const shown = await operator(headers.get('location') ?? '')
  t.match(shown.text, /Sent for approval\. Nothing happens until/)
  t.match(shown.text, RegExp(`<a href="/console/approvals" [^>]*>Approvals \\(${open}\\)</a>`))
  const about = `<a href="${(headers.get('location') ?? '').split('?')[0]}">approval</a>`
  t.match((await operator(pathOf('pay_1'))).text, about, 'the payment’s page leads to it')
  t.equal(await stateOf('pay_1'), 'suspense')
})

t.test('the proposal shows who asked for what, and what it is about', async t => {
  const path = await proposed('pay_shown')
  const { text } = await approver(path)
  for (const said of [/payment dismiss/, /asha\.rao/, /a forgery/, /INR 1,000\.00/, /L-none/])
    t.match(text, said)
  t.match(text, /payment\.captured/, 'the events')
  t.match(text, /Approve<\/button>.*Reject<\/button>/s)
  t.notMatch(text, /Withdraw<\/button>/)
  t.match((await operator(path)).text, /Withdraw<\/button>/)
  t.notMatch((await operator(path)).text, /Approve<\/button>/)
  t.notMatch((await viewer(path)).text, /(Approve|Reject|Withdraw)<\/button>/)
})

t.test(
  'a proposal shows what is posted for a payment in another currency in the loan’s',
  async t => {
    const event = capturedA({ id: 'pay_usd', loan: 'L-1', amount: 10_000, currency: 'USD' })
    await webhook('gateway_a', event, { lender: 'LENDER_02' })
    await batch()
    const { if_match = '' } = await hidden(operator, pathOf('pay_usd'))
    const post = { outcome: 'post', external_loan_id: 'L-1', amount: '9000.00', note: 'at 90' }
    const form = { ...post, paid_on: '06 February 2026', if_match }
    await operator(`${pathOf('pay_usd')}/resolve`, form)
    const path = await newest()
    const { text } = await approver(path)
    t.equal(text.match(/<dd>9,000\.00 in the loan’s currency<\/dd>/g)?.length, 2)
    t.match(text, '<dd>USD 100.00</dd>', 'what was captured')
    t.notMatch(text, 'USD 9,000')
    const { text: list } = await approver('/console/approvals?state=proposed')
    t.match(list, /<td[^>]*>9,000\.00 in the loan’s currency<\/td>/)
    await approver(`${path}/approve`, {})
    await batch()
    t.equal(await stateOf('pay_usd'), 'posted')
    t.match(
      (await viewer(pathOf('pay_usd'))).text,
      /USD 100\.00<.*<dt>Amount for the loan<\/dt><dd>9,000\.00 in the loan’s currency as of 2026-02-06</s,
    )
  },
)

t.test('the removal of a reference is not taken for its registration', async t => {
  const reference = { gateway: 'gateway_a', kind: 'order', value: 'order_1' }
  await operator('/console/references/add', { ...reference, external_loan_id: 'L-1' })
  const added = await newest()
  t.match((await approver(added)).text, '<dt>Call</dt><dd>reference put</dd>')
  t.equal((await approver(`${added}/approve`, {})).status, 303)
  await operator('/console/references/remove', reference)
  t.match((await approver(await newest())).text, '<dt>Call</dt><dd>reference delete</dd>')
})

t.test('a time that was asked for is shown in the ledger’s time zone', async t => {
  await operator('/console/pause', { reason: 'close of business', until: '2099-03-05T18:30' })
  const { text } = await approver(await newest())
  t.match(text, 'title="2099-03-05 13:00:00.000 UTC">05 Mar 2099, 18:30:00<')
})

t.test('in the console, nobody approves their own proposal or withdraws another’s', async t => {
  const path = await proposed('pay_own')
  t.equal((await operator(`${path}/approve`, {})).status, 403)
  t.equal((await viewer(`${path}/approve`, {})).status, 403)
  t.equal((await approver(`${path}/withdraw`, {})).status, 403)
  t.equal(await stateOf('pay_own'), 'suspense')
})

t.test('another person approves or rejects a proposal, or its proposer withdraws it', async t => {
  const first = await proposed('pay_approved')
  const approved = await approver(`${first}/approve`, { note: 'seen the letter' })
  const { text } = await approver(approved.headers.get('location') ?? '')
  t.match(text, /You approved it, and it is done.*seen the letter/s)
  t.equal(await stateOf('pay_approved'), 'dismissed')
  t.equal((await approver(`${await proposed('pay_2')}/reject`, {})).status, 303)
  t.equal((await operator(`${await proposed('pay_3')}/withdraw`, {})).status, 303)
  t.same([await stateOf('pay_2'), await stateOf('pay_3')], ['suspense', 'suspense'])
  t.match((await viewer('/console/approvals?state=withdrawn')).text, /gateway_a\/pay_3/)
  t.match((await viewer('/console/approvals?limit=1')).text, /<strong>[1-9]\d* rows<.strong>/)
})

t.test('a bulk action is sent for approval with its count and sum', async t => {
  await held(['pay_4', 'pay_5'], 'LENDER_03')
  const wanted = { decision: 'payments.dismiss', note: 'tests', lender: 'LENDER_03' }
  const confirmation = `/console/bulk?${new URLSearchParams(wanted)}`
  const form = await hidden(operator, confirmation)
  const sent = await operator('/console/bulk', form)
  t.match((await operator(sent.headers.get('location') ?? '')).text, /Sent for approval/)
  const path = await newest()
  const { text } = await approver(path)
  t.match(text, /INR 2,000\.00.*<dt>Sum<\/dt><dd>INR 2,000\.00<.*<dt>Count<\/dt><dd>2<\/dd>/s)
  t.match(text, '<a href="/console/payments?lender=LENDER_03">payments with lender: LENDER_03</a>')
  await held(['pay_6'], 'LENDER_03')
  t.equal((await approver(`${path}/approve`, {})).status, 409)
  t.match((await approver(path)).text, /stale/)

  await operator('/console/bulk', await hidden(operator, confirmation))
  const sentAgain = await hidden(operator, confirmation)
  t.equal((await operator('/console/bulk', sentAgain)).status, 409, 'it is proposed already')
  t.equal((await approver(`${await newest()}/approve`, {})).status, 303)
  await until(async () => (await stateOf('pay_6')) === 'dismissed', 'the items are decided')
  const { rows } = await service.db
    .selectFrom('loanops.audit')
    .select(['actor', 'detail'])
    .where('action', '=', 'payment.resolve')
    .where('subject', '=', 'gateway_a/pay_6')
    .execute()
    .then(rows => ({ rows }))
  t.match(rows, [{ actor: 'asha.rao', detail: { approved_by: 'ravi.iyer' } }])
})

t.test('a form that is sent again shows what became of its proposal', async t => {
  await held(['pay_again'])
  const { if_match = '', form_token = '' } = await hidden(operator, pathOf('pay_again'))
  const form = { outcome: 'dismiss', note: 'a forgery', if_match, form_token }
  const send = async () => {
    const { headers } = await operator(`${pathOf('pay_again')}/resolve`, form)
    return (await operator(headers.get('location') ?? '')).text
  }
  t.match(await send(), /Sent for approval/)
  await approver(`${await newest()}/reject`, {})
  const again = await send()
  t.match(again, /rejected/)
  t.notMatch(again, /Sent for approval/)
})

t.test('a bulk form that is sent again once it was approved is not proposed again', async t => {
  await held(['pay_bulk'], 'LENDER_04')
  const wanted = { decision: 'payments.dismiss', note: 'tests', lender: 'LENDER_04' }
  const fields = await hidden(operator, `/console/bulk?${new URLSearchParams(wanted)}`)
  const { form_token: _, ...form } = fields
  await operator('/console/bulk', form)
  const path = await newest()
  const approved = await approver(`${path}/approve`, {})
  const { text } = await approver(approved.headers.get('location') ?? '')
  t.match(text, /You approved it, and it is done or has begun/)
  t.match(text, `<a href="/console/bulk/${form.id}">Its progress</a>`)
  t.match(
    (await viewer(`/console/bulk/${form.id}`)).text,
    '<a href="/console/payments?lender=LENDER_04">',
  )
  const again = await operator('/console/bulk', form)
  t.equal(again.headers.get('location'), `/console/bulk/${form.id}`)
  t.equal(await newest(), path)
  await until(async () => (await stateOf('pay_bulk')) === 'dismissed', 'the items are decided')
})

t.test('who may not decide about an act on accounts is offered no decision', async t => {
  await admin(`/console/accounts/${APPROVER.username}/unlock`, {})
  const path = await newest()
  t.match((await admin(path)).text, /account unlock of.*Withdraw<\/button>/s)
  t.match((await operator(path)).text, /account unlock of/)
  t.notMatch((await operator(path)).text, /Approve<\/button>|Reject<\/button>/)
})

t.test('a path without an id is refused in words', async t => {
  for (const path of ['approvals/none', 'bulk/none', 'callbacks/none'])
    t.match(await operator(`/console/${path}`), { status: 400, text: /must be an id/ }, path)
})

t.test('the pages are accessible, fit a phone, and work without JavaScript', async t => {
  const path = await proposed('pay_7')
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const [name = '', value = ''] = approver.cookie.split('=')
  await page.setCookie({ name, value, url })
  for (const one of ['/console/approvals', path]) {
    await page.setViewport({ width: 1280, height: 800 })
    await page.goto(url + one)
    t.same(await violations(page), [], one)
    await picture(page, `${one === path ? 'approval' : 'approvals'}-desktop`)
    await page.setViewport({ width: 375, height: 800 })
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 375, one)
    await picture(page, `${one === path ? 'approval' : 'approvals'}-phone`)
  }
  await page.setJavaScriptEnabled(false)
  await page.goto(url + path)
  await page.type('[name=note]', 'agreed')
  // Only the button approves.
  await page.keyboard.press('Enter')
  t.equal(await stateOf('pay_7'), 'suspense')
  await Promise.all([page.waitForNavigation(), page.click(`[action="${path}/approve"] button`)])
  t.match(await page.content(), /You approved it/)
  t.equal(await stateOf('pay_7'), 'dismissed')
})

t.test('the console shows nothing about approvals where no act needs one', async t => {
  const plain = await startWithConsole(t)
  for (const path of ['/console', '/console/payments', '/console/audit'])
    t.notMatch((await plain.admin(path)).text, /pproval/, path)
})

/** Takes a picture to look at, where somebody asks for them. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}
