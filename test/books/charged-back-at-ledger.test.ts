import t, { type Test } from 'tap'
import { serviceWithPosted } from '../support/books/readback.ts'
import { filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { dispute } from '../support/payments/reversals.ts'

// Each waits for a worker that looks every two seconds.
t.jobs = 4

const FOUND = { state: 'posted', objection: null, detail: null }

async function posted(t: Test) {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  return {
    ...service,
    async chargeBack(transactionAmount: number): Promise<number> {
      const path = '/loans/external-id/L-1/transactions/external-id/gateway_a-pay_1'
      const body = { transactionAmount, locale: 'en' }
      return (await service.ledgerCall('POST', `${path}?command=chargeback`, body)).body.resourceId
    },
  }
}

t.test('a repayment that was charged back is an objection that names each chargeback', async t => {
  const service = await posted(t)
  const objection = { state: 'posted', objection: 'differs_at_ledger' }
  const first = await service.chargeBack(400)
  t.match(await service.readBack(), {
    loans: 1,
    payments: 2,
    reversed: 0,
    missing: 0,
    differing: 1,
  })
  const detail = `400 of it was charged back there as transaction ${first}`
  t.match(await service.stateOf('pay_1'), { ...objection, detail })
  t.match(await service.stateOf('pay_2'), FOUND)
  t.match(await service.resolve('pay_1', { outcome: 'dismiss', note: 'the payer knows' }), {
    body: { objection: null },
  })
  t.match(await service.readBack(), { differing: 0 }, 'the same chargeback is not news')

  const second = await service.chargeBack(600)
  t.match(await service.check('pay_1'), {
    body: {
      ...objection,
      detail: `${detail}, 600 of it was charged back there as transaction ${second}`,
    },
  })
})

t.test('the books count what a chargeback at the ledger left', async t => {
  const service = await posted(t)
  const row = (id: string) => `${id},1000.00,INR,captured,${PAID_AT_ISO},,,,,`
  const csv = [STATEMENT_HEADER, row('pay_1'), row('pay_2')].join('\n')
  await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  await service.readBack()
  const day = async () => {
    const { days } = await reconciliation(service.call)
    return days.map((one: any) => [one.balanced, filled(one)])
  }
  t.same(await day(), [[true, { posted: '2 2000.00' }]])
  await service.chargeBack(400)
  await service.readBack()
  t.same(await day(), [[false, { posted: '2 1600.00', missing: '1 400.00' }]])
  await service.resolve('pay_1', { outcome: 'dismiss', note: 'the payer knows' })
  t.same(await day(), [[true, { posted: '2 1600.00', handled: '1 400.00' }]])
})

t.test('a chargeback that is named as what was booked for a dispute is no objection', async t => {
  const service = await posted(t)
  await service.webhook('gateway_a', dispute('lost'), { lender: 'LENDER_02' })
  await service.batch()
  const back = await service.chargeBack(1_000)
  const handled = { outcome: 'handled', note: 'charged back', ledger_transaction_id: back }
  t.equal((await service.resolve('disp_1', handled)).status, 200)
  await service.resolve('pay_1', { outcome: 'dismiss', note: 'the dispute is lost' })
  t.match(await service.readBack(), { differing: 0 })
  t.match(await service.stateOf('pay_1'), { state: 'posted', objection: null })
  t.match(await service.readBack(), { differing: 0 }, 'it stays so')
  t.match(await service.stateOf('pay_1'), { state: 'posted', objection: null })
})

t.test('a chargeback takes no payer’s money', async t => {
  const service = await posted(t)
  const back = await service.chargeBack(1_000)
  await service.send('pay_3', 'L-unknown')
  await service.batch()
  const handled = { external_loan_id: 'L-1', ledger_transaction_id: back }
  t.match(await service.resolve('pay_3', { outcome: 'handled', note: 'seen', ...handled }), {
    status: 409,
    body: { detail: `Transaction ${back} (Chargeback) takes no payer’s money` },
  })
})
