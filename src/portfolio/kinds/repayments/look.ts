import { dayOf } from '../../../csv/day-cell.ts'
import { dayText } from '../../../day.ts'
import { ACTIVE, type LedgerLoan, TAKE_REPAYMENTS } from '../../../ledger/loan.ts'
import { findLoanWithTransactions } from '../../../ledger/loan-calls.ts'
import { type LedgerRepayment, repaymentAmong } from '../../../ledger/repayment.ts'
import { roundingRefusal } from '../../../operations/rounding-refusal.ts'
import type { ComingLoan, Looker, RowFinding, RowToLookAt } from '../looker.ts'
import { type MigratedRepayment, repaymentOf } from './migrated-repayment.ts'

export async function lookAtRepayments(
  { ledger }: Looker,
  rows: RowToLookAt[],
  loanExternalId: string,
): Promise<RowFinding[]> {
  const loan = await findLoanWithTransactions(ledger, loanExternalId)
  return rows.map(({ line, comingLoan, steps }) => {
    const repayment = repaymentOf(steps[0]?.data as MigratedRepayment)
    const held = repaymentAmong(loan?.transactions ?? [], repayment)
    if (held.state === 'there') return { line, finding: 'in_ledger', reason: null }
    if (held.state === 'differs') return { line, finding: 'differs', reason: held.how }
    const reason = comingLoan
      ? objectionToComing(comingLoan, repayment)
      : objection(loan, repayment)
    return { line, finding: reason === null ? 'new' : 'refused', reason }
  })
}

function objection(loan: LedgerLoan | undefined, { day, amount }: LedgerRepayment): string | null {
  if (loan === undefined) return 'the ledger has no such loan'
  const { actualDisbursementDate } = loan.timeline
  if (loan.status.id < ACTIVE || actualDisbursementDate === undefined)
    return `the loan is not disbursed: ${loan.status.value}`
  if (!TAKE_REPAYMENTS.includes(loan.status.id))
    return `the loan accepts no repayments: ${loan.status.value}`
  const rounded = roundingRefusal(loan.currency, amount)
  if (rounded !== undefined) return rounded.body.defaultUserMessage
  return before(dayText(actualDisbursementDate), day)
}

function objectionToComing({ disbursedOn }: ComingLoan, { day }: LedgerRepayment): string | null {
  return disbursedOn === null
    ? 'its loans file does not disburse the loan'
    : before(disbursedOn, day)
}

function before(disbursedOn: string, day: string): string | null {
  const [disbursed, repaid] = [dayOf(disbursedOn), dayOf(day)]
  const isBefore = (repaid?.iso ?? '') < (disbursed?.iso ?? '')
  return isBefore ? `the loan was disbursed later, on ${disbursed?.text}` : null
}
