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

t.test('a gateway’s payments are found by an index, however few they are', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id, received_at)
    select 'gateway_' || case n when 1 then 'b' else 'a' end, 'payment', n, 'LENDER_02', false, false, 'failed', 's', raw.new_id(), now()
      from generate_series(1, 5000) n`.execute(db)
  await sql`analyze core.transaction`.execute(db)
  const { rows } = await sql`
    explain (format json) select * from ops.payment where gateway = 'gateway_b' order by id desc limit 51`.execute(
    db,
  )
  t.match(JSON.stringify(rows), /"transaction_gateway"/)
})
