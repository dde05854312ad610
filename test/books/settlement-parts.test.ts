import { sql } from 'kysely'
import t from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

const settlement_details = {
  cf_settlement_id: 's_1',
  settlement_date: '2026-02-07T12:00:00+05:30',
  settlement_utr: 'UTR1',
}
const part = (event_id: string, event_type: string, more: object) => ({
  ...rowOfB('1', {
    event: {
      event_id,
      event_type,
      event_time: '2026-02-06T10:00:09+05:30',
      sale_type: 'DEBIT',
      ...more,
    },
  }),
  settlement_details,
})

const FEES = { event_service_charge: 20, event_service_tax: 3.6 }
/** A payment of 1,000, a refund of 50 and two adjustments of one moment, as the gateway's API lists them. */
const listed = [
  part('1', 'PAYMENT', { ...FEES, event_settlement_amount: 976.4, sale_type: 'CREDIT' }),
  {
    ...part('77', 'REFUND', { event_amount: 50, event_settlement_amount: -50 }),
    refund_details: { refund_id: 'refund_of_ours' },
  },
  part('88', 'OTHER_ADJUSTMENT', { event_amount: 12.5, event_settlement_amount: 12.5 }),
  part('88', 'OTHER_ADJUSTMENT', { event_amount: 7, event_settlement_amount: 7 }),
]

const end = 's_1,2026-02-07 12:00:00,UTR1'
/** The same in a report that was saved in a spreadsheet. */
const REPORT = [
  'Event ID,Event Type,Sale Type,Event Currency,Event Time,Status,Event Amount,Event Settlement Amount,cf_settlement_id,Settlement Date,UTR,Cashfree Reference ID,Transaction Amount,Transaction Service Charge,Txn ST/GST,Transaction Time',
  `1,PAYMENT,CREDIT,INR,06-02-2026 10:00,SUCCESS,1000.00,976.40,${end},1,1000.00,20.00,3.60,05-02-2026 10:00`,
  `77,REFUND,DEBIT,INR,06-02-2026 10:00,SUCCESS,50.00,-50.00,${end},1,1000.00,0,0,05-02-2026 10:00`,
  `88,OTHER_ADJUSTMENT,DEBIT,INR,06-02-2026 10:00,SUCCESS,12.50,12.50,${end},,,,,`,
  `88,OTHER_ADJUSTMENT,DEBIT,INR,06-02-2026 10:00,SUCCESS,7.00,7.00,${end},,,,,`,
].join('\n')

async function upload({ url }: TestService, report = REPORT) {
  const { status, body } = await uploadStatement(
    url,
    'gateway_b/statement?lender=LENDER_02',
    report,
  )
  if (status !== 201 || body.invalid_rows > 0) throw new Error(JSON.stringify(body))
}

async function withSettlement(t: Parameters<typeof oddGateway>[0], rows: object[] = listed) {
  const { settings } = await oddGateway(t, ({ path }) =>
    path === '/pg/settlement/recon' ? { data: rows, cursor: null } : undefined,
  )
  const service = await startTestService(t, settings)
  return {
    ...service,
    fetch: () => fetchAll(service.call, 'gateway_b', ALL_DAY),
    settlement: async () =>
      (await service.call('GET', '/api/settlements?utr=UTR1')).body.settlements,
  }
}

/** What was paid out is 1,000 less the fee of 23.60, the refund and the adjustments. */
const PAID_OUT = {
  payments: 1,
  refunds: /^50(\.00)?$/,
  adjustments: /^-19\.50?$/,
  paid_out: /^906\.90?$/,
  adds_up: true,
}

t.test('a settlement of gateway B that is fetched and uploaded has each part once', async t => {
  const service = await withSettlement(t)
  await service.fetch()
  await upload(service)
  t.match(await service.settlement(), [PAID_OUT])
})

t.test('a settlement of gateway B that is uploaded and fetched has each part once', async t => {
  const details = { refund_details: [{ refund_id: 'refund_of_ours' }] }
  const rows = listed.map(row => ('refund_details' in row ? { ...row, ...details } : row))
  const service = await withSettlement(t, rows)
  await upload(service)
  await service.fetch()
  t.match(await service.settlement(), [PAID_OUT])
})

/** The report's second section, saved without the first, which has the settlements' ids. */
const WITHOUT_IDS = REPORT.replace('cf_settlement_id,', '').replaceAll('s_1,', '')

t.test('a report that names a settlement by its UTR states the one that was fetched', async t => {
  const service = await withSettlement(t)
  await service.fetch()
  await upload(service, WITHOUT_IDS)
  t.match(await service.settlement(), [{ settlement_id: 's_1', ...PAID_OUT }])
})

t.test('a settlement that a report names by its UTR gets the id that a fetch brings', async t => {
  const service = await withSettlement(t)
  await upload(service, WITHOUT_IDS)
  t.match(await service.settlement(), [{ settlement_id: 'UTR1', ...PAID_OUT }])
  await service.fetch()
  t.match(await service.settlement(), [{ settlement_id: 's_1', ...PAID_OUT }])
})

t.test('a settlement that a report names by its UTR gets the id of a later report', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, WITHOUT_IDS)
  await upload(service)
  await upload(service, WITHOUT_IDS)
  const { settlements } = (await service.call('GET', '/api/settlements?utr=UTR1')).body
  t.match(settlements, [{ settlement_id: 's_1', ...PAID_OUT }])
})

t.test('a part that an earlier version stored under another id counts once', async t => {
  const service = await withSettlement(t)
  await service.fetch()
  await upload(service)
  const old = async (rename: string) => {
    await sql`
      insert into core.settlement_row
      select r.gateway, r.settlement_id, r.kind, ${rename} || case r.kind when 'other' then r.paid_out::text else '' end,
             r.payment_id, r.lender, r.settled_at, r.utr, r.amount, r.fee, r.tax, r.paid_out
        from core.settlement_row r
       where r.kind = ${rename.includes(' ') ? 'other' : 'refund'}`.execute(service.db)
  }
  await old('refund_of_ours')
  await old('88 OTHER_ADJUSTMENT 2026-02-06T10:00:09+05:30 ')
  await service.fetch()
  t.match(await service.settlement(), [PAID_OUT])
  await old('88 OTHER_ADJUSTMENT 2026-02-06 10:00 ')
  await upload(service)
  t.match(await service.settlement(), [PAID_OUT])
})

const adjustment = (second: string) =>
  part('88', 'OTHER_ADJUSTMENT', {
    event_amount: 12.5,
    event_settlement_amount: 12.5,
    event_time: `2026-02-06T10:00:${second}+05:30`,
  })

t.test('adjustments of one event, minute and amount all count, fetched or uploaded', async t => {
  const rows = [listed[0] as object, adjustment('09'), adjustment('40'), adjustment('40')]
  const [header, payment, , row] = REPORT.split('\n')
  const report = [header, payment, row, row, row].join('\n')
  const whole = [{ adjustments: /^-37\.50?$/, paid_out: /^938\.90?$/, adds_up: true }]
  const service = await withSettlement(t, rows)
  await service.fetch()
  t.match(await service.settlement(), whole)
  await upload(service, report)
  t.match(await service.settlement(), whole)
  await service.fetch()
  t.match(await service.settlement(), whole)
  const uploaded = await startTestService(t, { ROLE: 'api' })
  await upload(uploaded, report)
  t.match((await uploaded.call('GET', '/api/settlements?utr=UTR1')).body.settlements, whole)
})

t.test('an adjustment in two reports that were joined counts once, and is named', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const [header, ...rows] = REPORT.split('\n')
  const joined = [header, ...rows, header, ...rows.slice(2)].join('\n')
  const path = 'gateway_b/statement?lender=LENDER_02'
  t.match((await uploadStatement(service.url, path, joined)).body, {
    rows: 6,
    valid_rows: 4,
    errors: [
      { line: 7, reason: 'Event ID repeats that of line 4' },
      { line: 8, reason: 'Event ID repeats that of line 5' },
    ],
  })
  t.match((await service.call('GET', '/api/settlements?utr=UTR1')).body.settlements, [PAID_OUT])
})

t.test('equal adjustments that an earlier version stored with their seconds all count', async t => {
  const service = await withSettlement(t, [adjustment('09'), adjustment('40')])
  for (const second of ['09', '40'])
    await sql`
      insert into core.settlement_row (gateway, settlement_id, kind, id, settled_at, utr, amount, fee, tax, paid_out)
      values ('gateway_b', 's_1', 'other', ${`88 OTHER_ADJUSTMENT 2026-02-06T10:00:${second}+05:30 -12.5`},
              '2026-02-07T12:00:00+05:30', 'UTR1', 12.5, 0, 0, -12.5)`.execute(service.db)
  await service.fetch()
  t.match(await service.settlement(), [{ adjustments: /^-25(\.00?)?$/, adds_up: true }])
})

t.test('a reversed chargeback counts once, as the report and as the API spell it', async t => {
  const reversed = part('90', 'CHARGEBACK_REVERSAL', {
    event_amount: 12.5,
    event_settlement_amount: 12.5,
    sale_type: 'CREDIT',
  })
  const [header, payment, , row = ''] = REPORT.split('\n')
  const inReport = row.replace('88,OTHER_ADJUSTMENT,DEBIT', '90,CHARGEBACK_REVERSE,CREDIT')
  const report = [header, payment, inReport].join('\n')
  const once = [{ adjustments: /^12\.50?$/, paid_out: /^988\.90?$/, adds_up: true }]
  const service = await withSettlement(t, [listed[0] as object, reversed])
  await upload(service, report)
  await service.fetch()
  t.match(await service.settlement(), once)
  await upload(service, report)
  t.match(await service.settlement(), once)
  // Earlier versions stored the report's spelling.
  await sql`
    insert into core.settlement_row (gateway, settlement_id, kind, id, settled_at, utr, amount, fee, tax, paid_out)
    values ('gateway_b', 's_1', 'other', '90 CHARGEBACK_REVERSE 2026-02-06T04:30Z 12.5',
            '2026-02-07T12:00:00+05:30', 'UTR1', 12.5, 0, 0, 12.5)`.execute(service.db)
  await service.fetch()
  t.match(await service.settlement(), once)
})
