import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { BUCKETS } from '../../src/books/reconciliation/day-record.ts'
import type { Database } from '../../src/database/database.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

type Statement = {
  amount?: string
  currency?: string
  status?: string
  lender?: string
  at?: string
}
type Payment = Record<string, unknown>

const AT = '2026-02-05T04:30:00Z'
const POSTED = { state: 'posted', posted_at: AT, read_back_at: AT }

/** What each payment is by its gateway and by us, and where its money is then. */
const CASES: Record<string, [Statement | null, Payment | null, Record<string, string>]> = {
  'posted and read back': [{}, POSTED, { captured: '1000', posted: '1000' }],
  'posted, not read back since': [
    {},
    { ...POSTED, posted_at: '2026-02-05T05:00:00Z' },
    { captured: '1000', unchecked: '1000' },
  ],
  'being posted': [{}, { state: 'posting' }, { captured: '1000', waiting: '1000' }],
  'refunded later': [{ status: 'refunded' }, POSTED, { captured: '1000', posted: '1000' }],
  'of another lender here': [{ lender: 'LENDER_09' }, POSTED, { captured: '1000', posted: '1000' }],
  'of another day here': [
    {},
    { ...POSTED, paid_at: '2026-02-05T20:00:00Z' },
    { captured: '1000', posted: '1000' },
  ],
  'never heard of': [{}, null, { captured: '1000', missing: '1000' }],
  'failed here': [{}, { state: 'failed' }, { captured: '1000', missing: '1000' }],
  'failed at the gateway': [
    { status: 'failed' },
    POSTED,
    { captured: '0', not_at_gateway: '1000' },
  ],
  'failed on both sides': [{ status: 'failed' }, { state: 'failed' }, {}],
  'unknown to the gateway': [null, { state: 'waiting' }, { captured: '0', not_at_gateway: '1000' }],
  'unknown to the gateway, handled after all of it went back': [
    null,
    { state: 'handled', returned_amount: '1000' },
    { captured: '0', not_at_gateway: '1000' },
  ],
  'unknown to the gateway, dismissed': [null, { state: 'dismissed' }, { captured: '0' }],
  'without a time, an amount or a currency': [
    null,
    { state: 'suspense', reason: 'unreadable', amount: null, currency: null, paid_at: null },
    { captured: '0', not_at_gateway: '0' },
  ],
  'smaller here': [
    {},
    { ...POSTED, amount: '900' },
    { captured: '1000', posted: '900', missing: '100' },
  ],
  'smaller here, and not posted': [
    {},
    { state: 'suspense', reason: 'no_loan_named', amount: '900' },
    { captured: '1000', suspense: '1000' },
  ],
  'dismissed as smaller than it turned out to be': [
    {},
    { state: 'dismissed', amount: '7', objection: 'events_disagree' },
    { captured: '1000', dismissed: '7', missing: '993' },
  ],
  'larger here': [
    {},
    { ...POSTED, amount: '1100' },
    { captured: '1000', posted: '1000', not_at_gateway: '100' },
  ],
  'larger here, dismissed': [
    {},
    { state: 'dismissed', amount: '1100' },
    { captured: '1000', dismissed: '1000' },
  ],
  'posted in part by an operator': [
    {},
    { ...POSTED, decision: 'post', decided_amount: '900' },
    { captured: '1000', posted: '900', handled: '100' },
  ],
  'posted in part by an operator, smaller here': [
    { amount: '1100' },
    { ...POSTED, decision: 'post', decided_amount: '900' },
    { captured: '1100', posted: '900', handled: '100', missing: '100' },
  ],
  'posted by an operator in the currency of its loan': [
    {},
    { ...POSTED, decision: 'post', decided_amount: '83000' },
    { captured: '1000', posted: '1000' },
  ],
  'posted by an operator in a stronger currency of its loan, and adjusted at the ledger': [
    {},
    {
      ...POSTED,
      decision: 'post',
      decided_over: { reason: 'currency_mismatch' },
      decided_amount: '550',
      difference: 'less',
      ledger_amount: '500',
    },
    { captured: '1000', posted: '1000' },
  ],
  'posted by an operator in the currency of its loan, and adjusted at the ledger': [
    {},
    {
      ...POSTED,
      decision: 'post',
      decided_amount: '83000',
      difference: 'less',
      ledger_amount: '80000',
    },
    { captured: '1000', posted: '1000' },
  ],
  'adjusted at the ledger': [
    {},
    { ...POSTED, difference: 'less', ledger_amount: '800' },
    { captured: '1000', posted: '800', missing: '200' },
  ],
  'adjusted at the ledger, as an operator knows': [
    {},
    {
      ...POSTED,
      difference: 'less',
      ledger_amount: '800',
      cleared_facts: sql`array['differs_at_ledger less']`,
    },
    { captured: '1000', posted: '800', handled: '200' },
  ],
  'in another currency here': [
    { currency: 'USD' },
    POSTED,
    { 'captured USD': '1000', 'missing USD': '1000', captured: '0', not_at_gateway: '1000' },
  ],
  negative: [
    {},
    { state: 'suspense', reason: 'amount_invalid', amount: '-5' },
    { captured: '1000', suspense: '1000' },
  ],
}

async function store(db: Database, id: string, said: Statement | null, ours: Payment | null) {
  if (said !== null) {
    const {
      amount = '1000',
      currency = 'INR',
      status = 'captured',
      lender = 'LENDER_02',
      at = AT,
    } = said
    await sql`
      insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
      values ('gateway_a', ${id}, ${lender}, ${amount}, ${currency}, ${status}, ${at}, 'api')`.execute(
      db,
    )
  }
  if (ours === null) return
  const row: Payment = {
    gateway: 'gateway_a',
    kind: 'payment',
    gateway_payment_id: id,
    lender: 'LENDER_02',
    amount: '1000',
    currency: 'INR',
    paid_at: AT,
    received_at: AT,
    is_captured: true,
    is_verified: true,
    source: 's',
    raw_id: sql`raw.new_id()`,
    ...ours,
  }
  const columns = sql.join(Object.keys(row).map(name => sql.ref(name)))
  const values = sql.join(Object.values(row).map(value => value as RawBuilder<unknown>))
  await sql`insert into core.transaction (${columns}) values (${values})`.execute(db)
}

async function partsOf(db: Database, id: string) {
  const { rows } = await sql<{ bucket: string; amount: string }>`
    select concat_ws(' ', bucket, nullif(nullif(currency, 'INR'), '')) as bucket, trim_scale(amount)::text as amount
      from core.parts_of('2026-02-05') where gateway_payment_id = ${id}`.execute(db)
  return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]))
}

t.test('each payment’s money is where its two sides say', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    select core.note_window('gateway_a', null, 'api', '[2026-02-04T18:30Z,2026-02-05T18:30Z]')`.execute(
    db,
  )
  for (const [name, [said, ours, expected]] of Object.entries(CASES)) {
    await store(db, name, said, ours)
    t.same(await partsOf(db, name), expected, name)
  }
  await sql`delete from core.gateway_window`.execute(db)
  t.same(await partsOf(db, 'unknown to the gateway'), { waiting: '1000' })
  t.same(await partsOf(db, 'posted in part by an operator'), { posted: '900', handled: '100' })
})

t.test('a day of the books has each bucket, and money in five of them unbalances it', async t => {
  const { db } = await freshDatabase(t)
  await store(db, 'pay_1', {}, null)
  const day = await sql<{ bucket: string }>`select bucket from ops.reconciliation`.execute(db)
  t.same(day.rows.map(({ bucket }) => bucket).sort(), [...BUCKETS].sort())
  const { rows } = await sql<{ bucket: string }>`
    select bucket from unnest(${BUCKETS}::text[]) bucket
     where not core.is_balanced(array['captured', bucket])`.execute(db)
  t.same(
    rows.map(({ bucket }) => bucket),
    ['unchecked', 'waiting', 'suspense', 'missing', 'not_at_gateway'],
  )
})

t.test('a day is complete only for whom a statement covers all of it', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.gateway_account
     values ('gateway_a', ''), ('gateway_a', 'LENDER_06')`.execute(db)
  const note = (lender: string | null, from: string, to: string) =>
    sql`
      select core.note_window('gateway_a', ${lender}, 'api', tstzrange(${from}, ${to}))`.execute(db)
  const complete = async () => {
    const { rows } = await sql<{ lender: string }>`
      select lender from unnest(array['LENDER_02', 'LENDER_06', 'UNKNOWN']) lender
       where core.is_complete('gateway_a', lender, '2026-02-05')`.execute(db)
    return rows.map(({ lender }) => lender)
  }
  await note(null, '2026-02-04T18:30Z', '2026-02-05T18:29Z')
  t.same(await complete(), [])
  await note(null, '2026-02-05T18:29Z', '2026-02-05T18:30Z')
  t.same(await complete(), ['LENDER_02', 'UNKNOWN'])
  await note('LENDER_06', '2026-02-01T00:00Z', '2026-02-09T00:00Z')
  t.same(await complete(), ['LENDER_02', 'LENDER_06', 'UNKNOWN'])
})

t.test('a day of many payments is shown as a worker last worked it out', async t => {
  const { db } = await freshDatabase(t)
  const shown = async () => {
    const { rows } = await sql<{ payments: number }>`
      select sum(payments)::integer as payments from ops.reconciliation
       where day = '2026-02-05'`.execute(db)
    return rows[0]?.payments
  }
  const add = (from: number, to: number) =>
    sql`
      insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
      select 'gateway_a', n, 'LENDER_02', 1, 'INR', 'captured', ${AT}, 'api'
        from generate_series(${from}::integer, ${to}::integer) n`.execute(db)
  const reconcile = () => sql`select core.reconcile_day('2026-02-05')`.execute(db)
  await add(1, 3_000)
  t.equal(await shown(), 3_000)
  await reconcile()
  await add(3_001, 3_001)
  t.equal(await shown(), 3_001)
  await reconcile()
  await add(3_002, 3_002)
  t.equal(await shown(), 3_001)
  await reconcile()
  t.equal(await shown(), 3_002)
})

t.test('figures match the payments, whatever changed, before and after they are kept', async t => {
  const { db } = await freshDatabase(t)
  const figures = async (from: RawBuilder<unknown>) => {
    const { rows } = await sql<object>`
      select day::text, lender, gateway, currency, bucket, sum(payments)::integer as payments, sum(amount)::text as amount
        from ${from} f group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`.execute(db)
    return rows
  }
  const shown = () => figures(sql`core.figure`)
  const ofPayments = () =>
    figures(sql`
      (select '2026-02-01'::date + n as day, p.* from generate_series(0, 9) n cross join lateral core.parts_of('2026-02-01'::date + n) p)`)
  const reconcile = () =>
    sql`
        select core.reconcile_day(day)
         from (select distinct day from core.changed_day) c`.execute(db)
  const moves: [string, RawBuilder<unknown>][] = [
    ['new payments', sql`select 1`],
    [
      'a window',
      sql`select core.note_window('gateway_a', null, 'api', '[2026-02-01T00:00Z,2026-02-09T00:00Z]')`,
    ],
    ['another state', sql`update core.transaction set state = 'handled' where state = 'waiting'`],
    [
      'another day',
      sql`update core.transaction set paid_at = '2026-02-07T04:30Z' where state = 'handled'`,
    ],
    [
      'another day at the gateway',
      sql`update core.statement set captured_at = '2026-02-06T04:30Z'`,
    ],
    ['a payment less', sql`delete from core.transaction where state = 'suspense'`],
    ['another account', sql`insert into core.gateway_account values ('gateway_a', 'LENDER_02')`],
    ['another time zone', sql`select core.copy_time_zone('Pacific/Auckland')`],
  ]
  for (const [name, [said, ours]] of Object.entries(CASES)) await store(db, name, said, ours)
  for (const [name, move] of moves) {
    await move.execute(db)
    t.same(await shown(), await ofPayments(), name)
    await reconcile()
    t.same(await shown(), await ofPayments(), `${name}, kept`)
  }
})
