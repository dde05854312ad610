import { sql } from 'kysely'
import t from 'tap'
import { BLANK, trimmed } from '../../src/text/trimmed.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('a CSV takes its cells without blanks at their ends, as an operation its texts', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const padded = (text: string) => ` \u200b\u00a0 ${text}\u200d`
  const file = loansCsv({ loan_external_id: padded('L-1'), client_mobile_no: padded('98765') })
  const { body } = await uploadCsv(service, 'loans', file)
  t.match(body, { valid_rows: 1, invalid_rows: 0 })
})

t.test('a joiner that belongs to the last letter of a name stays', async t => {
  t.equal(trimmed('\u200dक्\u200d\u200b '), 'क्\u200d')
})

t.test('the loan in a payment’s notes is taken without the blanks at its ends', async t => {
  const { db } = await freshDatabase(t)
  const isBlank = new RegExp(`[\\s${BLANK}]`)
  const codes = Array.from({ length: 0x10000 }, (_, code) => code)
  const blanks = codes.map(code => String.fromCharCode(code)).filter(one => isBlank.test(one))
  t.ok(blanks.length > 50)
  const { rows } = await sql<{ left: string }>`
    select base.text_of(to_jsonb(blank || 'L-1' || blank)) as left
      from unnest(${blanks}::text[]) blank`.execute(db)
  t.same(new Set(rows.map(({ left }) => left)), new Set(['L-1']))
})
