import { sql } from 'kysely'
import t from 'tap'
import { sweepWithdrawn } from '../../src/books/statements/sweep-withdrawn.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway, settledOfA } from '../support/books/odd-gateway.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { startTestService, type TestService } from '../support/service.ts'

const A =
  'transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr,payment_id'
const B =
  'event_id,event_type,sale_type,event_time,event_amount,event_settlement_amount,event_currency,cf_payment_id,payment_amount,payment_time,event_service_charge,event_service_tax,settlement_utr,settlement_date,refund_id'
const PAID = '2026-02-05 10:00:00'

/** The rows of a payment of 10 and of a refund of 5, settled under the number. */
const rowsOfA = (n: number) => [
  A,
  `payment,pay_1,10.00,INR,1.00,0.18,0.0,8.82,${PAID},setl_${n},2026-02-0${n} 12:00:00,UTR${n},`,
  `refund,rfnd_1,5.00,INR,0,0,5.00,0.0,${PAID},setl_${n},2026-02-0${n} 12:00:00,UTR${n},pay_1`,
]
/** The same in a report without the section of settlements, which names each by its UTR alone. */
const rowsOfB = (n: number) => [
  B,
  `e1,PAYMENT,CREDIT,${PAID},10,8.82,INR,101,10,${PAID},1,0.18,UTR${n},2026-02-0${n} 12:00:00,`,
  `e2,REFUND,DEBIT,${PAID},5,5,INR,101,10,${PAID},0,0,UTR${n},2026-02-0${n} 12:00:00,ref_1`,
]
/** The payment alone, in the template. */
const row = (n: number) => [
  STATEMENT_HEADER,
  `pay_1,10.00,INR,captured,${PAID},1.00,0.18,setl_${n},2026-02-0${n} 12:00:00,UTR${n}`,
]

async function upload({ url }: TestService, gateway: string, lines: string[]): Promise<string> {
  const path = `${gateway}/statement?lender=LENDER_02`
  const { status, body } = await uploadStatement(url, path, lines.join('\n'))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.statement_id
}

/** The settlements of the month as `<utr> <gross> <refunds> <whether they add up>`, the newest first. */
async function settlements({ call }: Pick<TestService, 'call'>): Promise<string[]> {
  const { body } = await call('GET', '/api/settlements?from=2026-02-01&to=2026-02-28')
  return body.settlements.map(
    ({ utr, gross, refunds, adds_up }: Record<string, string>) =>
      `${utr} ${Number(gross)} ${Number(refunds)} ${adds_up}`,
  )
}

const REPORTS = [
  ['gateway_a', rowsOfA],
  ['gateway_b', rowsOfB],
] as const

for (const [gateway, rows] of REPORTS)
  t.test(
    `a part that ${gateway} states in another settlement later counts there alone`,
    async t => {
      const service = await startTestService(t, { ROLE: 'api' })
      await upload(service, gateway, rows(7))
      const later = await upload(service, gateway, rows(9))
      t.same(await settlements(service), ['UTR9 10 5 true'])
      await service.call('DELETE', `/api/gateways/${gateway}/statements/${later}`)
      t.same(await settlements(service), ['UTR7 10 5 true'])
      await upload(service, gateway, rows(9))
      await upload(service, gateway, rows(7))
      t.same(await settlements(service), ['UTR7 10 5 true'], 'the last file counts')
    },
  )

for (const [gateway, rows] of REPORTS)
  t.test(
    `a part that ${gateway} states elsewhere since is not lost with an earlier file`,
    async t => {
      const service = await startTestService(t, { ROLE: 'api' })
      const withdraw = async (file: string) => {
        await service.call('DELETE', `/api/gateways/${gateway}/statements/${file}`)
        const before = await settlements(service)
        await sweepWithdrawn(service.db)
        t.same(await settlements(service), before, 'before its rows are deleted')
        return before
      }
      await upload(service, gateway, rows(7))
      const second = await upload(service, gateway, rows(7))
      const later = await upload(service, gateway, rows(9))
      t.same(await withdraw(second), ['UTR9 10 5 true'])
      t.same(await withdraw(later), ['UTR7 0 0 false'], 'the first file still states it')
      await upload(service, gateway, rows(9))
      t.same(await settlements(service), ['UTR9 10 5 true'])
    },
  )

t.test('a payment that the template moves to another settlement leaves its report’s', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, 'gateway_a', rowsOfA(7))
  await upload(service, 'gateway_a', row(9))
  t.same(await settlements(service), ['UTR9 10 0 true', 'UTR7 0 5 true'])
})

t.test(
  'a part that the gateway pays out again is in its last settlement, fetched or not',
  async t => {
    let days = [7]
    const { settings } = await oddGateway(t, ({ path, query }) => {
      if (path === '/v1/payments')
        return { items: [itemOfA('pay_1', { amount: 1_000, notes: { lender: 'LENDER_02' } })] }
      const day = Number(query.get('day'))
      if (!path.startsWith('/v1/settlements') || !days.includes(day)) return undefined
      const settled = {
        settlement_id: `setl_${day}`,
        settlement_utr: `UTR${day}`,
        settled_at: Date.parse(`2026-02-0${day}T12:00:00+05:30`) / 1_000,
      }
      return {
        items: [
          settledOfA('pay_1', 'payment', {
            amount: 1_000,
            fee: 118,
            tax: 18,
            credit: 882,
            ...settled,
          }),
          settledOfA('rfnd_1', 'refund', {
            amount: 500,
            debit: 500,
            payment_id: 'pay_1',
            ...settled,
          }),
        ],
      }
    })
    const service = await startTestService(t, settings)
    const fetchDay = (day: number) =>
      fetchAll(service.call, 'gateway_a', {
        from: `2026-02-0${day}T00:00:00+05:30`,
        to: `2026-02-0${day}T23:00:00+05:30`,
      })
    await fetchDay(7)
    t.same(await settlements(service), ['UTR7 10 5 true'])
    days = [7, 9]
    await fetchDay(9)
    t.same(await settlements(service), ['UTR9 10 5 true'])
    await fetchDay(7)
    t.same(await settlements(service), ['UTR9 10 5 true'], 'an earlier day is fetched again')
    await upload(service, 'gateway_a', rowsOfA(6))
    t.same(await settlements(service), ['UTR9 10 5 true'], 'a file states an earlier settlement')
    const { rows } = await sql`
    select settlement_id, utr from ops.statement where gateway_payment_id = 'pay_1'`.execute(
      service.db,
    )
    t.same(rows, [{ settlement_id: 'setl_9', utr: 'UTR9' }])
  },
)
