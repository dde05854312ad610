import t, { type Test } from 'tap'
import { withReadback } from '../support/books/readback.ts'
import { filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { DATES } from '../support/ledger/ledger-driver.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { MANUAL, refund, withSigned } from '../support/payments/reversals.ts'

const end = 'setl_1,2026-02-07T12:00:00+05:30,UTR1'
const row = (id: string) => `${id},1000.00,INR,captured,2026-02-05T10:00:00+05:30,20.00,3.60,${end}`
/** The gateway's report: one for the account, with the payments of both lenders. */
const REPORT = [STATEMENT_HEADER, row('pay_2'), row('pay_6')].join('\n')
const A_REPORT = [
  'type,entity_id,payment_id,amount,currency,fee,tax,debit,credit,created_at,settlement_id,settled_at,settlement_utr',
  ...['pay_2', 'pay_6'].map(
    id => `payment,${id},,1000,INR,23.6,3.6,0,976.4,2026-02-05T10:00:00,${end}`,
  ),
  `refund,rfnd_6,pay_6,50,INR,0,0,50,0,2026-02-06T10:00:00,${end}`,
].join('\n')

/** A payment of each of two lenders, and what the books and settlements say of them. */
async function twoLenders(t: Test) {
  const trust = { LENDER_02: { gateway_a: MANUAL }, LENDER_06: { gateway_a: MANUAL } }
  const settings = { LENDERS_FILE: lendersFile(t, trust), S: 'secret' }
  const service = withSigned(withReadback(await paymentService(t, settings)))
  await service.loan('L-2')
  await service.loan('L-6', { product: 6 })
  return {
    ...service,
    async receive() {
      for (const n of [2, 6]) {
        const event = capturedA({ id: `pay_${n}`, loan: `L-${n}` })
        await service.webhook('gateway_a', event, { lender: `LENDER_0${n}` })
      }
      await service.batch()
      for (const n of [2, 6]) await service.check(`pay_${n}`)
    },
    async upload(lender: string, report: string) {
      const path = `gateway_a/statement?lender=${lender}`
      const { status, body } = await uploadStatement(service.url, path, report)
      if (status !== 201 || body.invalid_rows > 0) throw new Error(JSON.stringify(body))
    },
    days: async () =>
      (await reconciliation(service.call)).days.map((day: any) => ({
        lender: day.lender,
        captured: day.captured?.amount ?? null,
        balanced: day.balanced,
        filled: filled(day),
      })),
    /** The settlement's share of each lender, in the order of their codes. */
    settlements: async () =>
      (await service.call('GET', '/api/settlements?utr=UTR1')).body.settlements.reverse(),
  }
}

const posted = (lender: string, captured: string | null) => ({
  lender,
  captured,
  balanced: captured !== null,
  filled: { posted: '1 1000.00' },
})

t.test('a report of a shared account leaves each payment in its own lender’s books', async t => {
  const service = await twoLenders(t)
  await service.receive()
  await service.upload('LENDER_02', REPORT)
  t.same(await service.days(), [posted('LENDER_02', '1000.00'), posted('LENDER_06', null)])
  await service.upload('LENDER_06', REPORT)
  t.same(await service.days(), [posted('LENDER_02', '1000.00'), posted('LENDER_06', '1000.00')])
  const each = { payments: 1, paid_out: '976.40', adds_up: true }
  t.match(await service.settlements(), [
    { lender: 'LENDER_02', ...each },
    { lender: 'LENDER_06', ...each },
  ])
})

t.test('a payment that comes after its report is in its own lender’s books', async t => {
  const service = await twoLenders(t)
  await service.upload('LENDER_02', REPORT)
  t.match(await service.settlements(), [{ lender: 'LENDER_02', payments: 2 }])
  await service.receive()
  t.same(await service.days(), [posted('LENDER_02', '1000.00'), posted('LENDER_06', null)])
  t.match(await service.settlements(), [
    { lender: 'LENDER_02', payments: 1 },
    { lender: 'LENDER_06', payments: 1 },
  ])
})

t.test('a refund in a report is taken off the settlement of its payment’s lender', async t => {
  const service = await twoLenders(t)
  await service.receive()
  await service.upload('LENDER_02', A_REPORT)
  t.match(await service.settlements(), [
    { lender: 'LENDER_02', refunds: '0', adds_up: true },
    { lender: 'LENDER_06', refunds: '50', paid_out: '926.4', adds_up: true },
  ])
})

t.test('an unverified event moves nothing out of the books of a report’s lender', async t => {
  const service = await twoLenders(t)
  await service.receive()
  await service.webhook('gateway_a', capturedA({ id: 'pay_7', loan: 'L-2' }), {
    lender: 'LENDER_07',
  })
  await service.batch()
  t.match((await service.payment('pay_7')).payment, { reason: 'lender_mismatch' })
  await service.upload('LENDER_02', [STATEMENT_HEADER, row('pay_2'), row('pay_7')].join('\n'))
  const ours = { lender: 'LENDER_02', captured: '2000.00' }
  t.match(await service.days(), [
    { ...ours, balanced: false, filled: { posted: '1 1000.00', suspense: '1 1000.00' } },
    { lender: 'LENDER_06' },
  ])
  t.match(await service.settlements(), [{ lender: 'LENDER_02', payments: 2 }])
  t.equal((await service.assign('pay_7', 'L-2')).status, 200)
  await service.batch()
  await service.check('pay_7')
  t.match(await service.days(), [
    { ...ours, balanced: true, filled: { posted: '2 2000.00' } },
    { lender: 'LENDER_06' },
  ])
})

t.test('a payment that was undone at the ledger stays in its own lender’s books', async t => {
  const service = await twoLenders(t)
  await service.receive()
  await service.ledgerCall(
    'POST',
    '/loans/external-id/L-6/transactions/external-id/gateway_a-pay_6',
    { transactionDate: '2026-02-05', transactionAmount: 0, ...DATES },
  )
  await service.check('pay_6')
  t.match((await service.payment('pay_6')).payment, { reason: 'reversed_at_ledger' })
  const bucket = async (name: string) => {
    for (const lender of ['LENDER_06', 'LENDER_02']) await service.upload(lender, REPORT)
    t.match(await service.days(), [
      posted('LENDER_02', '1000.00'),
      { lender: 'LENDER_06', captured: '1000.00', filled: { [name]: '1 1000.00' } },
    ])
  }
  await bucket('suspense')
  await service.resolve('pay_6', { outcome: 'dismiss', note: 'not ours' })
  await bucket('dismissed')
})

t.test('a payment that went back stays in its own lender’s books', async t => {
  const service = await twoLenders(t)
  await service.receive()
  await service.webhook('gateway_a', refund({ of: 'pay_6' }), { lender: 'LENDER_06' })
  await service.batch()
  await service.decide('rfnd_1', 'reverse')
  await service.ended('rfnd_1')
  for (const lender of ['LENDER_06', 'LENDER_02']) await service.upload(lender, REPORT)
  t.match(await service.days(), [
    posted('LENDER_02', '1000.00'),
    { lender: 'LENDER_06', captured: '1000.00', filled: { returned: '1 1000.00' } },
  ])
})
