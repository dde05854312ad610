import t from 'tap'
import { startWithConsole } from '../support/console.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/statements.ts'

t.test('an uploaded report is listed, and an operator withdraws it from its page', async t => {
  const service = await startWithConsole(t)
  const csv = `${STATEMENT_HEADER}\npay_1,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,\npay_2,"7,0",INR,captured,2026-02-05T10:00:00Z,,,,,`
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { body } = await uploadStatement(service.url, path, csv, '<i>february.csv')
  const page = `/console/books/statements/${body.statement_id}`

  const list = await service.viewer('/console/books/statements?gateway=gateway_a')
  t.match(list.text, `<a href="${page}">&lt;i&gt;february.csv</a>`)
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
