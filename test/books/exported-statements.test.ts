import { sql } from 'kysely'
import t from 'tap'
import { uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

async function upload(service: TestService, gateway: string, ...lines: string[]) {
  const path = `${gateway}/statement?lender=LENDER_02`
  const { status, body } = await uploadStatement(service.url, path, lines.join('\r\n'))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

const stated = async ({ db }: TestService) =>
  (
    await sql<object>`
      select gateway_payment_id as id, amount::text, currency, status, captured_at, fee::text, tax::text, settlement_id, utr
        from ops.statement order by 1`.execute(db)
  ).rows

const settlements = async ({ call }: TestService, utr: string) =>
  (await call('GET', `/api/settlements?utr=${utr}`)).body.settlements

t.test('gateway A’s export of payments is a statement', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const body = await upload(
    service,
    'gateway_a',
    'id,amount,currency,status,order_id,method,captured,fee,tax,created_at,card_network',
    'pay_1,"1,000.00",INR,captured,order_1,upi,1,23.6,3.6,2026-02-05T10:00:00,',
    'pay_2,7.5,INR,refunded,,card,1,0,0,2026-02-05 11:00:00,Visa',
    'pay_3,7.5,INR,refunded,,card,0,,,2026-02-05T11:00:00,Visa',
    'pay_4,7.5,INR,created,,card,0,,,2026-02-05T11:00:00,Visa',
    'pay_5.0,x,INR,captured,,card,1,,,2026-02-05T11:00:00,Visa',
    '5,7.5,INR,failed,,card,0,,,2026-02-05T11:00:00+05:30,Visa',
    // A mandate that was registered.
    'pay_6,0.00,INR,captured,,emandate,1,0,0,2026-02-05T11:00:00,',
  )
  t.match(body, {
    rows: 7,
    valid_rows: 6,
    ignored_columns: ['order_id', 'card_network'],
    errors: [{ line: 6, reason: /^amount must be a number above 0/ }],
  })
  t.match(await stated(service), [
    { id: '5', status: 'failed' },
    {
      id: 'pay_1',
      amount: '1000.00',
      currency: 'INR',
      status: 'captured',
      captured_at: new Date('2026-02-05T04:30:00Z'),
      fee: '20',
      tax: '3.6',
    },
    { id: 'pay_2', status: 'refunded', captured_at: new Date('2026-02-05T05:30:00Z') },
    { id: 'pay_3', status: 'failed' },
  ])
})

t.test(
  'a file of what gateway A’s API answers is refused, because its amounts are in paise',
  async t => {
    const { url } = await startTestService(t, { ROLE: 'api' })
    const answers = [
      `id,entity,amount,currency,status,method,captured,fee,tax,created_at
pay_1,payment,100000,INR,captured,upi,True,2360,360,2026-02-05 10:00:00`,
      `entity_id,type,debit,credit,amount,currency,fee,tax,created_at,settled_at,settlement_id,posted_at,credit_type,settlement_utr
pay_1,payment,0,97640,100000,INR,2360,360,2026-02-05 10:00:00,2026-02-07 10:00:00,setl_1,,default,UTR1`,
      `entity_id,type,debit,credit,amount,currency,fee,tax,on_hold,settled,created_at,settled_at,settlement_id,settlement_utr
pay_1,payment,0,97640,100000,INR,2360,360,False,True,2026-02-05 10:00:00,2026-02-07 10:00:00,setl_1,UTR1`,
    ]
    for (const answer of answers) {
      const { status, body } = await uploadStatement(
        url,
        'gateway_a/statement?lender=LENDER_02',
        answer,
      )
      t.equal(status, 400)
      t.match(
        body.detail,
        /(entity|posted_at|on_hold) is a column of the gateway’s API, whose amounts are in paise/,
      )
    }
  },
)

const A_COMBINED =
  'entity_id,type,debit,credit,amount,currency,fee,tax,on_hold,settled,created_at,settled_at,settlement_id,description,notes,payment_id,arn,settlement_utr,order_id,order_receipt,method,upi_flow,card_network,card_issuer,card_type,dispute_id,additional_utr'

t.test(
  'gateway A’s report of all that moved money names columns of its API, in rupees',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const begun = '05/02/2026 10:00:00'
    const body = await upload(
      service,
      'gateway_a',
      A_COMBINED,
      `pay_1,payment,0,976.4,1000,INR,23.6,3.6,0,1,${begun},07-02-2026,setl_1,,{},,,UTR1,order_1,,upi,intent,,,,,`,
      `rfnd_1,refund,50,0,50,INR,0,0,0,1,${begun},07-02-2026,setl_1,,{},pay_0,,UTR1,,,upi,,,,,,`,
      `setl_1,settlement,926.4,0,926.4,INR,0,0,0,1,07/02/2026 12:00:00,07-02-2026,setl_1,,{},,,UTR1,,,,,,,,,`,
      `pay_2,payment,0,976.4,1000,INR,23.6,3.6,0,0,${begun},,,,{},,,,order_2,,upi,intent,,,,,`,
    )
    t.match(body, { rows: 4, errors: [] })
    t.match(await stated(service), [
      { id: 'pay_1', amount: '1000', fee: '20', captured_at: new Date('2026-02-05T04:30:00Z') },
      { id: 'pay_2', settlement_id: null },
    ])
    const [settled] = await settlements(service, 'UTR1')
    t.match(settled, { payments: 1, refunds: '50', paid_out: '926.4', adds_up: true })
  },
)

t.test('a row of an export may end before columns from which nothing is taken', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const end = 'INR,captured,upi,1,23.6,3.6,,,2026-02-05 10:00:00'
  const body = await upload(
    service,
    'gateway_a',
    'id,amount,currency,status,method,captured,fee,tax,error_code,error_description,created_at,card_type,card_network,auth_code',
    // A spreadsheet leaves out cells that are empty in several rows. No column that is taken can begin after these two numbers.
    `pay_1,1000,${end},credit,12,345.00`,
    `pay_2,1000,${end}`,
    // The time is in its place, so that nothing before it has moved.
    'pay_3,40000,INR,captured,upi,1,944,144,,,2026-02-05 10:00:00,,,',
    'pay_4,1000,INR,captured,upi,1,23.6,3.6',
    '',
  )
  t.match(body, { valid_rows: 3, errors: [{ line: 5, reason: /^the row has 8 cells/ }] })
  t.match(await stated(service), [{ id: 'pay_1' }, { id: 'pay_2' }, { id: 'pay_3', fee: '800' }])
})

const A_SETTLEMENTS =
  'transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,payment_method,entity_created_at,payment_captured_at,settlement_id,settled_at,settlement_utr,settled_by'
/** The cells from the method on. */
const endOfA = (utr = 'UTR1') =>
  `upi,2026-02-05T10:00:00,,setl_${utr},2026-02-07T12:00:00,${utr},Razorpay`

t.test('gateway A’s export of settlements is a statement with all their parts', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const end = 'setl_1,2026-02-07T12:00:00,UTR1,Razorpay'
  const file = [
    A_SETTLEMENTS,
    `payment,pay_1,1000.0,INR,20.0,3.6,0.0,976.4,upi,2026-02-05T10:00:00,2026-02-05T10:00:09,${end}`,
    `refund,rfnd_1,50.0,INR,0.0,0.0,50.0,0.0,upi,2026-02-06T10:00:00,,${end}`,
    `adjustment,adj_1,12.5,INR,0.0,0.0,12.5,0.0,,2026-02-06T10:00:00,,${end}`,
  ]
  const body = await upload(service, 'gateway_a', ...file)
  t.match(body, { rows: 3, valid_rows: 3, errors: [] })
  t.same(body.ignored_columns, ['payment_method', 'payment_captured_at', 'settled_by'])
  const rows = await stated(service)
  t.match(rows, [{ id: 'pay_1', fee: '20.0', tax: '3.6', settlement_id: 'setl_1', utr: 'UTR1' }])
  t.match(rows, [{ captured_at: new Date('2026-02-05T04:30:00Z') }])
  const expected = {
    settlement_id: 'setl_1',
    lender: 'LENDER_02',
    settled_at: '2026-02-07T06:30:00.000Z',
    payments: 1,
    net: '926.4',
    adjustments: '-12.5',
    paid_out: '913.9',
    adds_up: true,
  }
  t.match(await settlements(service, 'UTR1'), [expected])
  await service.call('DELETE', `/api/gateways/gateway_a/statements/${body.statement_id}`)
  t.same(await settlements(service, 'UTR1'), [])
  t.same(await stated(service), [])
})

t.test('a mandate registered for 0 is a part of A’s settlement, and no payment', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const body = await upload(
    service,
    'gateway_a',
    A_SETTLEMENTS,
    `payment,pay_1,1000.0,INR,20.0,3.6,0.0,976.4,${endOfA()}`,
    `payment,pay_2,0.00,INR,5.0,0.9,5.9,0.0,${endOfA()}`,
  )
  t.match(body, { rows: 2, valid_rows: 2, errors: [] })
  t.match(await stated(service), [{ id: 'pay_1' }])
  const [settled] = await settlements(service, 'UTR1')
  t.match(settled, { fees: '25.0', tax: '4.5', paid_out: '970.5', adds_up: true })
})

t.test('a debit or credit of gateway A’s report that is no number is its row’s error', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const moved = ['₹500.00,0', '(500.00),0', '-,500.00 Cr', '"1,500",', '500.00,-']
  const rows = moved.map(
    (amounts, n) => `adjustment,adj_${n},500.00,INR,0,0,${amounts},${endOfA()}`,
  )
  const body = await upload(service, 'gateway_a', A_SETTLEMENTS, ...rows)
  const reason = /^credit or debit must be a number without a currency/
  t.match(body, { valid_rows: 1, errors: [2, 3, 4, 5].map(line => ({ line, reason })) })
  t.match(await settlements(service, 'UTR1'), [{ adjustments: '-500' }])
})

t.test('a word for no value in a debit or credit of gateway A’s report moves nothing', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const body = await upload(
    service,
    'gateway_a',
    A_SETTLEMENTS,
    `payment,pay_1,1000.0,INR,20.0,3.6,NA,976.4,${endOfA()}`,
    `refund,rfnd_1,50.0,INR,NA,NA,50.0,n/a,${endOfA()}`,
    `payment,pay_2,1000.0,INR,20.0,3.6,0.0,976.4,${endOfA('UTR2')}`,
    `adjustment,adj_1,12.5,INR,0,0,NA,NA,${endOfA('UTR2')}`,
  )
  t.match(body, { rows: 4, valid_rows: 4, errors: [] })
  t.match(await settlements(service, 'UTR1'), [{ paid_out: '926.4', adds_up: true }])
  t.match(await settlements(service, 'UTR2'), [{ adds_up: false }], 'its adjustment is unknown')
})

t.test('a dash in an export is a zero where money is charged or moved', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const ofA = await upload(
    service,
    'gateway_a',
    A_SETTLEMENTS,
    `payment,pay_1,1000.0,INR,20.0,3.6,-,976.4,${endOfA()}`,
    `refund,rfnd_1,50.0,INR, - ,-,50.0,-,${endOfA()}`,
  )
  t.match(ofA, { rows: 2, valid_rows: 2, errors: [] })
  t.match(await settlements(service, 'UTR1'), [{ fees: '20.0', paid_out: '926.4', adds_up: true }])
  const ofB = await upload(
    service,
    'gateway_b',
    'Event ID,Event Type,Event Amount,Event Currency,Status,Event Time,Sale Type,UTR,cf_payment_id,Event Service Charge,Event Service Tax,Event Settlement Amount',
    '1,PAYMENT,1000,INR,SUCCESS,2026-02-05 10:00:00,CREDIT,UTR2,9001,20,3.6,976.4',
    '2,REFUND,50,INR,SUCCESS,2026-02-06 10:00:00,DEBIT,UTR2,9001,-,-,-50',
  )
  t.match(ofB, { rows: 2, valid_rows: 2, errors: [] })
  t.match(await settlements(service, 'UTR2'), [{ paid_out: '926.4', adds_up: true }])
})

t.test('gateway A’s debits and refunds count as such with a sign, too', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(
    service,
    'gateway_a',
    A_SETTLEMENTS,
    `payment,pay_1,1000.0,INR,20.0,3.6,0.0,976.4,${endOfA()}`,
    `refund,rfnd_1,-50.0,INR,0.0,0.0,-50.0,0.0,${endOfA()}`,
    `adjustment,adj_1,-12.5,INR,0.0,0.0,-12.5,0.0,${endOfA()}`,
  )
  const expected = { refunds: '50', adjustments: '-12.5', paid_out: '913.9', adds_up: true }
  t.match(await settlements(service, 'UTR1'), [expected])
})

const A_SHORT = 'type,entity_id,amount,created_at,settled_at,currency,settlement_id,settlement_utr'

t.test(
  'an export’s day comes before its month, as the gateways and India’s spreadsheets write it',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const end = ['INR', 'setl_1', 'UTR1']
    const body = await upload(
      service,
      'gateway_a',
      A_SHORT,
      ['payment', 'pay_1', '7', '05/02/2026 10:00:00', '07/02/2026', ...end].join(),
      ['Payment', 'pay_2', '7', '05-02-2026 9:30', '07-02-2026', ...end].join(),
      ['payment', 'pay_3', '7', '2026-02-05 10:00:00', '2026-02-07', ...end].join(),
      // Both of these may be of May.
      ['payment', 'pay_4', '7', '05/02/2026 10:00', '07/02/2026', ...end].join(),
      ['payment', 'pay_5', '7', '5/2/2026 10:00:00', '07/02/2026', ...end].join(),
    )
    t.match(body, { valid_rows: 3, errors: [{ reason: /^created_at/ }, { reason: /^created_at/ }] })
    t.match(await stated(service), [
      { id: 'pay_1', captured_at: new Date('2026-02-05T04:30:00Z') },
      { id: 'pay_2', captured_at: new Date('2026-02-05T04:00:00Z') },
      { id: 'pay_3', captured_at: new Date('2026-02-05T04:30:00Z') },
    ])
    const settled = await settlements(service, 'UTR1')
    t.match(settled, [{ payments: 3, settled_at: '2026-02-06T18:30:00.000Z' }])
  },
)

t.test('times in an export are India’s, wherever the ledger is', async t => {
  const service = await startTestService(t, { ROLE: 'api', LEDGER_TIMEZONE: 'UTC' })
  const a = 'payment,pay_1,7,2026-02-06 02:00:00,2026-02-07,INR,setl_1,UTR1'
  await upload(service, 'gateway_a', A_SHORT, a)
  const b =
    'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_payment_id'
  await upload(service, 'gateway_b', b, '1,PAYMENT,7,INR,SUCCESS,2026-02-06 02:00:00,CREDIT,pay_2')
  const captured_at = new Date('2026-02-05T20:30:00Z')
  t.match(await stated(service), [
    { id: 'pay_1', captured_at },
    { id: 'pay_2', captured_at },
  ])
  t.match(await settlements(service, 'UTR1'), [{ settled_at: '2026-02-06T18:30:00.000Z' }])
})

t.test('an export that a spreadsheet saved with the month first is refused as a whole', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, time: string) => `payment,${id},7,${time},2026-03-27,INR,setl_1,UTR1`
  await t.rejects(
    upload(
      service,
      'gateway_a',
      A_SHORT,
      row('pay_1', '03/05/2026 10:15:30'),
      row('pay_2', '03/25/2026 10:15:30'),
    ),
    /Line 3: created_at has the month before the day, and the gateway’s report the day: format/,
  )
  await t.rejects(
    upload(
      service,
      'gateway_b',
      B_SUMMARY,
      'setl_1,7,7,0,7,,,SUCCESS,UTR1,03/25/2026 10:15:30',
      B_EVENTS,
      '1,PAYMENT,CREDIT,INR,03/05/2026 10:15:30,SUCCESS,7,7,03/25/2026 10:15:30,UTR1,,1,INR,7,0,0,03/05/2026 10:15:30',
    ),
    /Line 2: Settlement Date has the month before the day/,
  )
  t.same(await stated(service), [])
})

t.test('a row of a report that does not say what it is about is refused', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const end = '7,2026-02-05 10:00:00,2026-02-07,INR,setl_1,UTR1'
  const a = await upload(service, 'gateway_a', A_SHORT, `payment,pay_1,${end}`, `,pay_2,${end}`)
  t.match(a, { valid_rows: 1, errors: [{ line: 3, reason: 'type is required' }] })
  const b = await upload(
    service,
    'gateway_b',
    'Event ID,Event Type,Event Amount,Event Currency,Status,Event Time,Sale Type,UTR,cf_payment_id',
    '1,PAYMENT,7,INR,SUCCESS,2026-02-05 10:00:00,CREDIT,UTR2,1',
    '2,,7,INR,SUCCESS,2026-02-05 10:00:00,CREDIT,UTR2,2',
  )
  t.match(b, { valid_rows: 1, errors: [{ line: 3, reason: 'Event Type is required' }] })
  t.match(await settlements(service, 'UTR2'), [{ payments: 1, adjustments: '0' }])
  const day = '/api/reconciliation?from=2026-02-05&to=2026-02-05'
  const { days } = (await service.call('GET', day)).body
  t.match(days, [{ statement: 'partial' }, { statement: 'partial' }])
})

const B_SUMMARY =
  'Id,Total Transaction Amount,Settlement Amount,Adjustment,Net Settlement Amount,From,Till,Status,UTR No.,Settlement Date'
const B_EVENTS =
  'Event ID,Event Type,Sale Type,Event Currency,Event Time,Status,Event Amount,Event Settlement Amount,Settlement Date,UTR,Merchant Reference ID,Cashfree Reference ID,Currency,Transaction Amount,Transaction Service Charge,Txn ST/GST,Transaction Time'

t.test('gateway B’s report of settlements is read with both of its sections', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const settled = '2026-02-07 12:00:00,AXISCN1'
  const body = await upload(
    service,
    'gateway_b',
    B_SUMMARY,
    '208386848,1000.00,976.40,-62.50,913.90,2026-02-05 00:00:00,2026-02-06 00:00:00,SUCCESS,AXISCN1,2026-02-07 12:00:00',
    '',
    '** Settlement Reconciliation Details **',
    '',
    B_EVENTS,
    `1453002795,PAYMENT,CREDIT,INR,2026-02-05 10:00:09,SUCCESS,1000.00,976.40,${settled},order_1,1453002795,INR,1000.00,20.00,3.60,2026-02-05 10:00:00`,
    `77,REFUND,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,50.00,-50.00,${settled},order_1,1453002795,INR,1000.00,0,0,2026-02-05 10:00:00`,
    `88,OTHER_ADJUSTMENT,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,12.50,12.50,${settled},,,INR,,,,`,
  )
  t.match(body, { rows: 3, valid_rows: 3, errors: [] })
  t.ok(body.ignored_columns.includes('Merchant Reference ID'))
  t.match(await stated(service), [
    {
      id: '1453002795',
      amount: '1000.00',
      status: 'captured',
      captured_at: new Date('2026-02-05T04:30:00Z'),
      fee: '20.00',
      tax: '3.60',
      settlement_id: '208386848',
    },
  ])
  t.match(await settlements(service, 'AXISCN1'), [
    {
      settlement_id: '208386848',
      refunds: '50.00',
      adjustments: '-12.50',
      paid_out: '913.90',
      adds_up: true,
    },
  ])
})

t.test('a row of sums below the settlements of gateway B’s report is no settlement', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const body = await upload(
    service,
    'gateway_b',
    B_SUMMARY,
    '208386848,7,7,0,7,,,SUCCESS,UTR1,2026-02-07',
    'Grand Total,7,7,0,7',
    B_EVENTS,
    '1,PAYMENT,CREDIT,INR,2026-02-05 10:00:00,SUCCESS,7,7,2026-02-07,UTR1,,1,INR,7,0,0,2026-02-05 10:00:00',
  )
  t.match(body, { rows: 1, valid_rows: 1 })
  const { rows } = await sql<object>`select settlement_id, adds_up from ops.settlement`.execute(
    service.db,
  )
  t.same(rows, [{ settlement_id: '208386848', adds_up: true }])
})

t.test('the error of a payout in gateway B’s report names the first section’s column', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const settled = '2026-02-07 12:00:00,UTR1'
  const { errors } = await upload(
    service,
    'gateway_b',
    'Id,Net Settlement Amount,UTR No.,Settlement Date',
    '2083,Rs. 976.40,UTR1,2026-02-07 12:00:00',
    '2084,976.40,1.5E+11,2026-02-07 12:00:00',
    B_EVENTS,
    `9,PAYMENT,CREDIT,INR,2026-02-05 10:00:09,SUCCESS,1000,976.40,${settled},order_1,9,INR,1000,20,3.6,2026-02-05 10:00:00`,
  )
  t.match(errors, [
    { line: 2, reason: /^Net Settlement Amount must be a number [^;]*$/ },
    { line: 3, reason: /^UTR No\. is in scientific notation/ },
  ])
})

t.test('the error of a part’s amount in gateway B’s report names the part’s column', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const settled = '2026-02-07 12:00:00,UTR1'
  const row = (id: number, amount: string, own: string) =>
    `${id},REFUND,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,${amount},-50.00,${settled},order_1,1453002795,INR,${own},0,0,2026-02-05 10:00:00`
  const rows = [row(1, '50.00', '₹100.00'), row(2, '₹50.00', '100.00'), row(3, '', '')]
  const { errors } = await upload(service, 'gateway_b', B_EVENTS, ...rows)
  t.match(errors, [
    { line: 3, reason: /^Event Amount must be a number/ },
    { line: 4, reason: 'Event Amount is required' },
  ])
})

t.test('the remark of an adjustment in gateway B’s report may be any text', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const settled = '2026-02-07 12:00:00,UTR1'
  const rows = ['Waived??', 'Waived â€“ Oct', 'NULL', '#N/A'].map(
    (remark, n) =>
      `${n},OTHER_ADJUSTMENT,DEBIT,INR,2026-02-06 10:00:00,SUCCESS,10.00,-10.00,${settled},,,INR,,,,,${remark}`,
  )
  const body = await upload(service, 'gateway_b', `${B_EVENTS},Adjustment Remarks`, ...rows)
  t.match(body, { rows: 4, valid_rows: 4 })
  t.match(await settlements(service, 'UTR1'), [{ adjustments: '-40.00' }])
})

t.test('the flat rows of gateway B’s own API are a statement', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const header =
    'event_id,event_type,event_amount,event_settlement_amount,event_currency,event_status,event_time,sale_type,order_id,cf_payment_id,payment_amount,payment_time,payment_service_charge,payment_service_tax'
  const body = await upload(
    service,
    'gateway_b',
    header,
    '1,PAYMENT,10,9.76,INR,SUCCESS,2026-02-05T10:00:09+05:30,CREDIT,order_1,1,10,2026-02-05T10:00:00+05:30,0.2,0.04',
    '2,PAYMENT,10,,INR,PENDING,2026-02-05T10:00:09+05:30,CREDIT,order_1,2,10,2026-02-05T10:00:00+05:30,,',
    '3,Payment,10,,INR,FAILED,2026-02-05T10:00:09+05:30,CREDIT,order_1,3,10,2026-02-05T10:00:00+05:30,,',
    '4.0,PAYMENT,10,,INR,SUCCESS,2026-02-05T10:00:09+05:30,CREDIT,order_1,4.0,10,2026-02-05T10:00:00+05:30,,',
    '5,PAYMENT,0,,INR,SUCCESS,2026-02-05T10:00:09+05:30,CREDIT,order_1,5,0,2026-02-05T10:00:00+05:30,,',
  )
  t.match(body, {
    valid_rows: 4,
    ignored_columns: ['order_id'],
    errors: [{ line: 5, reason: /^cf_payment_id has a decimal point/ }],
  })
  t.match(await stated(service), [
    { id: '1', amount: '10', status: 'captured', fee: '0.2' },
    { id: '3', status: 'failed' },
  ])
})

t.test('a payment that gateway B’s report has as failed and as made is captured', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, status: string) =>
    `1,PAYMENT,10,INR,${status},2026-02-05T10:30:00+05:30,CREDIT,${id},2026-02-05T10:00:00+05:30`
  const body = await upload(
    service,
    'gateway_b',
    'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_payment_id,payment_time',
    row('1', 'FAILED'),
    row('1', 'FAILED'),
    row('1', 'SUCCESS'),
    row('2', 'SUCCESS'),
    row('2', 'FAILED'),
    row('2', 'SUCCESS'),
  )
  t.match(body, {
    valid_rows: 5,
    errors: [{ line: 7, reason: 'cf_payment_id repeats that of line 5' }],
  })
  t.match(await stated(service), [
    { id: '1', status: 'captured' },
    { id: '2', status: 'captured' },
  ])
})

t.test('a word that gateway B does not use for money received captures no payment', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, status: string, settlement = '') =>
    `${id},PAYMENT,10,INR,${status},2026-02-05T10:30:00+05:30,CREDIT,${id},2026-02-05T10:00:00+05:30,${settlement}`
  const { errors } = await upload(
    service,
    'gateway_b',
    'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_payment_id,payment_time,cf_settlement_id',
    row('1', 'FLAGGED'),
    row('2', 'INCOMPLETE'),
    row('2', 'Success'),
    row('3', ''),
    row('4', 'N/A'),
    row('5', 'settled', '7'),
  )
  t.same(
    errors,
    [2, 3].map(line => ({
      line,
      reason: 'event_status must be one of captured, refunded, failed',
    })),
  )
  t.match(
    await stated(service),
    ['2', '3', '4', '5'].map(id => ({ id, status: 'captured' })),
  )
})

t.test('a word for no value is no id of a refund or an adjustment', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const refused = async (gateway: string, ...lines: string[]) => {
    const path = `${gateway}/statement?lender=LENDER_02`
    return (await uploadStatement(service.url, path, lines.join('\n'))).body.detail
  }
  t.match(
    await refused(
      'gateway_b',
      'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_settlement_id',
      'NA,REFUND,10,INR,SUCCESS,2026-02-05T10:30:00+05:30,DEBIT,7',
    ),
    /line 2: event_id is NA, which stands for no value/,
  )
  t.match(
    await refused(
      'gateway_a',
      'entity_id,type,amount,settlement_id,settlement_utr',
      '-,adjustment,10,setl_1,utr_1',
    ),
    /line 2: entity_id is -, which stands for no value/,
  )
})

t.test('an export of one gateway is refused as a statement of another gateway', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { status, body } = await uploadStatement(service.url, path, `${A_SETTLEMENTS}\n`)
  t.equal(status, 400)
  t.equal(
    body.detail,
    'This is a report of settlements of gateway A, not a report of gateway_b: choose gateway_a as its gateway',
  )
})

t.test('a part that gateway B’s report neither credits nor debits is an error', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: number, type: string, direction: string, amount: string) =>
    `${id},${type},${direction},INR,2026-02-06 10:00:00,SUCCESS,${amount},${amount},2026-02-07 12:00:00,UTR1,,${id},INR,${amount},0,0,2026-02-05 10:00:00`
  const { errors } = await upload(
    service,
    'gateway_b',
    B_EVENTS,
    row(1, 'OTHER_ADJUSTMENT', 'Dr', '7.00'),
    row(2, 'REFUND', '', '5.00'),
    row(3, 'PAYMENT', '', '100.00'),
    row(4, 'OTHER_ADJUSTMENT', 'Debit', '2.00'),
    row(5, 'OTHER_ADJUSTMENT', '', '-3.00'),
    row(6, 'OTHER_ADJUSTMENT', '', '0.00'),
  )
  const reason = 'Sale Type must be CREDIT or DEBIT'
  t.same(errors, [
    { line: 2, reason },
    { line: 3, reason },
  ])
  t.match(await settlements(service, 'UTR1'), [{ adjustments: '-5.00', paid_out: '95.00' }])
})

t.test('an amount with three decimals is an error where gateway A’s report adds it up', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, fee: string, tax: string) =>
    `${id},40000,INR,captured,upi,1,${fee},${tax},2026-02-05T10:00:00`
  const { errors } = await upload(
    service,
    'gateway_a',
    'id,amount,currency,status,method,captured,fee,tax,created_at',
    row('pay_1', '1.180', '0.18'),
    row('pay_2', '1.18', '0.18'),
  )
  t.match(errors, [{ line: 2, reason: /^fee must be a number/ }])
})
