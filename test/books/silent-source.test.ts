import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const SOURCE = 'lender_02_gateway_a'
/** A new session reads most of these from the catalogue. */
const MAX_BUFFERS = 1_500

/** Adds as many events as given, spread over an hour that ended so many hours ago. */
async function received(db: Database, hoursAgo: number, count: number, verifiedBy: string | null) {
  await sql`
    insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, lender, received_at, verified_by)
    select ${SOURCE}, core.first_id_at(at), 'gateway_a', 'payment', 'pay_' || at, 'captured', 'LENDER_02', at, ${verifiedBy}
      from (select now() - (${hoursAgo} + n / ${count}::numeric) * interval '1 hour' as at
              from generate_series(1, ${count}::integer) n) times`.execute(db)
  const type = { event_type: 'payment.captured', events: count, last_at: new Date(), weight: 1 }
  if (verifiedBy !== null) type.event_type = 'loanops.backfill'
  await sql`select core.count_types(${SOURCE}, ${JSON.stringify([type])})`.execute(db)
}

async function isSilent(db: Database): Promise<boolean> {
  const { rows } = await sql<{ is_silent: boolean }>`
    select is_silent from ops.gateway where lender = 'LENDER_02'`.execute(db)
  return rows[0]?.is_silent as boolean
}

t.test('a source is silent if nothing comes where each recent week had several events', async t => {
  const { db } = await freshDatabase(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register(${SOURCE})`.execute(db)
  t.equal(await isSilent(db), false, 'nothing ever came')
  // Ten an hour at this time of the last four weeks, and the last one five hours ago.
  for (const week of [1, 2, 3, 4]) await received(db, week * 7 * 24, 10, null)
  await received(db, 5, 10, null)
  t.equal(await isSilent(db), true)
  // What we fetch ourselves is no sign of life.
  await received(db, 0, 5, 'gateway_api')
  t.equal(await isSilent(db), true)
  await sql`
      update core.event set verified_by = null where verified_by = 'gateway_api'`.execute(db)
  t.equal(await isSilent(db), false, 'it sends again')
})

t.test('a source that is usually quiet at this time is not silent', async t => {
  const { db } = await freshDatabase(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register(${SOURCE})`.execute(db)
  for (const week of [1, 2, 3]) await received(db, week * 7 * 24, 10, null)
  await received(db, 5, 10, null)
  t.equal(await isSilent(db), false, 'four weeks ago, nothing came either')
})

t.test(
  'the last event of a source that is only fetched from is found without reading them',
  async t => {
    const { db, ownerUrl } = await freshDatabase(t)
    await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
    await sql`select raw.register(${SOURCE})`.execute(db)
    await received(db, 1_000, 10, null)
    await received(db, 0, 20_000, 'gateway_api')
    await sql`update core.event_type set last_at = now() - interval '1000 hours' where event_type = 'payment.captured'`.execute(
      db,
    )
    await sql`vacuum analyze core.event`.execute(db)
    const [touched] = await buffersOf(ownerUrl, db =>
      sql`select * from ops.gateway where last_event_at is not null`.execute(db),
    )
    t.ok(touched && touched.buffers < MAX_BUFFERS, `${touched?.buffers} pages`)
  },
)
