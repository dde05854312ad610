import { setTimeout } from 'node:timers/promises'
import { LedgerTrouble } from '../../ledger/answer.ts'
import type { RowFinding } from '../kinds/looker.ts'
import { type DryRunner, type LoanRows, lookAtLoan } from './look-at-loan.ts'

/** A read may fail by chance. If it fails this often in a row, the loan itself is the cause. */
const MAX_TRIES = 3
const TRY_AGAIN_MS = 250
const MAX_PAUSE_MS = 60_000

/**
 * @returns findings of `unknown` if only this loan cannot be read @throws LedgerTrouble if the ledger as a
 * whole does not answer
 */
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
      await setTimeout(pauseAskedFor(error), undefined, { signal: stopping })
      // In a slot, because a probe is a call like any other.
      if (!(await runner.slots.run('bulk', runner.ledger.probe))) throw error
      if (tries === MAX_TRIES) return loan.rows.map(({ line }) => unread(line, error as Error))
    }
    await setTimeout(TRY_AGAIN_MS, undefined, { signal: stopping })
  }
}

function pauseAskedFor(error: unknown): number {
  const { retryAfterMs = 0 } = error instanceof LedgerTrouble ? error.answer : {}
  return Math.min(retryAfterMs, MAX_PAUSE_MS)
}

const unread = (line: number, { message }: Error): RowFinding => ({
  line,
  finding: 'unknown',
  reason: `the ledger could not be read: ${message}`,
})
