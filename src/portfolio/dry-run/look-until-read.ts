import { setTimeout as sleep } from 'node:timers/promises'
import { READ_AGAIN_MS, READ_TRIES, retryAfterOf } from '../../ledger/answers/read-tries.ts'
import type { Slots } from '../../ledger/slots/slots.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'
import type { Looker, RowFinding, RowToLookAt } from '../kinds/looker.ts'

export type DryRunner = Looker & { slots: Slots; kinds: Kinds }

type LoanRows = { loan: string; kind: ReadyKind; rows: RowToLookAt[] }

/** @throws LedgerTrouble if the ledger as a whole does not answer */
export async function lookUntilRead(
  runner: DryRunner,
  { loan, kind, rows }: LoanRows,
  stopping: AbortSignal,
): Promise<RowFinding[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await runner.slots.run('bulk', () => {
        stopping.throwIfAborted()
        return kind.look(runner, rows, loan)
      })
    } catch (error) {
      if (stopping.aborted) throw error
      await sleep(retryAfterOf(error), undefined, { signal: stopping })
      if (!(await runner.slots.run('bulk', runner.ledger.probe))) throw error
      if (tries === READ_TRIES) return rows.map(({ line }) => unread(line, error as Error))
    }
    await sleep(READ_AGAIN_MS, undefined, { signal: stopping })
  }
}

const unread = (line: number, { message }: Error): RowFinding => ({
  line,
  finding: 'unknown',
  reason: `the ledger could not be read: ${message}`,
})
