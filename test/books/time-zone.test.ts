import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../support/database/fresh-database.ts'

const MANY = 3_000

t.test('another time zone marks each day of it, without reading every payment', async t => {
  const { db } = await freshDatabase(t)
  await sql`update core.day_zone set time_zone = 'Asia/Kolkata'`.execute(db)
  await sql`
    insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
    select 'gateway_a', n::text, 'LENDER_02', 1, 'INR', 'captured', at::timestamptz + n * interval '1 second', 'file'
      from generate_series(1, ${MANY}::integer) n,
           lateral (values ('2026-02-01T23:00Z', 0), ('2026-02-05T10:00Z', 1)) day (at, part)
            where n % 2 = part`.execute(db)
  await sql`
    insert into core.transaction (gateway, gateway_payment_id, kind, lender, is_captured, is_verified, state, source, raw_id, received_at, paid_at)
    select 'gateway_a', id, 'payment', 'LENDER_02', true, true, 'waiting', 's', gen_random_uuid(), at, case when is_dated then at end
      from (values ('old', '1999-12-31T23:59:59Z'::timestamptz, true), ('undated', '2026-03-01T00:00Z', false)) p (id, at, is_dated)`.execute(
    db,
  )
  await sql`analyze core.statement`.execute(db)
  await sql`delete from core.changed_day`.execute(db)
  const days = await db.transaction().execute(async trx => {
    await sql`select core.copy_time_zone('UTC')`.execute(trx)
    const { rows: reads } = await sql<{ rows: number }>`
      select sum(seq_tup_read + idx_tup_fetch)::integer as rows
        from pg_stat_xact_user_tables
         where relid in ('core.statement'::regclass, 'core.transaction'::regclass)`.execute(trx)
    t.ok((reads[0]?.rows ?? MANY) < 100)
    const { rows } = await sql<{ day: string }>`
      select distinct day::text as day from core.changed_day order by 1`.execute(trx)
    return rows.map(({ day }) => day)
  })
  t.same(days, ['1999-12-31', '2026-02-01', '2026-02-05', '2026-03-01'])
})

t.test('in another time zone, a report covers no whole day until it is uploaded again', async t => {
  const { db } = await freshDatabase(t)
  const upload = async () => {
    const id = randomUUID()
    await sql`
      insert into core.statement_file (id, gateway, lender, rows, valid_rows, uploaded_by)
      values (${id}, 'gateway_a', 'LENDER_02', 0, 0, 'pooja')`.execute(db)
    await sql`select core.note_file(${id}, '{2026-02-05}', '{}')`.execute(db)
  }
  const completeDays = async () => {
    const { rows } = await sql<{ day: string }>`
      select day::text from unnest('{2026-02-04,2026-02-05,2026-02-06}'::date[]) day
       where core.is_complete('gateway_a', 'LENDER_02', day) order by day`.execute(db)
    return rows.map(({ day }) => day)
  }
  await sql`update core.day_zone set time_zone = 'UTC'`.execute(db)
  await upload()
  t.same(await completeDays(), ['2026-02-05'])
  await sql`select core.copy_time_zone('Asia/Kolkata')`.execute(db)
  t.same(await completeDays(), [])
  await upload()
  t.same(await completeDays(), ['2026-02-05'])
})

t.test('in a new time zone, a day’s figures stay until computed; an empty day’s go', async t => {
  const { db } = await freshDatabase(t)
  await sql`update core.day_zone set time_zone = 'UTC'`.execute(db)
  await sql`
    insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
    values ('gateway_a', 'pay_1', 'LENDER_02', 1, 'INR', 'captured', '2026-02-05T10:00Z', 'file')`.execute(
    db,
  )
  await sql`
    insert into core.day_figure (day, lender, gateway, currency, bucket, payments, amount)
    select day, 'LENDER_02', 'gateway_a', 'INR', 'posted', 4000, 4000
      from unnest('{2026-02-05,2026-02-06}'::date[]) day`.execute(db)
  await sql`select core.copy_time_zone('Asia/Kolkata')`.execute(db)
  const { rows } = await sql<{ day: string }>`
    select day::text, payments::integer from core.figure
     where bucket in ('posted', 'missing')`.execute(db)
  t.same(rows, [{ day: '2026-02-05', payments: 4000 }])
})

t.test('a day begins with the first of two midnights, and the day before ends there', async t => {
  const { db } = await freshDatabase(t)
  const nights = [
    ['Atlantic/Azores', '2026-10-25T00:00Z', '2026-10-25'],
    ['America/Havana', '2026-11-01T04:00Z', '2026-11-01'],
    ['America/Havana', '2026-03-08T05:00Z', '2026-03-08'],
    ['America/Santiago', '2026-04-05T04:00Z', '2026-04-05'],
    ['Asia/Kolkata', '2026-10-24T18:30Z', '2026-10-25'],
  ] as const
  for (const [zone, start, day] of nights) {
    await sql`update core.day_zone set time_zone = ${zone}`.execute(db)
    const { rows } = await sql<object>`
      select core.start_of(${day}::date) = ${start}::timestamptz as begins,
             core.day_of(${start}::timestamptz)::text as first,
             core.day_of(${start}::timestamptz - interval '1 second')::text as before`.execute(db)
    const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
    t.same(rows, [{ begins: true, first: day, before }], `${zone} ${day}`)
  }
})
