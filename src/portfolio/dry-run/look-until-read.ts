import { setTimeout as sleep } from 'node:timers/promises'
import { READ_AGAIN_MS, READ_TRIES, retryAfterOf } from '../../ledger/answers/read-tries.ts'
import type { RowFinding } from '../kinds/looker.ts'
import { type DryRunner, type LoanRows, lookAtLoan } from './look-at-loan.ts'

/** @throws LedgerTrouble if the ledger as a whole does not answer */
export async function lookUntilRead(
  runner: DryRunner,
  loan: LoanRows,
  stopping: AbortSignal,
): Promise<RowFinding[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await lookAtLoan(runner, loan, stopping)
    } catch (error) {
      if (stopping.aborted) throw error
      await sleep(retryAfterOf(error), undefined, { signal: stopping })
      if (!(await runner.slots.run('bulk', runner.ledger.probe))) throw error
      if (tries === READ_TRIES) return loan.rows.map(({ line }) => unread(line, error as Error))
    }
    await sleep(READ_AGAIN_MS, undefined, { signal: stopping })
  }
}

const unread = (line: number, { message }: Error): RowFinding => ({
  line,
  finding: 'unknown',
  reason: `the ledger could not be read: ${message}`,
})
