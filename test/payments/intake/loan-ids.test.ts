import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { isExternalId } from '../../../src/http/fields/text-fields.ts'
import { trimmed } from '../../../src/text/trimmed.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { EXTERNAL_IDS } from '../../support/portfolio/external-ids.ts'

const MAX = 100
const blank = fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u00ad', '\u200b', '\u3000', '\ufeff')
const unit = fc.oneof(
  blank,
  fc.constantFrom('.', '/', '\u0001', '\u007f', '\u0085', 'ऋ'),
  fc.string({ unit: 'binary', maxLength: 1 }),
)
const text = fc.oneof(
  fc.string({ unit, maxLength: 8 }),
  fc.constantFrom(...EXTERNAL_IDS).map(kind => kind('L1')),
  fc.integer({ min: MAX - 2, max: MAX + 2 }).map(length => 'ऋ'.repeat(length)),
)

t.test('an event names any loan that a call can name, and no other', async t => {
  const { db } = await freshDatabase(t)
  const property = fc.asyncProperty(fc.array(text, { maxLength: 200 }), async texts => {
    const given = texts.filter(one => !one.includes('\0'))
    const { rows } = await sql<{ name: string }>`
      select name from unnest(${given}::text[]) name
       where core.can_be_loan(base.text_of(to_jsonb(name)))`.execute(db)
    const named = JSON.stringify(rows.map(({ name }) => name))
    const nameable = JSON.stringify(given.filter(one => isExternalId(trimmed(one))))
    if (named !== nameable) throw new Error(`${named} instead of ${nameable}`)
  })
  await t.resolves(fc.assert(property, { numRuns: Number(process.env.FUZZ_CASES ?? 100) }))
})
