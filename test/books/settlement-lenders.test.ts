import t, { type Test } from 'tap'
import { sweepWithdrawn } from '../../src/books/statements/sweep-withdrawn.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway, settledOfA } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { uploadStatement } from '../support/books/statements.ts'
import { startTestService } from '../support/service.ts'

const REPORT = [
  'transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr',
  'payment,pay_1,1000.00,INR,20.00,3.60,0.0,976.40,2026-02-05T10:00:00,setl_1,2026-02-07T12:00:00,UTR1',
  'refund,rfnd_1,50.0,INR,0.0,0.0,50.0,0.0,2026-02-06T10:00:00,setl_1,2026-02-07T12:00:00,UTR1',
].join('\n')

/** A settlement of one payment, a refund of a payment that is not known here, and perhaps an adjustment. */
async function withSettlement(t: Test, lender: string, ...more: object[]) {
  const rows = [
    settledOfA('pay_1', 'payment', { amount: 100_000, fee: 2_360, tax: 360, credit: 97_640 }),
    settledOfA('rfnd_1', 'refund', { amount: 5_000, debit: 5_000, payment_id: 'pay_0' }),
    ...more,
  ]
  const { settings } = await oddGateway(t, ({ path, query }) => {
    if (path === '/v1/payments') return { items: [itemOfA('pay_1', { notes: { lender } })] }
    const isItsDay = path.startsWith('/v1/settlements') && query.get('day') === '5'
    return isItsDay ? { items: rows } : undefined
  })
  const service = await startTestService(t, settings)
  return {
    ...service,
    fetch: (wanted = {}) => fetchAll(service.call, 'gateway_a', { ...ALL_DAY, ...wanted }),
    async upload(lender: string): Promise<string> {
      const path = `gateway_a/statement?lender=${lender}`
      return (await uploadStatement(service.url, path, REPORT)).body.statement_id
    },
    async withdraw(id: string) {
      await service.call('DELETE', `/api/gateways/gateway_a/statements/${id}`)
      await sweepWithdrawn(service.db)
    },
    settlements: async () =>
      (await service.call('GET', '/api/settlements?utr=UTR1')).body.settlements,
  }
}

const whole = (lender: string) => [{ lender, payments: 1, paid_out: '926.40', adds_up: true }]

t.test('a report uploaded for the wrong lender moves as a whole to the right one', async t => {
  const service = await withSettlement(t, 'LENDER_02')
  const wrong = await service.upload('LENDER_03')
  t.match(await service.settlements(), whole('LENDER_03'))
  await service.upload('LENDER_02')
  t.match(await service.settlements(), whole('LENDER_02'))
  await service.withdraw(wrong)
  t.match(await service.settlements(), whole('LENDER_02'))
})

t.test('a fetch takes a settlement out of the books of a wrong report’s lender', async t => {
  const service = await withSettlement(t, 'LENDER_02')
  const wrong = await service.upload('LENDER_03')
  await service.fetch()
  t.match(await service.settlements(), whole('LENDER_02'))
  await service.withdraw(wrong)
  await service.fetch()
  t.match(await service.settlements(), whole('LENDER_02'))
})

t.test('a fetch for one lender leaves others’ settlement parts with their payments', async t => {
  const fee = settledOfA('adj_1', 'adjustment', { amount: 1_250, debit: 1_250 })
  const service = await withSettlement(t, 'LENDER_03', fee)
  await service.fetch({ lender: 'LENDER_02' })
  await service.fetch()
  t.match(await service.settlements(), [{ ...whole('LENDER_03')[0], paid_out: '913.90' }])
})
