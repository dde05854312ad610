import { sql } from 'kysely'
import type { Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { insertOperations, newOperation } from '../../../src/engine/accept.ts'
import { trackingId } from '../../../src/engine/operation.ts'
import { newId } from '../../../src/ids.ts'
import { type Reversal, reversalIntake } from '../../../src/payments/repayment/reversal-intake.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import type { Preparation, TestService } from '../service.ts'
import { until } from '../until.ts'
import { paymentService } from './payments.ts'

const DAY = '2024-02-15'
const ON_LOAN = '/loans/external-id/L-1/transactions'

export const UNDO = { method: 'POST', path: '/transactions/external-id/' }
export const REPAY = { method: 'POST', path: '/transactions$' }

type Named = { external_id: string; amount: string }

/** A repayment of 1000 on the loan L-1, `gateway_a-pay_1`, and what is done to it. */
export async function repaidLoan(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
  preparation: Preparation = {},
) {
  const service = await paymentService(t, changes, preparation)
  await service.loan('L-1')
  const book = (externalId: string, transactionAmount = 1_000, transactionDate = DAY) =>
    service.ledgerCall('POST', `${ON_LOAN}?command=repayment`, {
      ...dated,
      transactionDate,
      transactionAmount,
      externalId,
      paymentTypeId: 1,
      receiptNumber: 'pay_1',
    })
  await book('gateway_a-pay_1')
  return {
    ...service,
    book,
    undoByHand: (externalId = 'gateway_a-pay_1', amount = 0) =>
      service.ledgerCall('POST', `${ON_LOAN}/external-id/${externalId}`, {
        ...dated,
        transactionAmount: amount,
      }),
    chargeBack: () =>
      service.ledgerCall('POST', `${ON_LOAN}/external-id/gateway_a-pay_1?command=chargeback`, {
        transactionAmount: 100,
        locale: 'en',
      }),
    writeOff: () =>
      service.ledgerCall('POST', `${ON_LOAN}?command=writeoff`, {
        transactionDate: DAY,
        dateFormat: 'yyyy-MM-dd',
        locale: 'en',
      }),
    /** @returns the tracking id */
    reverse: async (of: Partial<Reversal> = {}) =>
      (await reverseAll(service, [reversal(of)]))[0] as string,
    /** Accepted together, in this order. @returns the tracking ids */
    reverseAll: (of: Partial<Reversal>[]) => reverseAll(service, of.map(reversal)),
    /** Waits for its end. `undone`: the transaction of the repayment that it undid, if not all is done. */
    ended: (id: string) =>
      until(async () => {
        const { body } = await service.call(
          'GET',
          `/api/ledger/operations/${encodeURIComponent(id)}`,
        )
        return body.status !== 'processing' && { ...body, undone: await undoneBy(service.db, id) }
      }, `the end of ${id}`),
    /** Waits until it waits for `reason`. */
    waits: (id: string, reason: string) =>
      until(async () => {
        const { body } = await service.call(
          'GET',
          `/api/ledger/operations/${encodeURIComponent(id)}`,
        )
        return body.waiting_for === reason
      }, `${id} waits for ${reason}`),
    /** What stands on the loan: external id, amount, day and receipt number. */
    standing: async () =>
      (await service.books()).transactions
        .filter(one => one.type === 'repayment' && !one.reversed)
        .map(({ externalId, amount, date, receiptNumber }) =>
          [externalId, amount, date, receiptNumber].join(' '),
        ),
    outstanding: async () => (await service.books()).loans[0]?.outstanding,
  }
}

async function undoneBy(db: Database, id: string): Promise<string | null> {
  const { rows } = await sql<{ undone: string | null }>`
    select seen ->> 'undone' as undone from loanops.operation
     where id = ${id.split('|')[1]}`.execute(db)
  return rows[0]?.undone ?? null
}

const dated = { transactionDate: DAY, dateFormat: 'yyyy-MM-dd', locale: 'en' }

export const remainder = (amount: string, number = 2): Named => ({
  external_id: `gateway_a-pay_1${number > 1 ? `-r${number}` : ''}`,
  amount,
})

function reversal(of: Partial<Reversal>): Reversal {
  return {
    transaction_id: newId(),
    external_loan_id: 'L-1',
    receipt_number: 'pay_1',
    repayment: { external_id: 'gateway_a-pay_1', amount: '1000' },
    remainder: null,
    ...of,
  }
}

async function reverseAll(
  { db, databaseUrl }: Pick<TestService, 'db' | 'databaseUrl'>,
  reversals: Reversal[],
): Promise<string[]> {
  const boss = openQueue(databaseUrl, { isWorker: false, name: 'test', onError() {} })
  await boss.start()
  const operations = reversals.map(one => newOperation(reversalIntake, one, null))
  await db.transaction().execute(trx => insertOperations(trx, boss, 'payment', operations))
  await boss.stop({ graceful: false })
  return operations.map(trackingId)
}
