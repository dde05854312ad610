import { sql } from 'kysely'
import t from 'tap'
import { isRespelled, spellingOf } from '../../../src/ledger/loans/repayment.ts'
import { isOfAnotherPayment } from '../../../src/payments/repayment/due-payment.ts'
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
  ['0', '+000'],
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

t.test('a receipt or an id at the ledger that is a long run of zeros costs little', async t => {
  const began = process.cpuUsage()
  const zeros = '0'.repeat(300_000)
  t.notOk(isRespelled(`${zeros}x`, '7'))
  t.ok(isRespelled(`${zeros}7`, '7'))
  t.ok(isOfAnotherPayment(`gateway_a-${zeros}x`, 'gateway_a-7'))
  t.notOk(isOfAnotherPayment(`gateway_a-${zeros}7-r2`, 'gateway_a-7'))
  const { user } = process.cpuUsage(began)
  t.ok(user < 5_000_000, 'not the minute that looking again from each zero takes')
})
