import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import type { Final } from '../../../src/engine/finish/finish.ts'
import type { Metrics } from '../../../src/ops/metrics.ts'
import { paymentsFeature } from '../../../src/payments/payments-feature.ts'
import { recordPostings } from '../../../src/payments/repayment/record-postings.ts'
import { reversalIntake } from '../../../src/payments/repayment/reversal-intake.ts'
import { waitingTransaction } from '../../support/database/locks.ts'
import { untilSessionsWait } from '../../support/database/sessions.ts'
import { ending, submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { capturedA, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

t.test('a live result overtakes a refused repayment that waits to settle its payment', async t => {
  const service = await paymentService(t)
  await service.loan('L-1', { until: 'approved' })
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  const tracked = await service.db.transaction().execute(async trx => {
    await sql`select core.lock_settling()`.execute(trx)
    await service.faults([])
    const waiting = await until(() => waitingTransaction(service.db), 'the refusal waits')
    const id = await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
    const tracked = await ending(service.call, id)
    t.equal(await waitingTransaction(service.db), waiting, 'and it still does')
    return tracked
  })
  t.match(tracked, { status: 'success' })
  const payment = await until(async () => {
    const { payment } = await service.payment('pay_1')
    return payment.state === 'suspense' && payment
  }, 'the payment is settled')
  t.match(payment, { reason: 'loan_not_active' })
})

t.test('results of several gateways lock payments in the order of their settling', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.call('POST', '/api/ledger/pause', { reason: 'x' })
  await service.webhook('gateway_b', successB({ id: 'pay_1', loan: 'L-1' }), {
    lender: 'LENDER_02',
  })
  await service.webhook('gateway_a', capturedA({ id: 'pay_2', loan: 'L-1' }), {
    lender: 'LENDER_02',
  })
  await service.batch()
  const ended = await succeeding(service.db)
  let recording: Promise<unknown> | undefined
  await service.db.transaction().execute(async trx => {
    await sql`
      select from core.transaction where gateway = 'gateway_a' for update`.execute(trx)
    recording = service.db.transaction().execute(other => recordPostings(other, ended))
    await untilSessionsWait(service.db)
    const { rows: free } = await sql`
      select from core.transaction where gateway = 'gateway_b' for update skip locked`.execute(trx)
    t.equal(free.length, 1)
  })
  await recording
})

t.test(
  'a repayment and a reversal that end together lock no payment while somebody settles',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.call('POST', '/api/ledger/pause', { reason: 'x' })
    await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
    await service.batch()
    const [posted] = await succeeding(service.db)
    if (posted === undefined) throw new Error('nothing is being posted')
    const data = { transaction_id: randomUUID(), remainder: null }
    const reversed = {
      ...posted,
      claim: { ...posted.claim, id: randomUUID(), operationType: reversalIntake.name, data },
    }
    let recording: Promise<unknown> | undefined
    await service.db.transaction().execute(async trx => {
      await sql`select core.lock_settling()`.execute(trx)
      recording = service.db
        .transaction()
        .execute(async other =>
          paymentsFeature.onFinal?.record(other, [posted, reversed], {} as Metrics),
        )
      await untilSessionsWait(service.db)
      const { rows: free } = await sql`
        select from core.transaction for update skip locked`.execute(trx)
      t.equal(free.length, 1)
    })
    await recording
    t.match((await service.payment('pay_1')).payment, { state: 'posted' })
  },
)

/** All operations, as if each had just succeeded. */
async function succeeding(db: Database): Promise<Final[]> {
  const { rows } = await sql<Final['claim']>`
    select id, operation_type as "operationType", origin, subject, data
     from loanops.operation`.execute(db)
  return rows.map(claim => ({
    claim,
    decision: { status: 'success', response: { resourceId: 1 } },
  }))
}
