import { sql } from 'kysely'
import t from 'tap'
import { sweepWithdrawn } from '../../src/books/statements/sweep-withdrawn.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

const REPORT =
  'transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr'
const part = (id: string) =>
  `payment,${id},10.00,INR,1.00,0.18,0.0,8.82,2026-02-05T10:00:00,setl_1,2026-02-07T12:00:00,UTR1`
const refund =
  'refund,rfnd_1,5.0,INR,0.0,0.0,5.0,0.0,2026-02-06T10:00:00,setl_1,2026-02-07T12:00:00,UTR1'
const row = (id: string) =>
  `${id},10.00,INR,captured,2026-02-05T10:00:00+05:30,1.00,0.18,setl_1,2026-02-07T12:00:00+05:30,UTR1`

async function upload({ url }: TestService, ...lines: string[]): Promise<string> {
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { status, body } = await uploadStatement(url, path, lines.join('\n'))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.statement_id
}

async function withdraw({ call, db }: TestService, id: string) {
  await call('DELETE', `/api/gateways/gateway_a/statements/${id}`)
  const before = await settlements({ call })
  await sweepWithdrawn(db)
  return before
}

const settlements = async ({ call }: Pick<TestService, 'call'>) =>
  (await call('GET', '/api/settlements?utr=UTR1')).body.settlements

const LOST = { off_by: null, adds_up: false }
const WHOLE = { payments: 2, gross: '20.00', off_by: '0.00', adds_up: true }

for (const [name, ...lines] of [
  ['report', REPORT, part('pay_1'), part('pay_2'), refund],
  ['statement', STATEMENT_HEADER, row('pay_1'), row('pay_2')],
] as const) {
  t.test(`a settlement lacks what a withdrawn ${name} took over from a valid one`, async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const [header, ...rows] = lines
    const first = await upload(service, ...lines)
    const second = await upload(service, header, ...rows.slice(1))
    t.match(await settlements(service), [WHOLE])
    const before = await withdraw(service, second)
    t.match(before, [{ payments: 1, gross: '10.00', ...LOST }], 'while its rows are deleted')
    t.same(await settlements(service), before)

    const third = await upload(service, header, ...rows.slice(1))
    t.match(await settlements(service), [WHOLE])
    await withdraw(service, third)
    t.match(await settlements(service), [{ payments: 1, ...LOST }])

    const again = await upload(service, ...lines)
    await withdraw(service, first)
    t.match(await settlements(service), [WHOLE])
    await withdraw(service, again)
    t.same(await settlements(service), [])
  })
}

t.test('a settlement lacks a payment that only a withdrawn statement gave another', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const moved = row('pay_1').replace('setl_1', 'setl_2')
  const [one, two] = [
    { settlement_id: 'setl_1', payments: 1 },
    { settlement_id: 'setl_2', payments: 1 },
  ]
  const first = await upload(service, STATEMENT_HEADER, row('pay_1'), row('pay_2'))
  const second = await upload(service, STATEMENT_HEADER, moved)
  const third = await upload(service, STATEMENT_HEADER, moved)
  t.match(await settlements(service), [
    { ...two, adds_up: true },
    { ...one, adds_up: true },
  ])
  await withdraw(service, second)
  t.match(await settlements(service), [
    { ...two, adds_up: true },
    { ...one, adds_up: true },
  ])
  const before = await withdraw(service, third)
  t.match(before, [{ ...one, ...LOST }], 'while its rows are deleted')
  t.same(await settlements(service), before)

  await withdraw(service, await upload(service, STATEMENT_HEADER, moved))
  t.same(await settlements(service), before)
  await upload(service, STATEMENT_HEADER, row('pay_1'))
  t.match(await settlements(service), [{ ...one, ...WHOLE }])
  await withdraw(service, first)
  t.match(await settlements(service), [{ ...one, adds_up: true }])
})

for (const [name, header, line] of [
  ['report', REPORT, part('pay_1')],
  ['statement', STATEMENT_HEADER, row('pay_1')],
] as const) {
  t.test(`a lost part of a ${name} names each valid file once, however often lost`, async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const files = async () => {
      const { rows } = await sql<{ files: string[] }>`select files from core.lost_part`.execute(
        service.db,
      )
      return rows.map(lost => lost.files)
    }
    const first = await upload(service, header, line)
    const second = await upload(service, header, line)
    await withdraw(service, await upload(service, header, line))
    t.same(await files(), [[first, second]])

    const third = await upload(service, header, line)
    await withdraw(service, await upload(service, header, line))
    await withdraw(service, first)
    const last = await upload(service, header, line)
    await withdraw(service, await upload(service, header, line))
    t.same(await files(), [[second, third, last]])
  })
}

t.test('a settlement whose parts were all lost is still found', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, REPORT, part('pay_1'))
  await withdraw(service, await upload(service, REPORT, part('pay_1')))
  const expected = { settlement_id: 'setl_1', lender: 'LENDER_02', payments: 0, ...LOST }
  t.match(await settlements(service), [expected])
  t.match((await service.call('GET', '/api/settlements?from=2026-02-07&to=2026-02-07')).body, {
    settlements: [expected],
  })
})

t.test('a withdrawn report takes nothing from a settlement that no other file states', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, STATEMENT_HEADER, row('pay_1'))
  await withdraw(service, await upload(service, STATEMENT_HEADER, row('pay_2')))
  t.match(await settlements(service), [{ payments: 1, adds_up: true }])
})

const NO_SETTLEMENT = 'pay_1,10.00,INR,captured,2026-02-05T10:00:00+05:30,,,,,'

t.test('a row taken over loses what a withdrawn report said of its settlement', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const known = async () => {
    const { rows } = await sql<object>`
      select fee, tax, settlement_id, settled_at, utr from core.statement`.execute(service.db)
    return rows
  }
  const NOTHING = [{ fee: null, tax: null, settlement_id: null, settled_at: null, utr: null }]
  const fetch = (said: object) =>
    sql`
      select core.save_statements('gateway_a', 'api', null, ${JSON.stringify([{ id: 'pay_1', amount: 10, currency: 'INR', status: 'captured', captured_at: '2026-02-05T10:00:00+05:30', ...said }])}::jsonb)`.execute(
      service.db,
    )
  const first = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await fetch({ fee: 1 })
  t.match(await settlements(service), [{ payments: 1 }], 'while the report is valid')
  await withdraw(service, first)
  t.same(await settlements(service), [])
  t.same(await known(), NOTHING, 'taken over by a fetch')

  const second = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await upload(service, STATEMENT_HEADER, NO_SETTLEMENT)
  await withdraw(service, second)
  t.same(await known(), NOTHING, 'taken over by a later report')

  const third = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await upload(service, STATEMENT_HEADER, row('pay_1'))
  await fetch({})
  await withdraw(service, third)
  t.match(await settlements(service), [{ payments: 1, adds_up: true }], 'stated again')
})

t.test('a lost part is forgotten once all files that state it are withdrawn', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const first = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await withdraw(service, await upload(service, STATEMENT_HEADER, row('pay_1')))
  await withdraw(service, first)
  t.same((await sql`select from core.lost_part`.execute(service.db)).rows, [])
})

t.test('a part of a withdrawn row stays lost if stated again before its deletion', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, STATEMENT_HEADER, row('pay_1'), row('pay_2'))
  const second = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await service.call('DELETE', `/api/gateways/gateway_a/statements/${second}`)
  await upload(service, STATEMENT_HEADER, NO_SETTLEMENT)
  await sweepWithdrawn(service.db)
  t.match(await settlements(service), [{ payments: 1, ...LOST }])
  await upload(service, STATEMENT_HEADER, row('pay_1'))
  t.match(await settlements(service), [WHOLE])
})

t.test('a report of a payment that was refunded since adds its settlement and fee', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const said = {
    id: 'pay_1',
    amount: '10.00',
    currency: 'INR',
    captured_at: '2026-02-05T10:00:00+05:30',
  }
  const fetch = (status: string) =>
    sql`
    select core.save_statements('gateway_a', 'api', null, ${JSON.stringify([{ ...said, status }])}::jsonb)`.execute(
      service.db,
    )
  const states = async () =>
    (
      await sql`
        select status, settlement_id, source from core.statement order by 1`.execute(service.db)
    ).rows
  await fetch('refunded')
  const first = await upload(service, STATEMENT_HEADER, row('pay_1'), row('pay_2'))
  t.match(await settlements(service), [WHOLE])
  t.match(await states(), [{ status: 'captured' }, { status: 'refunded', source: 'api' }])
  await fetch('refunded')
  const second = await upload(service, STATEMENT_HEADER, row('pay_1'))
  await withdraw(service, second)
  t.match(await settlements(service), [{ payments: 1, ...LOST }])
  await upload(service, STATEMENT_HEADER, row('pay_1'))
  t.match(await settlements(service), [WHOLE])
  await withdraw(service, first)
  t.match(await states(), [{ status: 'refunded', settlement_id: 'setl_1' }])
})

t.test(
  'a payment stays refunded if a report of settlements states that it was captured',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const refunded = row('pay_1').replace(/captured,(\S+?),.*/, 'refunded,$1,,,,,')
    const payments = await upload(service, STATEMENT_HEADER, refunded)
    const parts = await upload(service, REPORT, part('pay_1'), part('pay_2'))
    const states = async () =>
      (
        await sql`select status, settlement_id from ops.statement order by gateway_payment_id`.execute(
          service.db,
        )
      ).rows
    t.same(await states(), [
      { status: 'refunded', settlement_id: 'setl_1' },
      { status: 'captured', settlement_id: 'setl_1' },
    ])
    t.match(await settlements(service), [WHOLE])
    await withdraw(service, parts)
    t.same(await states(), [{ status: 'refunded', settlement_id: null }])
    await upload(service, REPORT, part('pay_1'), part('pay_2'))
    await withdraw(service, payments)
    const { days } = (
      await service.call('GET', '/api/reconciliation?from=2026-02-05&to=2026-02-05')
    ).body
    t.match(days, [{ statement: 'partial' }])
    // A payment may have been called refunded by mistake.
    await upload(service, STATEMENT_HEADER, refunded)
    await upload(service, STATEMENT_HEADER, row('pay_1'))
    t.match(await states(), [{ status: 'captured' }, { status: 'captured' }])
  },
)

t.test('a payment that a later report of events calls failed does not stay refunded', async t => {
  const { url, db } = await startTestService(t, { ROLE: 'api' })
  const reports = [
    [STATEMENT_HEADER, '1,10.00,INR,refunded,2026-02-05T10:00:00+05:30,,,,,'],
    [
      'event_id,event_type,event_amount,event_currency,event_status,event_time,sale_type,cf_payment_id',
      'e1,PAYMENT,10.00,INR,FAILED,2026-02-05 10:00:00,CREDIT,1',
    ],
  ]
  for (const lines of reports) {
    const path = 'gateway_b/statement?lender=LENDER_02'
    const { status, body } = await uploadStatement(url, path, lines.join('\n'))
    t.equal(status, 201, JSON.stringify(body))
  }
  const { rows } = await sql`select status from ops.statement`.execute(db)
  t.same(rows, [{ status: 'failed' }])
})
