import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

t.test('every query that README shows to operators runs', async t => {
  const { db } = await freshDatabase(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(db)
  const section = README.split('## Operating it in SQL')[1]?.split('\n## ')[0] ?? ''
  const queries = [...section.matchAll(/^\|.*?\| `(select .*?)`/gm)].map(([, query = '']) =>
    query.replaceAll('\\|', '|'),
  )
  t.ok(queries.length > 12, 'the dozen and more')
  for (const query of queries) await t.resolves(sql.raw(query).execute(db), query)
})
