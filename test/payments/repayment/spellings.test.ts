import { sql } from 'kysely'
import t from 'tap'
import { isRespelled, spellingOf } from '../../../src/ledger/loans/repayment.ts'
import { spelt } from '../../../src/payments/repayment/spelt.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

/** Ids of payments, with what files and ledgers make of them. */
const SAME = [
  ['pay_29QQoBUi66xm2f', 'PAY_29QQOBUI66XM2F'],
  ['1453002795', '01453002795'],
  ['01453002795', '1453002795'],
  ['1453002795', '+1453002795'],
  ['CF-77', 'cf–77'],
  ['7', '0000007'],
] as const
const OTHER = [
  ['1453002795', '1453002796'],
  ['pay_1', 'pay_01'],
  ['70', '7'],
  ['AB', '0AB'],
] as const

t.test('each payment whose id is spelt otherwise in a file is among those looked up', async t => {
  const { db } = await freshDatabase(t)
  for (const [id, receipt] of SAME) {
    t.ok(isRespelled(receipt, id), `${receipt} is ${id}`)
    const { rows } = await sql`
      select from unnest(${[receipt, spellingOf(receipt)]}::text[]) one
       where ${spelt(sql`one`)} = ${spelt(sql`${id}::text`)}`.execute(db)
    t.not(rows.length, 0, `${receipt} finds ${id}`)
  }
})

t.test('ids that differ in more than their spelling are two payments', async t => {
  for (const [id, receipt] of OTHER) t.notOk(isRespelled(receipt, id), `${receipt} is not ${id}`)
})
