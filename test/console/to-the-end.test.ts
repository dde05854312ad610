import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { type Browse, startWithConsole } from '../support/console.ts'

const DAY = '2026-02-05'
const OF_DAY = `from=${DAY}&to=${DAY}`
/** As many as an export loads at once, and a multiple of a page. */
const HELD = 500
const POSTED = 3

const { db, viewer } = await startWithConsole(t, { ROLE: 'api' })

t.test(
  'the payments of a day are listed and exported to the last, after a full page in suspense',
  async t => {
    await addPaymentsOfDay(db)
    const listed = await walk(viewer, `/console/payments?${OF_DAY}&limit=100`, /rel="next"/, text =>
      [...text.matchAll(/>(pay_of_day_\d+)</g)].map(([, id = '']) => id),
    )
    t.equal(new Set(listed).size, HELD + POSTED)
    t.equal(listed.length, HELD + POSTED)
    const { text } = await viewer(`/console/payments.csv?${OF_DAY}`)
    t.equal(text.trimEnd().split('\r\n').length, 1 + HELD + POSTED)
  },
)

/** What `found` reads on each page, up to the one that has no link to a next one. */
async function walk(
  browse: Browse,
  first: string,
  next: RegExp,
  found: (text: string) => string[],
): Promise<string[]> {
  const all: string[] = []
  const seen = new Set<string>()
  for (let path: string | undefined = first; path !== undefined; ) {
    if (seen.has(path)) throw new Error(`${path} leads back to itself`)
    seen.add(path)
    const { status, text } = await browse(path)
    if (status !== 200) throw new Error(`${status} for ${path}: ${text}`)
    all.push(...found(text))
    const link = [...text.matchAll(/<a href="([^"]+)"[^>]*>[^<]*</g)].find(([tag]) =>
      next.test(tag),
    )
    path = link?.[1]?.replaceAll('&amp;', '&')
  }
  return all
}

async function addPaymentsOfDay(db: Database): Promise<void> {
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, reason, source,
      raw_id, received_at, paid_at, posted_at)
    select 'gateway_a', 'payment', 'pay_of_day_' || n, 'LENDER_02', true, true,
           case when n <= ${HELD} then 'suspense' else 'posted' end, case when n <= ${HELD} then 'no_loan_named' end,
           'lender_02_gateway_a', raw.new_id(), now(), ${DAY}::date + interval '8 h', case when n > ${HELD} then now() end
      from generate_series(1, ${HELD + POSTED}::integer) n`.execute(db)
}
