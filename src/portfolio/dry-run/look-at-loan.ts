import type { Slots } from '../../ledger/slots/slots.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'
import type { Looker, RowFinding, RowToLookAt } from '../kinds/looker.ts'

export type DryRunner = Looker & { slots: Slots; kinds: Kinds }

export type LoanRows = { loan: string; kind: ReadyKind; rows: RowToLookAt[] }

export function lookAtLoan(
  runner: DryRunner,
  { loan, kind, rows }: LoanRows,
  stopping: AbortSignal,
): Promise<RowFinding[]> {
  return runner.slots.run('bulk', async () => {
    stopping.throwIfAborted()
    return kind.look(runner, rows, loan)
  })
}
