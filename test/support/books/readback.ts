import { sql } from 'kysely'
import type { Test } from 'tap'
import { readbackQueue } from '../../../src/books/readback/queue.ts'
import type { Database } from '../../../src/database/database.ts'
import { newId } from '../../../src/ids.ts'
import { DATES } from '../ledger/ledger-driver.ts'
import { capturedA } from '../payments/gateway-events.ts'
import { type PaymentService, paymentService } from '../payments/payments.ts'
import { wake } from '../queue/wake.ts'
import { until } from '../until.ts'

/** The service with these payments of 1,000 posted to L-1, and what is done to them at the ledger. */
export async function serviceWithPosted(t: Test, ids: string[], changes: NodeJS.ProcessEnv = {}) {
  const service = await paymentService(t, changes)
  await service.loan('L-1')
  for (const id of ids) await sendPayment(service, id)
  await service.batch()
  // A batch ends without an answer that comes too late.
  for (const id of ids) await service.ended(id)
  return withReadback(service)
}

export function withReadback(service: PaymentService) {
  return {
    ...service,
    send: (id: string, loan?: string) => sendPayment(service, id, loan),
    undo: (externalId: string) => service.undoAt('L-1', externalId),
    bookByHand: (receiptNumber: string, transactionAmount = 1_000, more = {}) =>
      service.bookAt('L-1', transactionAmount, { receiptNumber, paymentTypeId: 1, ...more }),
    undoDisbursal: () =>
      service.ledgerCall('POST', '/loans/external-id/L-1?command=undodisbursal', DATES),
    /** Leaves the ledger without any repayment, as one that was restored from a backup. */
    async restore() {
      await fetch(`${service.ledger.controlUrl}/reset`, { method: 'POST' })
      await service.loan('L-1')
    },
    readBack: () => readBack(service.db),
    check: (id: string, gateway = 'gateway_a') =>
      service.call('POST', `/api/payments/${gateway}/${id}/check`),
    stateOf: async (id: string) => (await service.payment(id)).payment,
  }
}

function sendPayment(service: PaymentService, id: string, loan = 'L-1') {
  return service.webhook('gateway_a', capturedA({ id, loan }), { lender: 'LENDER_02' })
}

/** Has a worker read back what is posted, and waits for the end. @returns the run */
export async function readBack(db: Database) {
  const id = await requestReadback(db)
  return until(async () => {
    const run = await readbackRun(db, id)
    return run.status === 'completed' ? run : undefined
  }, 'the run ends')
}

/** Asks for a run as the schedule does, which may have been first. @returns the run that waits */
export async function requestReadback(db: Database): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with requested as (
      insert into core.readback_run (id, trigger) values (${newId()}, 'schedule') on conflict do nothing returning id
    )
    select id from requested union all select id from core.readback_run
     where status = 'waiting'`.execute(db)
  await wake(db, readbackQueue)
  return (rows[0] as { id: string }).id
}

export async function readbackRun(db: Database, id: string): Promise<any> {
  const { rows } = await sql`
    select run_id, status, loans::integer, payments::integer, reversed::integer, missing::integer, differing::integer,
           failed::integer, last_error
      from ops.readback_run where run_id = ${id}`.execute(db)
  return rows[0]
}
