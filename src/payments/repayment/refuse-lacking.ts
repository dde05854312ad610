import type { Attempt } from '../../engine/operation.ts'
import { lagging } from '../../ledger/answers/lagging.ts'
import type { Done } from '../../ledger/calls/client.ts'
import type { LoanWithTransactions } from '../../ledger/loans/loan-calls.ts'
import { repaymentIntake } from './repayment-intake.ts'
import { reversalIntake } from './reversal-intake.ts'

/** The operations whose result is a transaction of the loan. */
const BOOKING = [repaymentIntake.name, reversalIntake.name, 'MIGRATED_REPAYMENT']

/**
 * A repayment that a replica does not show yet may be the same payment under another external id, which the ledger would
 * accept. @throws LedgerTrouble
 */
export async function refuseLackingRepayments(
  attempt: Attempt,
  { path, body: { transactions = [] } }: Pick<Done<LoanWithTransactions>, 'path' | 'body'>,
): Promise<void> {
  const { done } = await attempt.recentlyDone()
  // The ledger may have booked earlier ones anew under another number.
  const last = done.findLast(({ operationType }) => BOOKING.includes(operationType))?.recordId
  if (last && !transactions.some(({ id }) => String(id) === last)) throw lagging(path)
}
