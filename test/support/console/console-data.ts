import { sql } from 'kysely'
import { capturedA, refundA } from '../payments/gateway-events.ts'
import { runBatch } from '../payments/payments.ts'
import { migrateCsv } from '../portfolio/migrate.ts'
import { loansCsv } from '../portfolio/rows.ts'
import { caller, operate, type TestService } from '../service.ts'

/** A loan of LENDER_02, without its ids. */
export const LOAN = {
  lenderConfig: 'LENDER_02',
  principal: 50000,
  submittedOnDate: '10 January 2026',
  loanTermFrequency: 12,
  numberOfRepayments: 12,
  interestRatePerPeriod: 18,
}

/** What a console shows on a quiet day: two loans, payments of every kind, and a refusal. */
export async function fillConsole(url: string): Promise<void> {
  const call = caller(url)
  await operate(call, 'CLIENT_CREATE', {
    firstname: 'Asha',
    lastname: 'Rao',
    externalId: 'C-1001',
    activationDate: '05 January 2026',
  })
  for (const externalId of ['L-1001', 'L-1002']) {
    await operate(call, 'LOAN_CREATE', { ...LOAN, externalId, clientId: 'C-1001' })
    await operate(call, 'LOAN_APPROVE', {
      external_loan_id: externalId,
      approvedOnDate: '12 January 2026',
    })
    await operate(call, 'LOAN_DISBURSE', {
      external_loan_id: externalId,
      actualDisbursementDate: '13 January 2026',
      utr_payment_id: `UTR-${externalId}`,
    })
  }
  await operate(call, 'LOAN_APPROVE', {
    external_loan_id: 'L-9',
    approvedOnDate: '12 January 2026',
  })
  for (const event of [
    capturedA({ id: 'pay_posted', amount: 458_400, loan: 'L-1001' }),
    capturedA({ id: 'pay_nobody', amount: 1_234_550, notes: { order: 'unpaid <b>bill</b>' } }),
    capturedA({ id: 'pay_unknown_loan', amount: 99_900, loan: 'L-77' }),
  ])
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  // What is posted by then stays posted, and the refund is an objection to it.
  await runBatch(call)
  const refund = refundA({ id: 'rfnd_1', of: 'pay_posted' })
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', refund)
  await runBatch(call)
}

/** A payment that only its gateway's statement has. */
export const MISSING = {
  gateway: 'gateway_a',
  gateway_payment_id: 'pay_missing',
  lender: 'LENDER_02',
  amount: '77.00',
  currency: 'INR',
  status: 'captured',
  captured_at: new Date(),
  source: 'api',
}

/** What a quiet day lacks: one each of a payment that is missing, undone, denied or waiting, and a row that failed. */
export async function addTroubles(service: TestService): Promise<void> {
  const { db, call } = service
  await db.insertInto('core.statement').values(MISSING).execute()
  for (const id of ['pay_undone', 'pay_denied', 'pay_waiting'])
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', capturedA({ id, notes: {} }))
  await runBatch(call)
  await sql`
    update core.transaction set state = f.state, reason = f.reason, unconfirmed = f.unconfirmed, paid_at = now()
      from (values ('pay_undone', 'suspense', 'reversed_at_ledger', null), ('pay_denied', 'suspense', 'not_at_gateway', 'denied'),
        ('pay_waiting', 'waiting', null, 'unasked')) f (id, state, reason, unconfirmed)
     where gateway_payment_id = f.id`.execute(db)
  await sql`
    insert into core.balanced_day (day, lender, gateway, currency, lost_at)
    values ('2026-02-01', 'LENDER_02', 'gateway_a', 'INR', now())`.execute(db)
  await migrateCsv(service, 'loans', loansCsv({ loan_external_id: 'L-1001' }))
}
