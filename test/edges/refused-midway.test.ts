import { sql } from 'kysely'
import t from 'tap'
import { STATEMENT_HEADER } from '../support/books/statements.ts'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { upload } from '../support/http/upload.ts'

const ROWS = 2_500
/** The file with a quote in its last line that is never closed. */
const broken = (lines: string[]) => [...lines.slice(0, -1), `"${lines.at(-1)}`].join('\n')

const references = [
  'gateway,kind,value,external_loan_id',
  ...Array.from({ length: ROWS }, (_, i) => `gateway_a,virtual_account,va_${i},L-${i}`),
]
const payments = [
  STATEMENT_HEADER,
  ...Array.from(
    { length: ROWS },
    (_, i) => `pay_${i},1.00,INR,captured,2026-02-05T10:00:00Z,,,setl_1,,utr_1`,
  ),
]
const service = await startWithConsole(t)
const { call, db, url } = service

async function counted(table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${sql.table(table)}`.execute(db)
  return rows[0]?.count ?? 0
}

t.test('a file of references refused midway says what it took, and is sent again', async t => {
  const send = (content: string | Uint8Array<ArrayBuffer>) =>
    upload(`${url}/api/references/upload`, { name: 'references.csv', content })
  const refused = await send(broken(references))
  const taken = await counted('core.reference')
  t.ok(taken >= 1_000 && taken < ROWS)
  t.match(refused, {
    status: 400,
    body: {
      code: 'INVALID_PAYLOAD',
      detail: `Line ${ROWS + 1}, column gateway: a quote is opened but never closed. The first valid rows (${taken}) are registered. Upload the corrected file as a whole: what is registered already stays as it is`,
    },
  })
  t.notOk('errors' in refused.body)
  const latin = Buffer.concat([
    Buffer.from(references.join('\n')),
    Buffer.from([0x0a, 0xc3, 0xa9, 0xe9]),
  ])
  t.match(
    (await send(new Uint8Array(latin))).body.detail,
    /^Line \d+.*another encoding.*\(\d+\) are registered/,
  )
  const page = '/console/references'
  const file = new File([broken(references)], 'references.csv')
  const shown = await sendFile(service, { page, path: `${page}/upload` }, {}, file)
  t.match(shown.text, 'are registered. Upload the corrected file')
  t.notMatch(shown.text, 'Nothing was changed')
  t.match(await send(references.join('\n')), {
    status: 201,
    body: { valid_rows: ROWS, invalid_rows: 0 },
  })
  t.equal(await counted('core.reference'), ROWS)
})

t.test('a report that is refused midway says what it saved, and is sent again', async t => {
  const path = `${url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const send = (content: string) => upload(path, { name: 'report.csv', content })
  const { status, body } = await send(broken(payments))
  const saved = await counted('core.statement')
  t.ok(saved >= 1_000 && saved < ROWS)
  t.equal(status, 400)
  t.match(
    body.detail,
    `The first valid rows (${saved}) are saved. Upload the corrected file as a whole: its rows replace these, and only then its days are complete`,
  )
  const { statements } = (await call('GET', '/api/gateways/gateway_a/statements')).body
  const page = await service.viewer(`/console/books/statements/${statements[0].statement_id}`)
  t.match(page.text, 'a quote is opened but never closed')
  t.match(page.text, `The first valid rows (${saved}) are saved`)
  const day = async () =>
    (await call('GET', '/api/reconciliation?from=2026-02-05&to=2026-02-05')).body.days
  t.match(await day(), [{ captured: null }])
  t.match(await send(payments.join('\n')), { status: 201, body: { valid_rows: ROWS } })
  t.match(await day(), [{ captured: { payments: ROWS, amount: `${ROWS}.00` } }])
  t.equal(await counted('core.statement'), ROWS)
})

t.test('a file refused before its first row changes nothing and names the file', async t => {
  const content = 'gateway,kind,value,external_loan_id\ngateway_a,"mandate,m_1,L-1'
  const { body } = await upload(`${url}/api/references/upload`, { name: 'a.csv', content })
  t.match(body, { errors: [{ path: '/file', message: /never closed$/ }] })
})
