import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

const settlementAt = async ({ call }: TestService, utr = 'PGI45345') =>
  (await call('GET', `/api/settlements?utr=${utr}`)).body.settlements

/** Gateway B's API, whose rows are flat as in its versions before 2026-01-01. */
async function settled(t: Test, rows: object[], listedAt = '/pg/settlement/recon') {
  const lists = new Map([[listedAt, rows]])
  const { settings } = await oddGateway(t, ({ path }) => ({
    data: lists.get(path) ?? [],
    cursor: null,
  }))
  const service = await startTestService(t, settings)
  const { last_error } = await fetchAll(service.call, 'gateway_b', ALL_DAY)
  t.equal(last_error, null)
  return { service, lists, settlement: () => settlementAt(service) }
}

const settlement = {
  cf_settlement_id: 45_345,
  event_id: '45345',
  event_currency: 'INR',
  event_time: '2026-02-05T14:45:07+05:30',
}
const stated = { settlement_date: '2026-02-05T14:45:24+05:30', settlement_utr: 'PGI45345' }
const PAYOUT = {
  ...settlement,
  ...stated,
  event_type: 'SETTLEMENT',
  sale_type: 'CREDIT',
  event_amount: 3_000,
  event_settlement_amount: 2_800,
  amount_settled: 2_796.46,
  adjustment: -200,
  settlement_charge: 3,
  settlement_tax: 0.54,
  event_status: 'PAID',
  settlement_type: 'INSTANT_SETTLEMENT',
}
const adjustment = (sale_type: string, amount: number, remarks: string) => ({
  ...settlement,
  event_type: 'OTHER_ADJUSTMENT',
  sale_type,
  event_amount: amount,
  event_settlement_amount: amount,
  adjustment_remarks: remarks,
})
/** The rows in which gateway B's pages show an instant settlement. */
const INSTANT = [
  PAYOUT,
  adjustment('CREDIT', 3_000, 'INSTANT_SETTLEMENT_COMPUTE'),
  adjustment('DEBIT', 3, 'INSTANT_SETTLEMENT_CHARGE'),
  adjustment('DEBIT', 0.54, 'INSTANT_SETTLEMENT_TAX'),
  adjustment('DEBIT', 2_796.46, 'INSTANT_SETTLEMENT_SWEEP'),
]
const PAYMENT = {
  ...settlement,
  ...stated,
  event_type: 'PAYMENT',
  sale_type: 'CREDIT',
  event_id: '9',
  event_status: 'SUCCESS',
  event_amount: 3_000,
  event_settlement_amount: 3_000,
  cf_payment_id: 1,
  payment_amount: 3_000,
  payment_time: '2026-02-05T14:00:00+05:30',
}

t.test('an instant settlement adds up if its parts sum up to what was paid out', async t => {
  const { service, lists, settlement } = await settled(t, [PAYMENT, ...INSTANT])
  t.match(await settlement(), [
    { gross: '3000', adjustments: '-3.54', paid_out: '2996.46', off_by: '-200.00', adds_up: false },
  ])
  lists.set('/pg/settlement/recon', [PAYMENT, ...INSTANT, adjustment('DEBIT', 200, 'RESERVE')])
  await fetchAll(service.call, 'gateway_b', ALL_DAY)
  t.match(await settlement(), [
    { adjustments: '-203.54', paid_out: '2796.46', off_by: '0.00', adds_up: true },
  ])
})

t.test('an instant settlement that an earlier version stored adds up once read again', async t => {
  const rows = [PAYMENT, ...INSTANT, adjustment('DEBIT', 200, 'RESERVE')]
  const { service, settlement } = await settled(t, rows)
  const addsUp = [{ adjustments: '-203.54', paid_out: '2796.46', off_by: '0.00', adds_up: true }]
  t.match(await settlement(), addsUp)
  const storeAsBefore = async (statement: string | null) => {
    const parts = ['3000', '-2796.46'].map(paid_out => ({
      kind: 'other',
      id: `45345 OTHER_ADJUSTMENT 2026-02-05T09:15Z ${paid_out}`,
      settlement_id: '45345',
      amount: paid_out.replace('-', ''),
      paid_out,
    }))
    await sql`delete from core.settlement_row where kind = 'payout'`.execute(service.db)
    await sql`
      select core.save_settlement_rows('gateway_b', null, ${statement}, ${JSON.stringify(parts)}::jsonb)`.execute(
      service.db,
    )
    t.match(await settlement(), [{ paid_out: '3000.00', adds_up: true }])
  }
  await storeAsBefore(null)
  await fetchAll(service.call, 'gateway_b', ALL_DAY)
  t.match(await settlement(), addsUp)

  await storeAsBefore(null)
  const part = (sale: string, amount: string, remarks: string) =>
    `45345,OTHER_ADJUSTMENT,${sale},INR,2026-02-05 14:45:07,SUCCESS,${amount},${amount},2026-02-05 14:45:24,PGI45345,,,,,,${remarks}`
  const report = [
    SUMMARY,
    '45345,3000,-200,2796.46,PGI45345,2026-02-05 14:45:24',
    `${EVENTS},Adjustment Remarks`,
    part('CREDIT', '3000', 'INSTANT_SETTLEMENT_COMPUTE'),
    part('DEBIT', '2796.46', 'INSTANT_SETTLEMENT_SWEEP'),
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await uploadStatement(service.url, path, report.join('\n'))
  t.match(body, { valid_rows: 2, errors: [] })
  t.match(await settlement(), addsUp)
})

t.test('a payout without any part is found by its UTR and does not add up', async t => {
  const { settlement } = await settled(t, [PAYOUT])
  t.match(await settlement(), [
    { settlement_id: '45345', payments: 0, paid_out: '0', off_by: '2796.46', adds_up: false },
  ])
})

t.test('a payout that is listed with the payments counts, too', async t => {
  const { service, lists, settlement } = await settled(t, [PAYOUT], '/pg/recon')
  lists.set('/pg/settlement/recon', [PAYMENT])
  await fetchAll(service.call, 'gateway_b', ALL_DAY)
  t.match(await settlement(), [{ paid_out: '3000', off_by: '-203.54', adds_up: false }])
})

t.test('a payout in nested rows counts, too', async t => {
  const row = (event: object, payment: object) => ({
    ...rowOfB('1', { event, payment }),
    settlement_details: {
      cf_settlement_id: '45345',
      settlement_date: stated.settlement_date,
      utr: 'PGI45345',
      amount_settled: 1_000,
    },
  })
  const paid = { event_settlement_amount: 976.4, sale_type: 'CREDIT' }
  const fees = { event_service_charge: 20, event_service_tax: 3.6 }
  const { settlement } = await settled(t, [
    row({ ...paid, ...fees }, {}),
    row({ event_type: 'SETTLEMENT', event_id: '45345' }, { cf_payment_id: null }),
  ])
  t.match(await settlement(), [{ paid_out: '976.4', off_by: '23.6', adds_up: false }])
})

t.test(
  'a settlement whose time is a day alone was settled at the beginning of that day',
  async t => {
    const { settlement } = await settled(t, [{ ...PAYMENT, settlement_date: '2026-02-05' }])
    t.match(await settlement(), [{ payments: 1, settled_at: '2026-02-04T18:30:00.000Z' }])
  },
)

t.test('a settlement that failed paid nothing out, until its list says otherwise', async t => {
  const payout = { ...PAYOUT, amount_settled: 3_000 }
  const failed = { ...payout, event_status: 'FAILED' }
  const { service, lists, settlement } = await settled(t, [PAYMENT, failed])
  const nothing = [{ paid_out: '3000', off_by: '-3000', adds_up: false }]
  t.match(await settlement(), nothing)
  for (const [rows, found] of [
    [[{ ...failed, amount_settled: null }], nothing],
    [[failed, payout], [{ off_by: '0', adds_up: true }]],
    [[payout, { ...payout, event_status: 'REVERSED' }], nothing],
  ] as const) {
    lists.set('/pg/settlement/recon', [PAYMENT, ...rows])
    await fetchAll(service.call, 'gateway_b', ALL_DAY)
    t.match(await settlement(), found)
  }
})

const SUMMARY = 'Id,Settlement Amount,Adjustment,Net Settlement Amount,UTR No.,Settlement Date'
const EVENTS =
  'Event ID,Event Type,Sale Type,Event Currency,Event Time,Status,Event Amount,Event Settlement Amount,Settlement Date,UTR,Cashfree Reference ID,Transaction Amount,Transaction Service Charge,Txn ST/GST,Transaction Time'
const end = '2026-02-07 12:00:00,PGI45345'
const REPORT = [
  SUMMARY,
  '45345,976.40,-12.50,"1,963.90",PGI45345,2026-02-07 12:00:00',
  EVENTS,
  `1,PAYMENT,CREDIT,INR,2026-02-05 10:00:09,SUCCESS,1000,976.40,${end},1,1000,20,3.60,2026-02-05 10:00:00`,
  `88,OTHER_ADJUSTMENT,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,12.50,12.50,${end},,,,,`,
]
const MORE = `1000,OTHER_ADJUSTMENT,CREDIT,INR,2026-02-06 11:00:00,SUCCESS,1000,1000,${end},,,,,`

t.test('a report whose parts do not sum up to its own total does not add up', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const upload = (rows: string[]) =>
    uploadStatement(service.url, 'gateway_b/statement?lender=LENDER_02', rows.join('\n'))
  const { body } = await upload(REPORT)
  t.match(body, { rows: 2, valid_rows: 2, errors: [] })
  const whole = { settlement_id: '45345', lender: 'LENDER_02', payments: 1 }
  t.match(await settlementAt(service), [
    { ...whole, paid_out: '963.90', off_by: '1000.00', adds_up: false },
  ])
  const { statement_id } = (await upload([...REPORT, MORE])).body
  t.match(await settlementAt(service), [
    { ...whole, paid_out: '1963.90', off_by: '0.00', adds_up: true },
  ])
  for (const id of [body.statement_id, statement_id])
    await service.call('DELETE', `/api/gateways/gateway_b/statements/${id}`)
  t.same(await settlementAt(service), [])
})

t.test('a report that states a payout twice counts the last one', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const [summary = '', first = '', header, ...parts] = REPORT
  const last = first.replace('1,963.90', '963.90')
  const stated = `45345,SETTLEMENT,CREDIT,INR,2026-02-06 11:00:00,SUCCESS,976.40,950.00,${end},,,,,,950.00,45345`
  const bothSections = [
    first,
    `${header},Amount Settled,CF Settlement ID`,
    ...parts.map(row => `${row},,45345`),
    stated,
  ]
  for (const [rows, off_by] of [
    [[first, last, header, ...parts], '0.00'],
    [bothSections, '-13.90'],
  ] as const) {
    const csv = [summary, ...rows].join('\n')
    const { status, body } = await uploadStatement(
      service.url,
      'gateway_b/statement?lender=LENDER_02',
      csv,
    )
    t.match({ status, body }, { status: 201, body: { errors: [] } })
    t.match(await settlementAt(service), [{ off_by }])
    await service.call('DELETE', `/api/gateways/gateway_b/statements/${body.statement_id}`)
  }
})

t.test('a report’s settlement that failed paid nothing out, in either of its sections', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const [summary, payout, header, ...parts] = REPORT
  const stated = `45345,SETTLEMENT,CREDIT,INR,2026-02-06 11:00:00,FAILED,976.40,950.00,${end},,,,,,963.90,45345`
  for (const rows of [
    [`${summary},Status`, `${payout},Failed`, header, ...parts],
    [`${header},Amount Settled,CF Settlement ID`, ...parts.map(row => `${row},,45345`), stated],
  ]) {
    const path = 'gateway_b/statement?lender=LENDER_02'
    const { body } = await uploadStatement(service.url, path, rows.join('\n'))
    t.match(body, { errors: [] })
    t.match(await settlementAt(service), [{ off_by: '-963.90', adds_up: false }])
    await service.call('DELETE', `/api/gateways/gateway_b/statements/${body.statement_id}`)
  }
})

t.test('an unreadable payout of the first section is named, and leaves no day partial', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const unreadable = REPORT.with(1, '45345,976.40,-12.50,a lot,PGI45345,2026-02-07 12:00:00')
  const { body } = await uploadStatement(
    service.url,
    'gateway_b/statement?lender=LENDER_02',
    unreadable.join('\n'),
  )
  t.match(body, {
    rows: 3,
    valid_rows: 2,
    invalid_rows: 1,
    errors: [{ line: 2, reason: /a number/ }],
  })
  t.match(await settlementAt(service), [{ paid_out: '963.90', adds_up: true }])
})

t.test('reports with two sections may be joined, each with its settlements', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const upload = (lines: string[]) =>
    uploadStatement(service.url, 'gateway_b/statement?lender=LENDER_02', lines.join('\n'))
  const next = REPORT.map(line =>
    line.replaceAll('45345', '45346').replace(/^1,|(?<=PGI45346,)1,/g, '2,'),
  )
  const { status, body } = await upload([...REPORT, ...next])
  t.match({ status, body }, { status: 201, body: { rows: 4, valid_rows: 4, errors: [] } })
  t.match(await settlementAt(service), [{ settlement_id: '45345', off_by: '1000.00' }])
  t.match(await settlementAt(service, 'PGI45346'), [{ settlement_id: '45346', off_by: '1000.00' }])

  const others = next.with(2, `Remark,${EVENTS}`)
  t.match((await upload([...REPORT, ...others])).body, {
    detail: /^Line 8: the header of another file, .* one by one/,
  })
})

t.test('a settlement that no valid row follows counts, even in a long file', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const path = 'gateway_b/statement?lender=LENDER_02'
  // Rows are saved some thousand at a time: the last ones are saved without any of the first.
  const many = Array.from({ length: 2_500 }, (_, i) => i)
  const [summary = '', payout = '', header = '', payment = ''] = REPORT
  const ofNext = (line: string) => line.replaceAll('45345', '45346')
  const unreadable = many.map(i => payment.replace(/^1,/, `X${i},`).replaceAll('1000', 'a lot'))
  const payouts = many.map(i => payout.replaceAll('45345', String(60_000 + i)))
  for (const [rest, utr, errors] of [
    [
      [...unreadable, summary, ofNext(payout), header, ofNext(unreadable[0] ?? '')],
      'PGI45346',
      100,
    ],
    [[summary, ...payouts], 'PGI62499', 0],
    [[summary, ...payouts, payout.replace('963.90', 'a lot')], 'PGI62499', 1],
  ] as const) {
    const { status, body } = await uploadStatement(
      service.url,
      path,
      [...REPORT, ...rest].join('\n'),
    )
    t.match({ status, listed: body.errors?.length }, { status: 201, listed: errors })
    t.match(await settlementAt(service, utr), [{ off_by: '1963.90', adds_up: false }], utr)
    await service.call('DELETE', `/api/gateways/gateway_b/statements/${body.statement_id}`)
  }
})

t.test('a report with more settlements than fit into memory is refused', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const [summary = '', payout = ''] = REPORT
  const payouts = Array.from({ length: 20_001 }, (_, i) => payout.replace('45345', String(i + 1)))
  const csv = [summary, ...payouts, ...REPORT.slice(2)].join('\n')
  const path = 'gateway_b/statement?lender=LENDER_02'
  t.match(await uploadStatement(service.url, path, csv), {
    status: 400,
    body: { detail: /^Line 20002: .* more than 20000 rows: upload reports of shorter times/ },
  })
})

t.test('payments may be joined to a report with two sections, but no other columns', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const upload = (lines: string[]) =>
    uploadStatement(service.url, 'gateway_b/statement?lender=LENDER_02', lines.join('\n'))
  const payment = (REPORT[3] ?? '').replace(/^1,|(?<=PGI45345,)1,/g, '2,')
  t.match((await upload([...REPORT, EVENTS, payment])).body, { rows: 3, valid_rows: 3 })
  t.match((await upload([EVENTS, payment, ...REPORT])).body, { rows: 3, valid_rows: 3 })
  t.match(await settlementAt(service), [{ settlement_id: '45345', payments: 2 }])
  const inTemplate = `2,1,INR,captured,2026-02-05T10:00:00Z,,,,,`
  t.match((await upload([STATEMENT_HEADER, inTemplate, ...REPORT])).body, {
    detail: /^Line 5: the header of another file, .* one by one/,
  })
  const others = EVENTS.replace(/(Transaction Amount),(.*Service Charge)/, '$2,$1')
  for (const header of [others, others.replaceAll(' ', '_').toLowerCase()])
    t.match((await upload([...REPORT, header, payment.replace('1000,20,', '20,1000,')])).body, {
      detail: /^Line 6: the header of another file, .* one by one/,
    })
})

t.test('a report that ends after its section of settlements says so', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await uploadStatement(service.url, path, `${REPORT.slice(0, 2).join('\n')}\n`)
  t.match(body, { detail: /^The file has only the report’s section of settlements: / })
})
