import { sql } from 'kysely'
import t from 'tap'
import { type Seen, startWithConsole } from '../support/console/console.ts'
import { fillConsole, LOAN } from '../support/console/console-data.ts'
import { capturedA, successB } from '../support/payments/gateway-events.ts'
import { runBatch } from '../support/payments/payments.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { caller, operate } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The figures of a page: the address and the number of each link that is a number. */
const figures = ({ text }: Seen) =>
  [...text.matchAll(/<a href="([^"]+)"[^>]*>(?:more than )?([\d,]+)<\/a>/g)].map(([, href, n]) => ({
    href: (href ?? '').replaceAll('&amp;', '&'),
    number: Number(n?.replaceAll(',', '')),
  }))
const rowsIn = ({ text }: Seen) => (text.match(/<tr>/g)?.length ?? 1) - 1
const lines = ({ text }: Seen) => text.trimEnd().split('\r\n')

// Shared, as filling it takes long: each test adds payments and files of its own, and counts against the database or the page.
const service = await startWithConsole(t)
const { url, db, operator, viewer } = service
const call = caller(url)
await fillConsole(url)
/** Payments that no batch can post by itself, because they name no loan or one that does not exist. */
const hold = async (lender: string, ...payments: { id: string; loan?: string }[]) => {
  for (const facts of payments) {
    const event = capturedA({ notes: {}, ...facts, amount: 99_900 })
    await call('POST', `/api/webhooks/gateway_a?lender=${lender}`, event)
  }
  await runBatch(call)
}

t.test('each number on the overview but a rate leads to the rows that it counts', async t => {
  const rates = ['/console/operations', '/console/operations?status=success']
  // Behind other tests of this file, the overview may be some seconds older than the lists.
  const counts = await until(async () => {
    const counts = figures(await operator('/console')).filter(({ href }) => !rates.includes(href))
    for (const { href, number } of counts)
      if (rowsIn(await operator(href)) !== number) return undefined
    return counts
  }, 'the overview and its lists agree')
  for (const kind of ['failed_on=', 'state=suspense', 'objection=', '/callbacks'])
    t.ok(
      counts.some(({ href }) => href.includes(kind)),
      kind,
    )
  for (const { href, number } of counts) t.equal(rowsIn(await operator(href)), number, href)
})

t.test('payments in suspense come first, and none is left out or shown twice', async t => {
  const states: string[] = []
  for (let path: string | undefined = '/console/payments?limit=1'; path !== undefined; ) {
    const page = await operator(path)
    states.push(/data-title="State">.*?>(\w+)/s.exec(page.text)?.[1] ?? 'none')
    path = /<a href="([^"]+)" rel="next"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&')
  }
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ops.payment`.execute(
    db,
  )
  t.equal(states.length, rows[0]?.n)
  const held = states.filter(state => state === 'suspense').length
  t.same(states.slice(0, held), Array(held).fill('suspense'))
})

t.test('an id shows a character that nobody sees, and a field keeps it', async t => {
  const hidden = ['L-\u200b1001', 'L-\u202e1001', 'L-\u31641001', 'L-1001\ufe0f', 'L-1001\u{e0041}']
  const loans = [...hidden, 'ऋण-क्\u200dष-1', 'قرض\u200f-1', 'ऋण\u2764\ufe0f']
  for (const [n, loan] of loans.entries()) {
    const event = capturedA({ id: `pay_unseen${n}`, loan })
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  }
  await runBatch(call)
  const pages: string[] = []
  for (const n of loans.keys())
    pages.push((await operator(`/console/payments/gateway_a/pay_unseen${n}`)).text)
  const loansIn = pages.map(page => /<dt>Loan<\/dt><dd><a[^>]*>(.*?)</.exec(page)?.[1])
  const shown = [
    'L-[U+200B]1001',
    'L-[U+202E]1001',
    'L-[U+3164]1001',
    'L-1001[U+FE0F]',
    'L-1001[U+E0041]',
  ]
  t.same(loansIn, [...shown, ...loans.slice(shown.length)])
  t.match(pages[0], /name="external_loan_id"[^>]* value="L-\u200b1001"/)
  const [external_loan_id = ''] = loans
  const late = { outcome: 'failed', external_loan_id }
  const path = '/console/payments/gateway_a/pay_unseen0'
  const refused = await operator(`${path}/resolve`, late, { referer: `${url}/console` })
  t.match(refused.text, /<dd>L-\[U\+200B\]1001<\/dd>/, 'also where its form is gone')
})

t.test('a form without JavaScript assigns a payment, and the next batch posts it', async t => {
  await hold('LENDER_02', { id: 'pay_assigned' })
  const path = '/console/payments/gateway_a/pay_assigned'
  const form = { external_loan_id: 'L-1002', note: 'named by the branch' }
  const { status, headers } = await operator(`${path}/assign`, form)
  t.equal(status, 303)
  t.match((await operator(headers.get('location') ?? '')).text, /The payment is assigned/)
  await runBatch(call)
  const page = await operator(path)
  t.match(page.text, /posted/)
  const [attempts = ''] = /<h2>Attempts at the ledger.*?<\/table>/s.exec(page.text) ?? []
  t.match(attempts, /data-title="Outcome" >done</)
  t.notMatch(attempts, /<td[^>]*><\/td>/, 'no column is empty')
  t.match(page.text, /payment assign<\/strong> by asha.rao: “named by the branch”/)
  const { rows } = await sql`
      select actor, detail ->> 'note' as note from ops.audit
       where action = 'payment.assign' and subject like '%/pay_assigned%'`.execute(db)
  t.same(rows, [{ actor: 'asha.rao', note: 'named by the branch' }])
})

t.test(
  'a decision about a payment takes the day as people write it, and says which field is wrong',
  async t => {
    await hold('LENDER_02', { id: 'pay_decided', loan: 'L-78' })
    const path = '/console/payments/gateway_a/pay_decided'
    const post = {
      outcome: 'post',
      external_loan_id: 'L-1001',
      amount: '999.00',
      paid_on: '2026-02-05',
      note: 'found',
      ledger_transaction_id: '',
    }
    const wrong = await operator(`${path}/resolve`, { ...post, amount: '1,000' })
    t.equal(wrong.status, 400)
    t.match(wrong.text, /role="alert".*<strong>amount<\/strong> must be/s)
    t.equal((await operator(`${path}/resolve`, post)).status, 303)
    await runBatch(call)
    t.match((await operator(path)).text, /posted/)
  },
)

t.test('a decision about a payment takes a day as the page shows it', async t => {
  await hold('LENDER_02', { id: 'pay_copied', loan: 'L-78' })
  const path = '/console/payments/gateway_a/pay_copied'
  const [, paid_on = ''] = /<time[^>]*>([^<,]+),/.exec((await operator(path)).text) ?? []
  const post = {
    outcome: 'post',
    external_loan_id: 'L-1001',
    amount: '998.00',
    paid_on,
    note: 'so',
  }
  t.equal((await operator(`${path}/resolve`, post)).status, 303, paid_on)
})

t.test('a note is shown with its author', async t => {
  const path = '/console/payments/gateway_a/rfnd_1'
  await operator(`${path}/note?kind=refund`, { note: 'asked the lender' })
  t.match((await operator(`${path}?kind=refund`)).text, /“asked the lender”, by asha.rao/)
})

t.test('no note passes for the note of another person, or for an approval', async t => {
  const path = '/console/payments/gateway_a/rfnd_1'
  await operator(`${path}/note?kind=refund`, { note: 'agreed”, by meera; approved_by: meera. “' })
  const shown = /“agreed", by meera; approved_by: meera. "”/
  for (const page of [`${path}?kind=refund`, '/console/audit?action=payment.note'])
    t.match((await operator(page)).text.replaceAll('&quot;', '"'), shown, page)
})

t.test('no name of a file passes for more of an audit entry than it is', async t => {
  const name = 'emi; approved_by: meera; x.csv'
  const file =
    'loan_external_id,transaction_date,amount,payment_reference,gateway,note\nL-1,2026-02-05,1,R,,'
  t.equal((await uploadCsv({ url }, 'repayments', file, name)).status, 201)
  const { text } = await operator('/console/audit?action=migration.upload')
  t.match(text, /file_name: “emi; approved_by: meera; x\.csv”/)
})

t.test('a success notice is shown once, not on every refresh', async t => {
  const { text } = await operator('/console/callbacks?state=failed&done=resumed')
  t.match(text, 'class="notice"')
  t.match(text, 'hx-get="/console/callbacks?state=failed"')
  t.match(text, 'href="/console/callbacks?state=failed&amp;refresh=off"')
})

t.test('a payment’s events are shown down to their bytes', async t => {
  const { text } = await operator('/console/payments/gateway_a/pay_unknown_loan?bodies=true')
  t.match(text, /Body, \d+ bytes/)
  t.match(text, /&quot;external_loan_id&quot;:&quot;L-77&quot;/)
})

t.test('the search box opens an operation, a loan, a client or a payment by its id', async t => {
  const found = async (q: string) =>
    (await operator(`/console/search?q=${encodeURIComponent(q)}`)).headers.get('location')
  const { tracking_id } = await operate(call, 'LOAN_APPROVE', {
    external_loan_id: 'L-9',
    approvedOnDate: '12 January 2026',
  })
  const operation = `/console/operations/${encodeURIComponent(tracking_id)}`
  t.equal(await found(tracking_id), operation)
  t.equal(await found(tracking_id.split('|')[1]), operation)
  t.match(await found('UTR-L-1001'), /^\/console\/operations\/LOAN_DISBURSE%7C/)
  t.equal(await found('L-1001'), '/console/loans/L-1001')
  t.equal(await found('C-1001'), '/console/clients/C-1001')
  t.equal(await found('pay_posted'), '/console/payments/gateway_a/pay_posted')
  for (const posted of ['gateway_a-pay_posted', 'gateway_a-pay_posted-r2'])
    t.equal(await found(posted), '/console/payments/gateway_a/pay_posted', 'its id at the ledger')
  t.equal(await found('nothing-has-this'), null)
})

t.test('the search box finds a payment by its bank reference, an unreadable one too', async t => {
  const events: [string, object][] = [
    ['pay_rrn', { acquirer_data: { rrn: '402345678901' } }],
    ['pay_unreadable', { amount: 'much' }],
  ]
  for (const [id, payment] of events)
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', capturedA({ id, payment }))
  const { data, ...event } = successB({ id: 'by_utr' })
  const payment = { ...data.payment, payment_method: { vba_transfer: { utr: 'AXISR0001' } } }
  const transfer = { ...event, data: { ...data, payment } }
  await call('POST', '/api/webhooks/gateway_b?lender=LENDER_02', transfer)
  await runBatch(call)
  const found = async (q: string) =>
    (await operator(`/console/search?q=${encodeURIComponent(q)}`)).headers.get('location')
  t.equal(await found('402345678901'), '/console/payments/gateway_a/pay_rrn')
  t.equal(await found('AXISR0001'), '/console/payments/gateway_b/by_utr')
  t.match(await found('pay_unreadable'), /^\/console\/payments\/gateway_a\/[0-9a-f-]{36}$/)
})

t.test('a loan’s timeline has operations with attempts, payments and who decided what', async t => {
  await hold('LENDER_02', { id: 'pay_of_loan' })
  const assign = '/console/payments/gateway_a/pay_of_loan/assign'
  await operator(assign, { external_loan_id: 'L-1001', note: 'named by the branch' })
  const { text } = await operator('/console/loans/L-1001?refresh=off')
  for (const part of [
    'LOAN_CREATE',
    'LOAN_DISBURSE',
    'POST /loans/',
    'pay_of_loan',
    'payment assign',
  ])
    t.ok(text.includes(part), part)
  const { text: now } = await operator('/console/loans/L-1001?ledger=now')
  t.match(now, /At the ledger now.*Active.*Repayment/s)
  t.match(
    now,
    /Payments received<\/dt><dd>INR .*Due next<\/dt><dd>INR 4,584.00 on \d.*Overdue<\/dt><dd>INR .* since 2026-0/s,
  )
})

t.test('a client’s page lists its loans, each with its state and lender', async t => {
  await operate(call, 'LOAN_CREATE', { ...LOAN, externalId: 'L-1003', clientId: 'C-1001' })
  const { text } = await operator('/console/clients/C-1001')
  const [list = ''] = /<h2>Loans.*?<\/table>/s.exec(text) ?? []
  t.match(list, /\/console\/loans\/L-1003".*submitted.*LENDER_02.*L-1001<.*disbursed.*LENDER_02/s)
  t.notMatch((await operator('/console/clients/C-9')).text, '<h2>Loans')
})

t.test('an export gives times by the ledger’s clock, and names its zone', async t => {
  const [header, ...rows] = lines(await operator('/console/operations.csv')).map(line =>
    line.split(','),
  )
  const column = header?.indexOf('accepted_at (Asia/Kolkata)') ?? -1
  const { rows: known } = await sql<{ at: string }>`
    select to_char(accepted_at at time zone 'Asia/Kolkata', 'YYYY-MM-DD HH24:MI:SS') as at
      from ops.operation where operation_type = 'CLIENT_CREATE'`.execute(db)
  t.ok(rows.some(row => row[column] === known[0]?.at))
  for (const list of [
    'payments',
    'portfolio',
    'callbacks',
    'audit',
    'batches',
    'readbacks',
    'backfills',
  ]) {
    const { text } = await operator(`/console/${list}.csv`)
    t.match(text, / \(Asia\/Kolkata\)/, list)
    // The audit's details are kept as they are.
    t.notMatch(text, /^([^"]*,)?\d{4}-\d\d-\d\dT/m, list)
  }
})

t.test('an export has every row that matches, and only its header if none does', async t => {
  const { rows } = await sql<{ id: string }>`select id from loanops.operation`.execute(db)
  const all = await operator('/console/operations.csv?limit=1')
  t.match(all.headers.get('content-type'), /^text\/csv/)
  for (const { id } of rows) t.ok(all.text.includes(id), id)
  t.equal(new Set(lines(all)).size, lines(all).length, 'none twice')
  const none = await operator('/console/operations.csv?external_id=nobody')
  t.equal(lines(none).length, 1)
  t.match(lines(none)[0], /tracking_id,external_id,status/)
})

t.test('failures are grouped by their reason, and each number leads to its rows', async t => {
  const page = await operator('/console/operations?status=failed')
  const reasons = figures(page).filter(({ href }) => href.includes('error_code='))
  t.ok(reasons.length > 0)
  for (const { href, number } of reasons) t.equal(rowsIn(await operator(href)), number, href)
})

t.test('the ledger is paused until a time by its own clock, and resumed', async t => {
  const impossible = { reason: 'close of business', until: '2099-02-30T22:00' }
  t.match(await operator('/console/pause', impossible), { status: 400, text: /must be a day/ })
  await operator('/console/pause', { reason: 'close of <business>', until: '2099-11-20T22:00' })
  const page = (await operator('/console')).text
  t.match(page, /paused since.*20 Nov 2099, 22:00:00.*close of &lt;business&gt;/s)
  const { rows } = await sql<{ until: Date }>`select until from ops.ledger_pause`.execute(db)
  t.equal(rows[0]?.until.toISOString(), '2099-11-20T16:30:00.000Z')
  // Whoever corrects only the reason must not make it last until somebody resumes.
  t.match(page, /name="until" type="datetime-local" step="1" value="2099-11-20T22:00"/)
  t.equal((await operator('/console/resume', {})).status, 303)
  t.match((await operator('/console')).text, /Writes are enabled/)
})

t.test('a decision on all that match is counted, confirmed, and made on exactly those', async t => {
  await hold('LENDER_03', { id: 'pay_b1' }, { id: 'pay_b2' }, { id: 'pay_b3' })
  const wanted = {
    decision: 'payments.dismiss',
    reason: 'no_loan_named',
    state: 'suspense',
    lender: 'LENDER_03',
    note: 'test payments',
  }
  const count = await operator(`/console/bulk?${new URLSearchParams(wanted)}`)
  t.match(count.text, /<strong>3<\/strong> payments/)
  const [, digest = ''] = /name="digest" value="([^"]+)"/.exec(count.text) ?? []
  const confirm = (count: string) => operator('/console/bulk', { ...wanted, digest, count })
  t.equal((await confirm('2')).status, 409)
  const { headers } = await confirm('3')
  const path = headers.get('location') ?? ''
  await until(async () => (await operator(path)).text.includes('completed'))
  const { rows } = await sql`
      select state, note, noted_by from core.transaction
       where gateway_payment_id like 'pay_b%'`.execute(db)
  t.same(rows, Array(3).fill({ state: 'dismissed', note: 'test payments', noted_by: 'asha.rao' }))
})

t.test('a portfolio is uploaded, dry-run and run, and its errors are shown', async t => {
  const form = new FormData()
  form.set('type', 'repayments')
  const row = (n: number, amount: string) => `L-1001,0${n} February 2026,${amount},REF-${n},,`
  const file = [
    'loan_external_id,transaction_date,amount,payment_reference,gateway,note',
    row(1, '100.00'),
    row(2, 'abc'),
  ]
  form.set('file', new Blob([file.join('\n')]), 'repayments.csv')
  const { cookie } = operator
  const sent = await fetch(`${url}/console/portfolio/upload`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: form,
  })
  const path = new URL(sent.headers.get('location') ?? '', url).pathname
  t.match((await operator(path)).text, /Rows with errors.*amount must be a number/s)
  t.equal((await operator(`${path}/run`, {})).status, 409)
  await operator(`${path}/dry-run`, { skip_invalid: 'on' })
  await until(async () => (await operator(path)).text.includes('What the dry run found'))
  await operator(`${path}/run`, { skip_invalid: 'on' })
  await until(async () => (await operator(path)).text.includes('completed'))
  t.match(lines(await operator(`${path}/errors.csv`)).join('\n'), /abc/)
})

t.test('a loan’s client is that of the operation that created it, whatever came later', async t => {
  const other = { ...LOAN, externalId: 'L-1002', clientId: 'C-OTHER' }
  t.match(await operate(call, 'LOAN_CREATE', other), { status: 'failed' })
  t.match((await viewer('/console/loans/L-1002')).text, 'Client <a href="/console/clients/C-1001">')
  t.match((await viewer('/console/clients/C-OTHER')).text, /L-1002<.*not created/s)
})

t.test('a page that does not exist is not found, rather than refused', async t => {
  t.match(await viewer('/console/nowhere'), { status: 404, text: /<h1>Not found<\/h1>/ })
})

t.test('a viewer’s page of a refund has no form for a note', async t => {
  t.notMatch((await viewer('/console/payments/gateway_a/rfnd_1?kind=refund')).text, /Save note/)
})

t.test('a portfolio’s page says how many of its errors it shows', async t => {
  const header = 'loan_external_id,transaction_date,amount,payment_reference,gateway,note'
  const tooLong = Array.from({ length: 9 }, (_, n) => `L-1,2026-02-01,1,p,,${','.repeat(n)}x`)
  const short = Array.from({ length: 110 }, () => 'L-1')
  const file = [header, ...tooLong, ...short].join('\n')
  const { body } = await uploadCsv({ url }, 'repayments', file)
  const { text } = await viewer(`/console/portfolio/${body.migration_id}`)
  t.match(text, /Only the first 8 are shown.*100 of 118 rows with errors are shown/s)
})

t.test('each figure of the books leads to the payments that it counts', async t => {
  const books = await operator('/console/books?from=2026-02-01&to=2026-02-28')
  const links = [...books.text.matchAll(/<a href="(\/console\/books\/payments[^"]+)">(\d+): /g)]
  t.ok(links.length > 0)
  for (const [, href = '', number] of links)
    t.equal(rowsIn(await operator(href.replaceAll('&amp;', '&'))), Number(number), href)
  const csv = await operator('/console/books.csv?from=2026-02-01&to=2026-02-28')
  t.match(lines(csv)[0], /^day,lender,gateway,currency,captured_payments/)
})

t.test(
  'a read with a slash at the end is redirected to the page itself, and a write is not found',
  async t => {
    for (const [path, target] of [
      ['/console/', '/console'],
      ['/console/payments/?state=suspense', '/console/payments?state=suspense'],
      ['/console//evil.example/', '/console//evil.example'],
    ] as const) {
      const { status, headers } = await operator(path)
      t.equal(status, 308, path)
      t.equal(headers.get('location'), target)
    }
    t.equal((await operator('/console/', {})).status, 404)
    t.equal((await operator('/console/books', {})).status, 405)
    t.equal((await operator('/console/nothing')).status, 404)
  },
)

t.test('a filter that does not exist is refused with a page that says so', async t => {
  const { status, text } = await operator('/console/payments?state=bogus')
  t.equal(status, 400)
  t.match(text, /role="alert".*must be one of waiting/s)
})

t.test('a download that is refused gets a page, as the list itself does', async t => {
  const days = 'from=2026-02-02&to=2026-02-01'
  for (const [path, refusal] of [
    [`/console/payments?${days}`, 400],
    [`/console/payments.csv?${days}`, 400],
    ['/console/portfolio/019a0000-0000-7000-8000-000000000000/errors.csv', 404],
  ] as const) {
    const { status, headers, text } = await operator(path)
    t.equal(status, refusal, path)
    t.match(text, 'role="alert"')
    t.equal(headers.get('content-disposition'), null)
  }
})

t.test('an error in a refreshing part is shown in that part', async t => {
  const { text } = await operator('/console/operations?status=no', undefined, {
    'hx-request': 'true',
  })
  t.match(text, /^<div id="live"/)
  t.notMatch(text, /<html/)
})
