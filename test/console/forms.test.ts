import { sql } from 'kysely'
import { parse } from 'node-html-parser'
import t from 'tap'
import { OPERATOR } from '../support/accounts/admin.ts'
import { type Browse, browser, cookieIn, startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { clientData, control } from '../support/ledger/loans.ts'
import { capturedA, disputeA, refundA } from '../support/payments/gateway-events.ts'
import { runBatch } from '../support/payments/payments.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'

const FILE =
  'loan_external_id,transaction_date,amount,payment_reference,gateway,note\nL-1001,01 February 2026,100.00,REF-1,,'
const POSTED = '/console/payments/gateway_a/pay_posted'
const NOBODY = '/console/payments/gateway_a/pay_nobody'
const TWICE = '/console/payments/gateway_a/pay_twice'

// Shared: each test changes records of its own.
const service = await startWithConsole(t)
const { url, db, call, operator, admin, anybody, viewer } = service
await fillConsole(url)

t.test('each form that changes something on a linked page has its own token and path', async t => {
  await uploadCsv({ url }, 'repayments', FILE)
  const changing = new Set<string>()
  for (const [path, text] of await linkedPages(admin)) {
    const forms = [...text.matchAll(/<form [^>]*method="post".*?<\/form>/gs)]
    const tokens = forms.map(
      ([form]) => /form_token(?:" value="|=)([0-9a-f-]{36})\//.exec(form)?.[1],
    )
    t.notOk(tokens.includes(undefined), path)
    t.equal(new Set(tokens).size, tokens.length, path)
    // A refused form is found by its path, and so is what was typed before a login.
    const places = forms.map(([form]) => / action="([^"?]*)/.exec(form)?.[1])
    t.equal(new Set(places).size, places.length, path)
    for (const [form] of forms) changing.add(/ action="([^"?]*)/.exec(form)?.[1] ?? path)
  }
  t.ok(changing.size > 25, `${changing.size} forms`)
})

t.test('the button of a refused form is heard with the reason, wherever the focus is', async t => {
  const account = { ...OPERATOR, role: 'viewer' }
  const headers = { referer: `${url}/console/accounts` }
  const refused = await admin('/console/accounts', account, headers)
  t.equal(refused.status, 409, refused.text)
  const form = parse(refused.text).querySelector('form[action^="/console/accounts?"]')
  t.match(form?.querySelector('#refused')?.text, 'This username is taken')
  const button = form?.querySelector('button')
  t.equal(button?.getAttribute('aria-describedby'), 'refused')
  t.equal(button?.getAttribute('autofocus'), '')
})

t.test('too long a text is refused with its length, and an empty one as empty', async t => {
  const { status, text } = await viewer(`/console/search?q=${'x'.repeat(301)}`)
  t.equal(status, 400)
  t.match(text, 'has 301 characters, but at most 300 are allowed')
  t.match((await viewer('/console/loans/')).text, '<strong>id</strong> must not be empty')
})

t.test('a refused form is shown again with its values and the reason beside the field', async t => {
  const typed = { outcome: 'post', note: 'said “<b>so</b>”', amount: '12.345', paid_on: '31 June' }
  const path = `${NOBODY}/resolve`
  const token = await tokenOf(operator, NOBODY, path)
  const refused = await operator(path, { ...typed, ...token }, { referer: url + NOBODY })
  t.equal(refused.status, 400)
  t.match(refused.text, /<h1>Payment pay_nobody/)
  t.match(refused.text, /<option value="post" selected>/)
  t.match(refused.text, /name="note"[^>]*>said “&lt;b&gt;so&lt;\/b&gt;”<\/textarea>/)
  t.match(refused.text, /name="amount"[^>]*value="12.345"[^>]*aria-invalid="true"/)
  t.match(
    refused.text,
    /id="paid_on-refused"><strong>paid on<\/strong> [^<]*05 March 2026 or 2026-03-05</,
  )
  t.equal(refused.text.match(/role="alert"/g)?.length, 1)
  t.equal(refused.text.match(/ autofocus/g)?.length, 1)
  t.match(refused.text, /aria-describedby="external_loan_id-refused"[^>]* autofocus/)
  t.notMatch(refused.text, token.form_token, 'the form has a new token')
})

t.test('a refused form has its values exactly as they were typed', async t => {
  const typed = 'null &lt;b&gt; &amp;quot; " \\ \' <i>'
  const fields = { outcome: 'post', amount: typed, external_loan_id: typed }
  const { text } = await operator(`${NOBODY}/resolve`, fields, { referer: url + NOBODY })
  const form = parse(text).querySelector(`form[action^="${NOBODY}/resolve"]`)
  for (const name of ['amount', 'external_loan_id'])
    t.equal(form?.querySelector(`[name=${name}]`)?.getAttribute('value'), typed, name)
})

t.test('a refused form is put into a page only, and never into a file', async t => {
  const exports = await audited('list.export')
  const invalid = { note: 'n'.repeat(1_001) }
  for (const file of ['payments.csv', 'payments.csv?state=suspense', 'assets/session.js']) {
    const referer = `${url}/console/${file}`
    const { status, text } = await operator(`${POSTED}/note`, invalid, { referer })
    t.equal(status, 400)
    t.match(text, /<h1>The request was refused/, file)
  }
  t.equal(await audited('list.export'), exports)
})

t.test('the form of an unreadable refund or dispute offers every outcome but post', async t => {
  for (const event of [refundA({ id: 'rfnd_stray' }), disputeA('lost')])
    await call('POST', '/api/webhooks/gateway_b?lender=LENDER_02', event)
  await runBatch(call)
  const { body } = await call('GET', '/api/payments?reason=unreadable&state=suspense')
  t.same(body.payments.map((one: any) => one.hints.kind).sort(), ['chargeback', 'refund'])
  for (const { gateway_payment_id: id, hints } of body.payments) {
    const { text } = await operator(`/console/payments/gateway_b/${id}`)
    const form = parse(text).querySelector('form[action$="/resolve"]')
    const outcomes = form
      ?.querySelectorAll('[name=outcome] option')
      .map(one => one.attributes.value)
    t.same(outcomes, ['handled', 'dismiss'], hints.kind)
    t.notOk(form?.querySelector('[name=amount]'), hints.kind)
  }
})

t.test(
  'the form of a payment offers only an amount that can be posted, and can be sent',
  async t => {
    const offered = {
      pay_whole: [{ amount: 12_300 }, '123.00'],
      pay_decimals: [{ amount: 100.5, loan: 'L-1001' }, ''],
      pay_negative: [{ amount: -500, loan: 'L-1001' }, ''],
      pay_dinars: [{ amount: 12_300, currency: 'KWD' }, '12.30'],
      pay_fils: [{ amount: 12_345, currency: 'KWD' }, ''],
      pay_yen: [{ amount: 123, currency: 'JPY', loan: 'L-1001' }, ''],
    } as const
    for (const [id, [facts]] of Object.entries(offered))
      await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', capturedA({ id, ...facts }))
    await runBatch(call)
    for (const [id, [, amount]] of Object.entries(offered)) {
      const { text } = await operator(`/console/payments/gateway_a/${id}`)
      const field = parse(text).querySelector('[name=amount]')?.attributes ?? {}
      const { pattern = '', value, inputmode } = field
      t.equal(inputmode, undefined, 'the decimal keys of some phones have no full stop')
      t.equal(value, amount, id)
      // Browsers check no pattern of an empty field.
      t.ok(value === '' || RegExp(`^(?:${pattern})$`, 'v').test(amount), id)
    }
  },
)

t.test('a refund that names no loan is booked by hand on one that the form names', async t => {
  const [id, of] = ['rfnd_loanless', 'pay_loanless']
  for (const event of [capturedA({ id: of, notes: {} }), refundA({ id, of })]) {
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
    await runBatch(call)
  }
  const path = `/console/payments/gateway_a/${id}`
  const form = parse((await operator(`${path}?kind=refund`)).text).querySelector(
    `form[action^="${path}/resolve"]`,
  )
  const value = (name: string) => form?.querySelector(`input[name=${name}]`)?.attributes.value
  t.equal(value('external_loan_id'), '')
  const typed = { outcome: 'handled', note: 'by hand', external_loan_id: 'L-1001' }
  const fields = { ...typed, ledger_transaction_id: '1', if_match: value('if_match') ?? '' }
  t.equal((await operator(form?.attributes.action ?? '', fields)).status, 303)
  const { body } = await call('GET', `/api/payments/gateway_a/${id}?kind=refund`)
  t.match(body.payment, { state: 'handled', external_loan_id: 'L-1001' })
})

t.test('a form that comes too late shows what happened meanwhile and what was typed', async t => {
  const path = '/console/payments/gateway_a/pay_unknown_loan'
  const token = await tokenOf(operator, path, `${path}/assign`)
  const dismissal = { outcome: 'dismiss', note: 'a test of the gateway' }
  const decided = await admin(`${path}/resolve`, dismissal)
  t.equal(decided.status, 303)
  const late = { ...token, external_loan_id: 'L-1001', note: 'they called' }
  const { status, text } = await operator(`${path}/assign`, late, { referer: url + path })
  t.equal(status, 409)
  t.match(text, /role="alert"/)
  t.match(text, /a test of the gateway/)
  t.match(text, /<dt>note<\/dt><dd>they called/)
})

t.test('a form that arrives twice at once has one effect, and both show its outcome', async t => {
  const event = capturedA({ id: 'pay_twice', notes: {} })
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  await runBatch(call)
  await call('POST', '/api/ledger/pause', { reason: 'nobody tries an operation' })
  const operation = `/console/operations/${encodeURIComponent(await submit('C-1'))}`
  const migration = (await uploadCsv({ url }, 'repayments', FILE)).body.migration_id
  const discarded = (await uploadCsv({ url }, 'repayments', FILE)).body.migration_id
  const sent: [string, string, Browse, string, string, Record<string, string>?][] = [
    ['payment.note', POSTED, operator, `${POSTED}/note`, '?done=noted', { note: 'asked' }],
    ['payment.check', POSTED, operator, `${POSTED}/check`, '?done=checked'],
    [
      'payment.assign',
      TWICE,
      operator,
      `${TWICE}/assign`,
      '?done=assigned',
      { external_loan_id: 'L-1' },
    ],
    ['ledger.pause', '/console', operator, '/console/pause', '?done=paused', { reason: 'x' }],
    ['batch.request', '/console', operator, '/console/batch', '?done=batch'],
    ['ledger.check', '/console/ledger', operator, '/console/ledger/check', '?done=ledgerChecked'],
    ['operation.cancel', operation, operator, `${operation}/cancel`, '?done=cancelled'],
    [
      'migration.run',
      `/console/portfolio/${migration}`,
      operator,
      `/console/portfolio/${migration}/run`,
      '?done=started',
    ],
    [
      'migration.discard',
      `/console/portfolio/${discarded}`,
      operator,
      `/console/portfolio/${discarded}/discard`,
      '?done=discarded',
    ],
    [
      'account.register',
      '/console/accounts',
      admin,
      '/console/accounts',
      '?done=registered',
      { username: 'twice', password: 'a long pass phrase', role: 'viewer' },
    ],
    ['ledger.resume', '/console', operator, '/console/resume', '?done=resumed'],
  ]
  for (const [action, page, browse, path, location, fields = {}] of sent) {
    const before = await audited(action)
    const form = { ...fields, ...(await tokenOf(browse, page, path)) }
    const both = await Promise.all([browse(path, form), browse(path, form)])
    t.same(
      both.map(({ status }) => status),
      [303, 303],
      action,
    )
    for (const { headers } of both) t.match(headers.get('location'), location, action)
    t.equal(await audited(action), before + 1, action)
    t.match((await browse(both[0]?.headers.get('location') ?? '')).text, /role="status"/, action)
  }
})

t.test('each action is followed by a notice about that action', async t => {
  const migration = (await uploadCsv({ url }, 'repayments', FILE)).body.migration_id
  const portfolio = `/console/portfolio/${migration}`
  // The dry run and the run wait while the ledger is paused.
  await call('POST', '/api/ledger/pause', { reason: 'rows must not end' })
  for (const [path, notice, fields] of [
    // None are sent here, as CALLBACK_URL is not set.
    ['/console/callbacks/resume', /^You resumed callbacks: none is held back/],
    [`${portfolio}/dry-run`, /dry run/],
    [`${portfolio}/cancel`, /run has been cancelled/],
    [`${portfolio}/run`, /run has started/],
    [`${portfolio}/cancel`, /run has been cancelled/],
    [`${portfolio}/retry`, /processed now/],
    [`${POSTED}/note`, /note/, { note: 'they called back' }],
    [`${POSTED}/check`, /compared with the ledger/],
    ['/console/batch', /batch/],
    ['/console/ledger/check', /set-up has been checked/],
    ['/console/resume', /You resumed writes to the ledger/],
  ] as [string, RegExp, Record<string, string>?][]) {
    const { status, headers } = await operator(path, fields ?? {})
    t.equal(status, 303, path)
    const shown = await operator(headers.get('location') ?? '')
    t.match(/role="status">([^<]*)/.exec(shown.text)?.[1], notice, path)
  }
})

t.test('a form that was refused may be sent again, and another text is another form', async t => {
  const path = `${POSTED}/note`
  const token = await tokenOf(operator, POSTED, path)
  t.equal((await operator(path, { ...token, note: 'x'.repeat(1_001) })).status, 400)
  for (const note of ['first', 'second', 'second'])
    t.equal((await operator(path, { ...token, note })).status, 303, note)
  const { rows } = await sql`
    select detail ->> 'note' as note from ops.audit
     where action = 'payment.note' and detail ->> 'note' in ('first', 'second')
      order by at`.execute(db)
  t.same(rows, [{ note: 'first' }, { note: 'second' }])
})

t.test('a form that may take effect after its page’s time is over is not sent twice', async t => {
  const path = `${POSTED}/check`
  const form = await tokenOf(operator, POSTED, path)
  const before = await audited('payment.check')
  // Longer than a page may take, and than a second arrival waits. Others may read the loan meanwhile.
  await control(service, 'PUT', '/faults', [
    { kind: 'latency', ms: 8_000, match: { on: 'reads', path: 'L-1001' } },
  ])
  t.teardown(() => control(service, 'PUT', '/faults', []))
  const late = await operator(path, form, { referer: url + POSTED })
  t.equal(late.status, 503)
  t.match(late.text, /role="alert".*What you sent may still take effect: open the page again/s)
  const again = await operator(path, form, { referer: url + POSTED })
  t.equal(again.status, 409)
  t.match(again.text, /already sent, and its outcome is not known yet/)
  t.match(again.text, form.form_token)
  t.equal(await audited('payment.check'), before + 1)
})

t.test('a form answered with a page has one effect, and is shown again where it was', async t => {
  await admin('/console/accounts', {
    username: 'forgot',
    password: 'a pass phrase',
    role: 'viewer',
  })
  const page = '/console/accounts/forgot/reset'
  const form = await tokenOf(admin, page, page)
  const before = await audited('account.reset')
  const both = [
    await admin(page, form, { referer: url + page }),
    await admin(page, form, { referer: url + page }),
  ]
  t.same(
    both.map(({ status }) => status),
    [200, 303],
  )
  t.equal(both[1]?.headers.get('location'), page)
  t.equal(await audited('account.reset'), before + 1)
})

t.test('a form that another account filled in changes nothing, and waits for it', async t => {
  const form = { ...(await tokenOf(operator, POSTED, `${POSTED}/note`)), note: '漢字'.repeat(500) }
  const before = await audited('payment.note')
  const other = await admin(`${POSTED}/note`, form, { referer: url + POSTED })
  t.equal(other.status, 409)
  t.notMatch(other.text, form.note)
  t.equal(await audited('payment.note'), before)
  const kept = browser(url, cookieIn(other.headers))
  t.match((await kept('/console/login', OPERATOR)).text, `<dd>${form.note}`)
})

t.test('another account does not see a kept form, even with an invalid field', async t => {
  const path = `${POSTED}/note`
  const form = { ...(await tokenOf(operator, POSTED, path)), note: 'typed'.repeat(201) }
  const other = await admin(path, form, { referer: url + POSTED })
  t.equal(other.status, 409)
  t.notMatch(other.text, form.note)
  const own = await operator(path, form, { referer: url + POSTED })
  t.equal(own.status, 400)
  t.match(own.text, form.note)
})

t.test('a kept form is sent by the account that typed it, whoever logged in before', async t => {
  const path = `${POSTED}/note`
  const form = { ...(await tokenOf(operator, POSTED, path)), note: 'typed by the operator' }
  const other = await admin(path, form, { referer: url + POSTED })
  const shared = browser(url, `${admin.cookie}; ${cookieIn(other.headers)}`)
  const { text, headers } = await shared('/console/login', OPERATOR)
  const [, form_token = ''] =
    /action="[^"]*\/note"><input[^>]*name="form_token" value="([^"]*)"/.exec(text) ?? []
  const again = browser(url, cookieIn(headers))
  const sent = { note: form.note, form_token }
  const answers = await Promise.all([again(path, sent), again(path, sent)])
  t.same(
    answers.map(({ status }) => status),
    [303, 303],
  )
  const { rows } = await sql`
    select actor from ops.audit where action = 'payment.note' and detail ->> 'note' = ${form.note}`.execute(
    db,
  )
  t.same(rows, [{ actor: OPERATOR.username }])
})

t.test('a line break in a note counts as one character, as in its field', async t => {
  const lines = `${'x'.repeat(99)}\n`.repeat(9) + 'y'.repeat(100)
  // Browsers send it as two.
  const note = lines.replaceAll('\n', '\r\n')
  t.equal((await operator(`${POSTED}/note`, { note })).status, 303)
  const { rows } = await sql`
    select detail ->> 'note' as note from ops.audit
     where action = 'payment.note' and detail ->> 'note' like 'xxx%'`.execute(db)
  t.same(rows, [{ note: lines }])
})

t.test('a password is not shown again', async t => {
  const secret = 'a pass phrase nobody may read'
  const referer = `${url}/console/accounts`
  const form = { username: OPERATOR.username, password: secret, role: 'viewer' }
  const { status, text } = await admin('/console/accounts', form, { referer })
  t.equal(status, 409)
  t.match(text, /<form[^>]*action="\/console\/accounts.*value="asha.rao"/s)
  t.notMatch(text, secret)
})

t.test('a refusal of a form from nowhere shows what was typed', async t => {
  const { status, text } = await operator(`${POSTED}/note`, { note: 'n'.repeat(1_001) })
  t.equal(status, 400)
  t.match(text, 'n'.repeat(1_001))
  t.equal((await viewer(`${POSTED}/note`, { note: 'x' })).status, 403)
  t.equal((await anybody(`${POSTED}/note`, { note: 'x' })).status, 303)
})

t.test('a form of more fields than any form has is refused without them', async t => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, 'typed']))
  const { status, text } = await anybody('/console/login', many)
  t.equal(status, 400)
  t.match(text, /the form has more than 100 fields/)
  t.notMatch(text, 'typed')
})

/** Each page that links lead to from the overview, once whatever its filter, and one that asks whether it is meant. */
async function linkedPages(browse: Browse): Promise<Map<string, string>> {
  const asked = ['/console', '/console/bulk?decision=payments.dismiss&note=x&state=suspense']
  const pages = new Map<string, string>()
  for (const href of asked) {
    const path = href.split('?')[0] ?? ''
    if (pages.has(path) || /\.csv$|\/assets\//.test(path)) continue
    const { text } = await browse(href)
    pages.set(path, text)
    for (const [, next = ''] of text.matchAll(/<a [^>]*href="(\/console[^"#]*)/g))
      asked.push(next.replaceAll('&amp;', '&'))
  }
  return pages
}

async function tokenOf(browse: Browse, page: string, path: string) {
  return { form_token: tokenIn((await browse(page)).text, path) }
}

/** Empty if the page has no such form. */
function tokenIn(page: string, path: string): string {
  const forms = page.match(/<form [^>]*method="post".*?<\/form>/gs) ?? []
  const form = forms.find(one => one.includes(`action="${path}`)) ?? ''
  return /name="form_token" value="([^"]*)"/.exec(form)?.[1] ?? ''
}

async function submit(externalId: string): Promise<string> {
  const data = clientData(externalId)
  const { body } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  return body.tracking_id
}

async function audited(action: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from ops.audit where action = ${action}`.execute(db)
  return Number(rows[0]?.count)
}
