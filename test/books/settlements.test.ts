import { sql } from 'kysely'
import t from 'tap'
import { saveSettlements } from '../../src/books/backfill/save-settlements.ts'
import { findSettlements, settlementsNamed } from '../../src/books/settlements/find-settlements.ts'
import type { Database } from '../../src/database/database.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway, settledOfA } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { textOf } from '../support/portfolio/migrate.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A settlement of one payment, one refund, and what gateways put beside them. */
async function withSettlement(t: Parameters<typeof oddGateway>[0], ...more: object[]) {
  const rows = [
    settledOfA('pay_1', 'payment', { amount: 100_000, fee: 2_360, tax: 360, credit: 97_640 }),
    settledOfA('rfnd_1', 'refund', { amount: 5_000, debit: 5_000, payment_id: 'pay_1' }),
    settledOfA('adj_1', 'adjustment', { amount: 1_250, debit: 1_250 }),
    settledOfA('trf_1', 'transfer', { amount: 10_000, fee: 118, tax: 18, debit: 10_118 }),
    settledOfA('rsv_1', 'reserve', { amount: 500, credit: 500 }),
    ...more,
  ]
  const { settings } = await oddGateway(t, ({ path, query }) => {
    if (path === '/v1/payments')
      return { items: [itemOfA('pay_1', { notes: { lender: 'LENDER_02' } })] }
    return path.startsWith('/v1/settlements') && query.get('day') === '5'
      ? { items: rows }
      : undefined
  })
  const service = await startTestService(t, settings)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  return service
}

const find = async ({ call }: Pick<TestService, 'call'>, query: string) =>
  (await call('GET', `/api/settlements?${query}`)).body

t.test('an item that says that it is not settled is no part of its settlement', async t => {
  const row = { amount: 1_000, credit: 1_000 }
  const unsettled = settledOfA('adj_9', 'adjustment', { ...row, settled: false })
  const settled = settledOfA('adj_8', 'adjustment', { ...row, settled: true })
  const { settlements } = await find(await withSettlement(t, unsettled, settled), 'utr=UTR1')
  t.match(settlements, [{ adjustments: '-98.68', adds_up: true }])
})

t.test('the amount paid out is the net and every adjustment, found by its UTR', async t => {
  const service = await withSettlement(t)
  const expected = {
    gateway: 'gateway_a',
    settlement_id: 'setl_1',
    lender: 'LENDER_02',
    utr: 'UTR1',
    payments: 1,
    gross: '1000.00',
    fees: '20.00',
    tax: '3.60',
    refunds: '50.00',
    net: '926.40',
    adjustments: '-108.68',
    paid_out: '817.72',
    off_by: '0.00',
    adds_up: true,
  }
  const { settlements, next_cursor } = await find(service, 'utr=UTR1')
  t.match(settlements, [expected])
  t.equal(settlements.length, 1)
  t.equal(next_cursor, null)
  t.match((await find(service, 'from=2026-02-07&to=2026-02-07')).settlements, [expected])
  t.same((await find(service, 'from=2026-02-08&to=2026-02-09')).settlements, [])
  t.same((await find(service, 'utr=UTR')).settlements, [])
  const [header, line, rest] = (await textOf(service, '/api/settlements.csv?utr=UTR1')).split(
    '\r\n',
  )
  t.equal(
    header,
    'gateway,settlement_id,lender,settled_at,utr,payments,gross,fees,tax,refunds,net,adjustments,paid_out,off_by,adds_up',
  )
  t.equal(
    line,
    'gateway_a,setl_1,LENDER_02,2026-02-07T06:30:00.000Z,UTR1,1,1000.00,20.00,3.60,50.00,926.40,-108.68,817.72,0.00,true',
  )
  t.equal(rest, '')
})

t.test('a settlement that does not add up says by how much', async t => {
  const row = settledOfA('pay_9', 'payment', { amount: 1_000, fee: 100, tax: 0, credit: 899 })
  const service = await withSettlement(t, row)
  t.match((await find(service, 'utr=UTR1')).settlements, [{ off_by: '-0.01', adds_up: false }])
})

t.test('a settlement with a part that is not known is off by an unknown amount', async t => {
  const row = settledOfA('adj_9', 'adjustment', { amount: 1_000, debit: null })
  const service = await withSettlement(t, row)
  t.match((await find(service, 'utr=UTR1')).settlements, [{ off_by: null, adds_up: false }])
})

t.test('a settlement of several currencies never adds up', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = ['INR', 'USD'].map(
    currency =>
      `pay_${currency},10.00,${currency},captured,${PAID_AT_ISO},1.00,0.18,setl_1,2026-02-07T10:00:00Z,UTR1`,
  )
  const csv = [STATEMENT_HEADER, ...rows].join('\n')
  await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  const { settlements } = await find(service, 'utr=UTR1')
  t.match(settlements, [{ payments: 2, off_by: null, adds_up: false }])
})

t.test('a settlement with two rows of other times is in one month, for each lender', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const upload = (lender: string, ...rows: string[]) =>
    uploadStatement(
      service.url,
      `gateway_a/statement?lender=${lender}`,
      [STATEMENT_HEADER, ...rows].join('\n'),
    )
  const row = (id: string, settled_at: string) =>
    `${id},1000,INR,captured,2026-01-30T10:00:00+05:30,20,3.6,setl_1,${settled_at},UTR1`
  await upload('LENDER_02', row('pay_1', '2026-01-31T23:59:59+05:30'))
  await upload('LENDER_02', row('pay_2', '2026-02-01T00:00:01+05:30'))
  await upload('LENDER_06', row('pay_3', '2026-01-31T23:59:59+05:30'))
  const january = 'from=2026-01-01&to=2026-01-31'
  const february = 'from=2026-02-01&to=2026-02-28'
  t.same((await find(service, january)).settlements, [])
  const settled_at = '2026-01-31T18:30:01.000Z'
  for (const query of [february, 'utr=UTR1'])
    t.match((await find(service, query)).settlements, [
      { lender: 'LENDER_06', settled_at, paid_out: '976.4' },
      { lender: 'LENDER_02', settled_at, paid_out: '1952.8' },
    ])
  const first = await find(service, `${february}&limit=1`)
  const { settlements } = await find(service, `${february}&limit=1&cursor=${first.next_cursor}`)
  t.match(settlements, [{ lender: 'LENDER_02' }])
})

t.test('pages list every settlement once, newest first', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = [1, 2, 3, 4, 5].map(
    n =>
      `pay_${n},10.00,INR,captured,${PAID_AT_ISO},1.00,0.18,setl_${n % 3},2026-02-0${1 + (n % 3)}T10:00:00Z,U${n % 3}`,
  )
  for (const [n, row] of rows.entries()) {
    const path = `gateway_b/statement?lender=LENDER_0${1 + (n % 2)}`
    await uploadStatement(service.url, path, [STATEMENT_HEADER, row].join('\n'))
  }
  const listed: string[] = []
  for (let cursor = ''; ; ) {
    const page = await find(service, `from=2026-02-01&to=2026-02-28&limit=1${cursor}`)
    listed.push(
      ...page.settlements.map((one: any) => `${one.settlement_id} ${one.lender} ${one.paid_out}`),
    )
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.same(listed, [
    'setl_2 LENDER_02 8.82',
    'setl_2 LENDER_01 8.82',
    'setl_1 LENDER_02 8.82',
    'setl_1 LENDER_01 8.82',
    'setl_0 LENDER_01 8.82',
  ])
})

t.test('a page of settlements sums up its own settlements only', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addSettlements(db, 20)
  const { rows } = await sql<{ pages: number }>`
    select relpages as pages from pg_class where oid = 'core.statement'::regclass`.execute(db)
  const [{ pages } = { pages: 0 }] = rows
  const touched = await buffersOf(ownerUrl, db => findSettlements(db, { days: null, limit: 1 }))
  const buffers = touched.reduce((sum, one) => sum + one.buffers, 0)
  // Its order takes one look at all statements; a sum of all settlements would take a second one.
  t.ok(buffers < 1.5 * pages, `${buffers} of ${pages} pages`)
})

t.test('a settlement that the gateway’s API lists is summed up without its payments', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addSettlements(db, 8_001, 8_000)
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, amount, currency, paid_at, is_captured, is_verified,
      state, source, raw_id, received_at)
    select gateway, 'payment', gateway_payment_id, lender, amount, currency, captured_at, true, true, 'waiting', 's', raw.new_id(), now()
      from core.statement`.execute(db)
  await sql`vacuum analyze`.execute(db)
  const { rows } = await sql<{ pages: number }>`
    select relpages as pages from pg_class where oid = 'core.transaction'::regclass`.execute(db)
  const [{ pages } = { pages: 0 }] = rows
  const [touched] = await buffersOf(ownerUrl, db => settlementsNamed(db, 'setl_0'))
  t.ok(touched && touched.buffers < pages, `${touched?.buffers} of ${pages} pages`)
})

t.test('a page of large settlements ends early, and all pages have each of them once', async t => {
  const { db } = await freshDatabase(t)
  await addSettlements(db, 21_000, 42_000)
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null && pages.length < 5; ) {
    const query = { days: null, limit: 50, ...(cursor && { cursor }) }
    const { page, next_cursor } = await findSettlements(db, query)
    pages.push(page.map(one => `${one.settlement_id} ${one.payments}`))
    cursor = next_cursor
  }
  t.same(pages, [['setl_2 1', 'setl_1 21000'], ['setl_0 20999']])
})

t.test('settlements that have only a part in the days make no page empty', async t => {
  const { db } = await freshDatabase(t)
  await addSettlements(db, 10, 39)
  await sql`
    update core.statement set settled_at = settled_at + interval '9 days'
     where gateway_payment_id in ('pay_10', 'pay_20', 'pay_30')`.execute(db)
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const days = { from: '2026-01-01', to: tomorrow }
  const { page, next_cursor } = await findSettlements(db, { days, limit: 1 })
  t.match(page, [{ settlement_id: 'setl_0' }])
  t.equal(next_cursor, null)
})

/** Payments, in settlements of so many. */
async function addSettlements(db: Database, of: number, payments = 20_000) {
  await sql`
    insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source,
      settlement_id, settled_at)
    select 'gateway_a', 'pay_' || n, 'LENDER_02', 1000, 'INR', 'captured', now(), 'api', 'setl_' || n / ${of}::integer, now()
      from generate_series(1, ${payments}::integer) n`.execute(db)
  await sql`vacuum analyze`.execute(db)
}

t.test('a fetch changes no statement while somebody settles or uploads', async t => {
  const { db } = await withSettlement(t)
  const { rows } = await sql<{ id: string; number: number }>`
    update core.backfill set status = 'running' returning id, attempt as number`.execute(db)
  const fetch: any = { db, account: { gateway: 'gateway_a' }, claim: rows[0] }
  const row: any = {
    kind: 'payment',
    id: 'pay_1',
    settlement_id: 'setl_2',
    paid_out: '1',
    amount: '1',
  }
  const page = { settlements: [{ ...row, fee: '0', tax: '0' }], unreadable: [] }
  let saving: Promise<void> | undefined
  await db.transaction().execute(async trx => {
    await sql`select core.lock_settling()`.execute(trx)
    saving = saveSettlements(fetch, page)
    await untilSessionsWait(db)
    const { rows: free } = await sql`
      select from core.statement where gateway_payment_id = 'pay_1'
       for update skip locked`.execute(trx)
    t.equal(free.length, 1)
  })
  await saving
  const { rows: saved } = await sql`
    select settlement_id from core.statement where gateway_payment_id = 'pay_1'`.execute(db)
  t.same(saved, [{ settlement_id: 'setl_2' }])
})

t.test('a payment that a report calls failed is no part of a settlement', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, status: string) =>
    `${id},10.00,INR,${status},2026-02-05 10:00:00,1.00,0.18,setl_1,2026-02-07,UTR1`
  const rows = [row('pay_1', 'captured'), row('pay_2', 'failed')]
  const path = 'gateway_a/statement?lender=LENDER_02'
  await uploadStatement(service.url, path, [STATEMENT_HEADER, ...rows].join('\n'))
  t.match((await find(service, 'utr=UTR1')).settlements, [{ payments: 1, paid_out: '8.82' }])
})
