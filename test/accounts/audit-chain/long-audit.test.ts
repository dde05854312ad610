import { sql } from 'kysely'
import t from 'tap'
import { verifyAudit } from '../../../src/accounts/audit-chain/verify-audit.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

const LAST = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
const MANY = 10_001

t.test('rows that are not sealed yet are read page by page, to the last one', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into loanops.audit (id, actor, action, subject)
    select gen_random_uuid(), 'asha', 'payment.note', 'x'
     from generate_series(1, ${MANY}::integer)`.execute(db)
  t.match(await verifyAudit(db), { sealed: 0, unsealed: MANY })
  await db.transaction().execute(async trx => {
    await sql`alter table loanops.audit disable trigger user`.execute(trx)
    await sql`
      insert into loanops.audit (id, actor, action, subject)
       values (${LAST}, 'asha', 'payment.note', 'x')`.execute(trx)
    await sql`alter table loanops.audit enable trigger user`.execute(trx)
  })
  t.equal(await verifyAudit(db), `Row ${LAST} was inserted around the chain.`)
})
