import { dayText } from '../../day.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { Ledger } from '../../ledger/client.ts'
import { ACTIVE, type LedgerLoan, TAKE_REPAYMENTS } from '../../ledger/loan.ts'
import { lookUp } from '../../ledger/look-up.ts'
import { repaymentAmong } from '../../ledger/repayment.ts'
import { type LoanWithTransactions, loanWithTransactionsPath } from '../../ledger/transaction.ts'
import { type MigratedRepayment, repaymentOf } from '../kinds/migrated-repayment.ts'
import { dayOf } from '../upload/day-text.ts'
import type { Found } from './looker.ts'

type Row = { line: number; isLoanComing: boolean; steps: NewOperation[] }

/** Holds a loan's repayments against all its transactions, which are read at once. */
export async function lookAtRepayments(
  ledger: Ledger,
  loanExternalId: string,
  rows: Row[],
): Promise<Found[]> {
  const loan = await lookUp<LoanWithTransactions>(ledger, loanWithTransactionsPath(loanExternalId))
  return rows.map(({ line, isLoanComing, steps }) => {
    const repayment = repaymentOf(steps[0]?.data as MigratedRepayment)
    const held = repaymentAmong(loan?.transactions ?? [], repayment)
    if (held.state === 'there') return { line, finding: 'in_ledger', reason: null }
    if (held.state === 'differs') return { line, finding: 'differs', reason: held.how }
    const reason = isLoanComing ? null : objection(loan, repayment.day)
    return { line, finding: reason === null ? 'new' : 'refused', reason }
  })
}

function objection(loan: LedgerLoan | undefined, day: string): string | null {
  if (loan === undefined) return 'the ledger has no such loan'
  const { actualDisbursementDate } = loan.timeline
  if (loan.status.id < ACTIVE || actualDisbursementDate === undefined)
    return `the loan is not disbursed: ${loan.status.value}`
  if (!TAKE_REPAYMENTS.includes(loan.status.id))
    return `the loan takes no repayment: ${loan.status.value}`
  const disbursedOn = dayText(actualDisbursementDate)
  const isBefore = (dayOf(day)?.iso ?? '') < (dayOf(disbursedOn)?.iso ?? '')
  return isBefore ? `the loan was disbursed later, on ${disbursedOn}` : null
}
