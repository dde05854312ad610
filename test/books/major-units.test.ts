import { sql } from 'kysely'
import t from 'tap'
import { readMinorUnits } from '../../src/books/apis/read-minor-units.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

t.test('an amount has the decimals of its currency’s minor unit', async t => {
  const { db } = await freshDatabase(t)
  const majorUnits = await readMinorUnits(db)
  for (const [minor, currency, major] of [
    [29_500n, 'INR', '295.00'],
    [29_500n, 'JPY', '29500'],
    [10_000n, 'KWD', '10.000'],
    [10_000n, 'CLF', '1.0000'],
    [5n, 'INR', '0.05'],
    [-5n, 'BHD', '-0.005'],
    [0n, 'KRW', '0'],
    [5n, null, '0.05'],
  ] as const)
    t.equal(majorUnits(minor, currency), major, `${currency}`)
})

t.test('the fetches and the database read the same amount in every currency', async t => {
  const { db } = await freshDatabase(t)
  const majorUnits = await readMinorUnits(db)
  const currencies = [...Intl.supportedValuesOf('currency'), 'UYI', 'UYW', 'jpy', '']
  const { rows } = await sql<{ currency: string; amount: string }>`
    select currency, base.major_units(12345, currency)::text as amount
     from unnest(${currencies}::text[]) currency`.execute(db)
  t.ok(rows.length > 150)
  for (const { currency, amount } of rows) t.equal(majorUnits(12_345n, currency), amount, currency)
})
