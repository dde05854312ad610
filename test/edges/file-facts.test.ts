import { hash } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

/** What a stranger may call a file: markup, a formula, and characters that hide or move others. */
const ODD_NAME = ' =1+1\u202e<b>\u0007आशा\u200d.csv '
const SHOWN_NAME = '=1+1<b>आशा\u200d.csv'

const STATEMENTS = { page: '/console/backfills', path: '/console/statements' }

const service = await startWithConsole(t)
const { url, db, call, operator, viewer } = service

t.test('an upload keeps its name, its SHA-256 and the earlier one of the same bytes', async t => {
  // The file has several chunks, and a character outside ASCII.
  const rows = Array.from({ length: 3_000 }, (_, n) => ({ payment_reference: `p-${n}`, note: 'é' }))
  const csv = repaymentsCsv(...rows)
  const facts = { file_name: SHOWN_NAME, file_sha256: hash('sha256', csv) }
  const upload = (text: string, name: string) => uploadCsv(service, 'repayments', text, name)
  const { body: first } = await upload(csv, ODD_NAME)
  t.match(first, { ...facts, same_as: null })
  const { body: other } = await upload(`${csv}\n`, 'other.csv')
  t.match(other, { same_as: null, file_sha256: hash('sha256', `${csv}\n`) })
  const { body: second } = await upload(csv, 'again.csv')
  t.match(second, { ...facts, file_name: 'again.csv', same_as: first.migration_id })
  const { body: third } = await upload(csv, `${'अ'.repeat(300)}.csv`)
  t.match(third, { file_name: 'अ'.repeat(200), same_as: second.migration_id })

  const path = `/api/migration/${second.migration_id}`
  t.match((await call('GET', path)).body, { ...facts, file_name: 'again.csv' })
  const { migrations } = (await call('GET', '/api/migration')).body
  t.match(
    migrations.map(({ same_as }: any) => same_as),
    [second.migration_id, first.migration_id, null, null],
  )
  t.match(await detailOf('migration.upload', second.migration_id), {
    type: 'repayments',
    file_name: 'again.csv',
    file_sha256: facts.file_sha256,
    same_as: first.migration_id,
  })

  const page = await viewer(`/console/portfolio/${second.migration_id}`)
  t.match(page.text, `<dd>${facts.file_sha256}`)
  t.match(page.text, `<a href="/console/portfolio/${first.migration_id}">an earlier upload`)
  const list = await viewer('/console/portfolio')
  t.match(list.text, '>=1+1&lt;b&gt;आशा\u200d.csv</a>')
  t.match(list.text, `title="${facts.file_sha256}"`)
  t.match(list.text, `<a href="/console/portfolio/${first.migration_id}">an earlier upload`)
  const exported = await viewer('/console/portfolio.csv')
  t.match(exported.text, `,'=1+1<b>आशा\u200d.csv,`)
  t.match(exported.text, facts.file_sha256)
})

t.test(
  'a statement has its file’s name, hash and earlier copy, in the API, the audit and the console',
  async t => {
    const csv = `${STATEMENT_HEADER}\npay_1,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,\n`
    const facts = { file_name: SHOWN_NAME, file_sha256: hash('sha256', csv) }
    const path = 'gateway_a/statement?lender=LENDER_02'
    const { body: first } = await uploadStatement(url, path, csv, ODD_NAME)
    t.match(first, { ...facts, same_as: null })
    const fields = { gateway: 'gateway_b', lender: 'LENDER_07' }
    const sent = await sendFile(service, STATEMENTS, fields, new File([csv], 'again.csv'))
    t.equal(sent.status, 303)

    const { statements } = (await call('GET', '/api/gateways/gateway_b/statements')).body
    const again = { ...facts, file_name: 'again.csv', same_as: first.statement_id }
    t.match(statements, [again])
    const { statement_id: id } = statements[0]
    t.match(await detailOf('gateway.statement', id), again)
    const page = await viewer(`/console/books/statements/${id}`)
    t.match(page.text, `<dd>${facts.file_sha256}`)
    t.match(
      page.text,
      `<a href="/console/books/statements/${first.statement_id}">an earlier upload`,
    )
    t.match((await viewer('/console/books/statements.csv')).text, `,${first.statement_id},`)
    t.match((await operator('/console/audit')).text, `<a href="/console/books/statements/${id}">`)
  },
)

t.test('the search finds files by their ids and by their bytes', async t => {
  const csv = repaymentsCsv({ payment_reference: 'only-here' })
  const sha256 = hash('sha256', csv)
  const { body } = await uploadCsv(service, 'repayments', csv)
  const found = await viewer(`/console/search?q=${sha256.toUpperCase()}`)
  t.equal(found.headers.get('location'), `/console/portfolio/${body.migration_id}`)
  t.match((await viewer(`/console/search?q=${'0'.repeat(64)}`)).text, 'Nothing has the id')
  const report = `${STATEMENT_HEADER}\npay_2,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,\n`
  await uploadStatement(url, 'gateway_a/statement?lender=LENDER_02', report)
  const again = await uploadStatement(url, 'gateway_b/statement?lender=LENDER_07', report)
  const { statement_id: id, file_sha256 } = again.body
  const path = `/console/books/statements/${id}`
  t.equal((await viewer(`/console/search?q=${id}`)).headers.get('location'), path)
  t.match((await viewer(`/console/search?q=${file_sha256}`)).text, `href="${path}"`)
})

t.test('a file without a name has none', async t => {
  for (const name of ['', ' ', '\u200b', '\u0001'])
    t.match(
      (await uploadCsv(service, 'repayments', repaymentsCsv({}), name)).body,
      { file_name: null, file_sha256: /^[0-9a-f]{64}$/ },
      JSON.stringify(name),
    )
})

async function detailOf(action: string, subject: string) {
  const { rows } = await sql<{ detail: object }>`
    select detail from ops.audit where action = ${action} and subject = ${subject}`.execute(db)
  return rows[0]?.detail
}
