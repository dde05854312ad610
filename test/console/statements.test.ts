import t from 'tap'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { uploadInParts } from '../support/http/upload-in-parts.ts'
import { until } from '../support/until.ts'

t.test('an uploaded report is listed, and an operator withdraws it from its page', async t => {
  const service = await startWithConsole(t)
  const csv = `${STATEMENT_HEADER}\npay_1,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,\npay_2,"7,0",INR,captured,2026-02-05T10:00:00Z,,,,,`
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { body } = await uploadStatement(service.url, path, csv, '<i>february.csv')
  const page = `/console/books/statements/${body.statement_id}`

  const list = await service.viewer('/console/books/statements?gateway=gateway_a')
  t.match(list.text, `<a href="${page}">&lt;i&gt;february.csv</a>`)
  const upload = '<a href="/console/backfills">Upload a report</a>'
  t.notMatch(list.text, upload)
  t.match((await service.operator('/console/books/statements')).text, upload)
  const days = '/console/books?from=2026-02-05&to=2026-02-05'
  t.match((await service.viewer(days)).text, 'partial statement')
  t.notMatch((await service.viewer(page)).text, 'Withdraw</button>')
  t.match((await service.operator(page)).text, 'Withdraw</button>')

  const { status, headers } = await service.operator(`${page}/withdraw`, {})
  t.equal(status, 303)
  const done = await service.operator(headers.get('location') as string)
  t.match(done.text, 'The report is withdrawn with its rows.')
  t.match(done.text, /Withdrawn by<\/dt><dd>asha\.rao/)
  t.notMatch(done.text, 'Withdraw</button>')
  t.equal((await service.operator(`${page}/withdraw`, {})).status, 404)
})

t.test('the page of a report says that its upload has not ended, or was interrupted', async t => {
  const { url, viewer, db } = await startWithConsole(t, { ROLE: 'api' })
  const parts: [string, string] = [
    `${STATEMENT_HEADER}\npay_1,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,`,
    'pay_2,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,',
  ]
  const { promise, resolve } = Promise.withResolvers<void>()
  const path = `${url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const uploading = uploadInParts(path, parts, promise)
  const page = await until(async () => {
    const [file] = await db.selectFrom('core.statement_file').select('id').execute()
    return file && `/console/books/statements/${file.id}`
  }, 'the first row is saved')
  const said =
    'The upload has not ended. The first valid rows (1) are saved. If it was interrupted, upload the file as a whole'
  t.match((await viewer(page)).text, said)
  t.match((await viewer('/console/books/statements')).text, 'incomplete')
  resolve()
  t.equal((await uploading).status, 201)
  t.notMatch((await viewer(page)).text, 'has not ended')
  t.notMatch((await viewer('/console/books/statements?gateway=gateway_a')).text, 'incomplete')
})

t.test('a report sent twice at once is uploaded once, and its page has what was found', async t => {
  const service = await startWithConsole(t)
  const rows = Array.from({ length: 120 }, (_, n) => `pay_${n},x,INR,captured,,,,,,,`)
  const good = 'pay_good,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,,'
  const csv = [`${STATEMENT_HEADER},odd`, good, ...rows].join('\n')
  const page = '/console/backfills'
  const { text } = await service.operator(page)
  const [, path = ''] = /action="(\/console\/statements\?form_token=[^"]*)"/.exec(text) ?? []
  const fields = { gateway: 'gateway_a', lender: 'LENDER_02' }
  const send = () => sendFile(service, { page, path }, fields, new File([csv], 'x.csv'))
  const both = await Promise.all([send(), send()])
  t.same(
    both.map(({ status }) => status),
    [303, 303],
  )
  const [first, second] = both.map(({ headers }) => headers.get('location') ?? '')
  t.equal(first, second)
  const { statements } = (await service.call('GET', '/api/gateways/gateway_a/statements')).body
  t.equal(statements.length, 1)
  const shown = await service.viewer(first ?? '')
  t.match(shown.text, 'The file has been uploaded and its rows checked.')
  t.match(shown.text, '100 of 120 invalid rows are shown.')
  t.match(shown.text, /Ignored columns<\/dt><dd>odd/)
  // The form comes from a page that the browser kept, without its script.
  const other = new File([[STATEMENT_HEADER, good].join('\n')], 'y.csv')
  const later = await sendFile(service, { page, path }, fields, other)
  t.equal(later.status, 303)
  t.not(later.headers.get('location'), first, 'another file is no repeat')
})

t.test('a form is a repeat only with the same file; another one is refused in words', async t => {
  const service = await startWithConsole(t)
  const page = '/console/backfills'
  const { text } = await service.operator(page)
  const [, path = ''] = /action="(\/console\/statements\?form_token=[^"]*)"/.exec(text) ?? []
  const csv = (amount: string) =>
    `${STATEMENT_HEADER}\npay_1,${amount},INR,captured,2026-02-05T10:00:00Z,,,,,`
  const send = (amount: string, lender = 'LENDER_02', to = path) =>
    sendFile(
      service,
      { page, path: to },
      { gateway: 'gateway_a', lender },
      new File([csv(amount)], 'x.csv'),
    )
  const uploaded = async () =>
    (await service.call('GET', '/api/gateways/gateway_a/statements')).body.statements.length
  const first = await send('1900.00')
  const same = await send('1900.00')
  t.same([same.status, same.headers.get('location')], [303, first.headers.get('location')])

  for (const other of [await send('1000.00'), await send('1900.00', 'LENDER_07')]) {
    t.equal(other.status, 409)
    t.match(
      other.text,
      'This form was sent before, with another file or other choices. Nothing was uploaded now',
    )
    t.equal(await uploaded(), 1)
  }
  const { text: again } = await send('1000.00')
  const [, anew = ''] = /action="(\/console\/statements\?form_token=[^"]*)"/.exec(again) ?? []
  const sent = await send('1000.00', 'LENDER_02', anew.replaceAll('&amp;', '&'))
  t.equal(sent.status, 303)
  t.equal(await uploaded(), 2)
})

t.test('a payment that only a statement has is found, with its day and its settlement', async t => {
  const service = await startWithConsole(t)
  const csv = `${STATEMENT_HEADER}\npay_stated,7.00,INR,captured,2026-02-05T10:00:00Z,,,setl_1,2026-02-07T10:00:00Z,UTR1`
  await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  const page = '/console/payments/gateway_a/pay_stated'
  const { headers } = await service.viewer('/console/search?q=pay_stated')
  t.equal(headers.get('location'), page)
  const missing = '/console/books/payments?day=2026-02-05&bucket=missing'
  for (const list of [missing, '/console/settlements/setl_1'])
    t.match((await service.viewer(list)).text, `<a href="${page}">`, list)
  const none = await service.viewer(missing.replace('missing', 'suspense'))
  t.match(none.text, 'No payment matches', 'a bucket that has nothing any more')
  const { status, text } = await service.viewer(page)
  t.equal(status, 200)
  t.match(text, 'Only its gateway’s statement has this payment')
  t.match(text, /captured<.*INR 7\.00.*LENDER_02/s)
  for (const link of ['from=2026-02-05&amp;to=2026-02-05', '/console/settlements/setl_1'])
    t.match(text, link)
  t.equal((await service.viewer(`${page}?kind=refund`)).status, 404)
})
