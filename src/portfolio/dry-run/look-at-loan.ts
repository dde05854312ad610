import { fieldsOf } from '../../csv/fields.ts'
import type { Slots } from '../../ledger/slots.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'
import type { ComingLoan, Looker, RowFinding } from '../kinds/looker.ts'

export type DryRunner = Looker & { slots: Slots; kinds: Kinds }

export type Row = { line: number; cells: string; comingLoan: ComingLoan | null }
export type LoanRows = { loan: string; kind: ReadyKind; columns: string[]; rows: Row[] }

export function lookAtLoan(
  runner: DryRunner,
  { loan, kind, columns, rows }: LoanRows,
  stopping: AbortSignal,
): Promise<RowFinding[]> {
  const read = rows.map(({ line, cells, comingLoan }) => {
    const fields = fieldsOf(columns, JSON.parse(cells) as string[])
    return { line, comingLoan, steps: kind.steps(fields) }
  })
  return runner.slots.run('bulk', async () => {
    stopping.throwIfAborted()
    return kind.look(runner, read, loan)
  })
}
