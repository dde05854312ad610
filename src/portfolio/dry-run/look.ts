import { fieldsOf, type MigrationType } from '../kinds/kind.ts'
import { lookAtLoanRow } from './look-at-loan.ts'
import { lookAtRepayments } from './look-at-repayments.ts'
import type { Found, Looker } from './looker.ts'

export type RowToLookAt = {
  line: number
  cells: string
  type: MigrationType
  columns: string[]
  /** A run brings this loan, and has not yet. */
  isLoanComing: boolean
}

/** What a run would do with the rows of one loan. Reads in the slots that batches and migrations have. */
export function lookAtLoan(
  looker: Looker,
  loan: string,
  rows: RowToLookAt[],
  stopping: AbortSignal,
): Promise<Found[]> {
  const read = rows.map(({ line, type, cells, columns, isLoanComing }) => {
    const fields = fieldsOf(columns, JSON.parse(cells) as string[])
    return { line, isLoanComing, steps: looker.kinds[type].steps(fields) }
  })
  return looker.slots.run('bulk', async () => {
    stopping.throwIfAborted()
    return rows[0]?.type === 'loans'
      ? Promise.all(
          read.map(async ({ line, steps }) => ({ line, ...(await lookAtLoanRow(looker, steps)) })),
        )
      : lookAtRepayments(looker.ledger, loan, read)
  })
}
