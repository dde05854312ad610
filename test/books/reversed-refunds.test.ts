import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { capturedA, PAID_AT_ISO, successB } from '../support/payments/gateway-events.ts'
import { REPAY } from '../support/payments/repaid-loan.ts'
import { AUTOMATIC, MANUAL, refund, reversing } from '../support/payments/reversals.ts'
import { until } from '../support/until.ts'

const WINDOW = { from: '2026-02-05T00:00:00Z', to: '2026-02-08T00:00:00Z' }

/** The row in which gateway B's reconciliation lists a refund of payment 1, or its reversal. */
const rowOfRefund = (event: object) => ({
  ...rowOfB('1', { event: { event_id: 'e1', event_amount: 300, ...event } }),
  refund_details: { refund_id: 'R-1' },
})

const MADE = rowOfRefund({ event_type: 'REFUND' })
const backOn = (day: number) =>
  rowOfRefund({ event_type: 'REFUND_REVERSAL', event_time: `2026-02-0${day}T20:00:00+05:30` })

/** A gateway that lists these rows on 5 and 7 February, as long as they are there. */
async function listing(t: Test, rows: { first: object[]; last: object[] }) {
  const { settings } = await oddGateway(t, asked => {
    if (asked.path !== '/pg/recon') return undefined
    const { start_date } = asked.body.filters
    if (start_date < '2026-02-06') return listOfB(rowOfB('1'), ...rows.first)(asked)
    return start_date < '2026-02-06T12' ? undefined : listOfB(...rows.last)(asked)
  })
  const service = await reversing(t, AUTOMATIC, settings)
  await service.signed(successB({ id: 1, loan: 'L-1' }))
  await service.batch()
  return {
    ...service,
    async fetched() {
      await fetchAll(service.call, 'gateway_b', WINDOW)
      await service.batch()
      return [await service.standing(), await service.shown('R-1', 'gateway_b')]
    },
  }
}

t.test('a refund and its reversal of one fetch deduct nothing, however often fetched', async t => {
  const service = await listing(t, { first: [MADE, backOn(5)], last: [] })
  for (let fetches = 0; fetches < 3; fetches++)
    t.same(await service.fetched(), [{ 1: 1_000 }, ['failed', null, null, null]])
})

t.test('rows of a refund and its later reversal, fetched again, say nothing new', async t => {
  const last: object[] = []
  const service = await listing(t, { first: [MADE], last })
  t.same(await service.fetched(), [{ '1-r2': 700 }, ['posted', null, null, null]])
  last.push(backOn(7))
  for (let fetches = 0; fetches < 3; fetches++)
    t.same(await service.fetched(), [{ '1-r2': 700 }, ['posted', null, 'taken_back', null]])
})

t.test('a day is not balanced while a payment of it is undone and not posted again', async t => {
  const service = await reversing(t, MANUAL)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  const row = `pay_1,1000.00,INR,captured,${PAID_AT_ISO},,,,,`
  const csv = `${STATEMENT_HEADER}\n${row}`
  await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  const day = async () => {
    const { days } = await reconciliation(service.call)
    return days.map((one: any) => [one.balanced, filled(one)])
  }
  await service.readBack()
  t.same(await day(), [[true, { posted: '1 1000.00' }]])
  await service.signed(refund({ paise: 30_000 }))
  await service.batch()
  await service.faults([{ kind: 'tooMany', match: REPAY }])
  t.match(await service.decide('rfnd_1', 'reverse'), { status: 200 })
  await until(async () => Object.keys(await service.standing()).length === 0, 'it is undone')
  t.same(await day(), [[false, { unchecked: '1 1000.00' }]])
  await service.faults([])
  await service.ended('rfnd_1')
  await service.readBack()
  t.same(await day(), [[true, { posted: '1 700.00', returned: '1 300.00' }]])
})
