import { findLoan, type LoanWithTransactions } from '../../../ledger/loans/loan-calls.ts'
import { repaymentAmong } from '../../../ledger/loans/repayment.ts'
import {
  type DryRunFinding,
  type Looker,
  type RowFinding,
  type RowToLookAt,
  refused,
} from '../looker.ts'
import { remembering } from '../remembering.ts'
import { type MigratedRepayment, repaymentOf } from './migrated-repayment.ts'
import { comingLoanRefusals, repaymentRefusals } from './refusals.ts'

/** Looks at repayments in the order in which a run takes the rows, because it does not try those after one that fails. */
export async function lookAtRepayments(
  looker: Looker,
  rows: RowToLookAt[],
  loanExternalId: string,
): Promise<RowFinding[]> {
  const ofLoan = { ...looker, ledger: remembering(looker.ledger) }
  const loan = await findLoan(ofLoan.ledger, loanExternalId, 'transactions')
  const findings: RowFinding[] = []
  let failing: number | undefined
  for (const row of rows) {
    const found = await lookAtRow(ofLoan, loan, row)
    const { line } = row
    findings.push({ line, ...(failing === undefined ? found : notTried(found, failing)) })
    if (fails(found)) failing ??= line
  }
  return findings
}

async function lookAtRow(
  looker: Looker,
  loan: LoanWithTransactions | undefined,
  { comingLoan, steps }: RowToLookAt,
): Promise<DryRunFinding> {
  const repayment = repaymentOf(steps[0]?.data as MigratedRepayment)
  const effect = repaymentAmong(loan?.transactions ?? [], repayment)
  if (effect.state === 'there') return { finding: 'in_ledger', reason: null }
  if (effect.state === 'differs') return { finding: 'differs', reason: effect.how }
  const isComing = comingLoan !== null && !comingLoan.isRefused
  const reasons = isComing
    ? await comingLoanRefusals(looker, comingLoan, repayment)
    : await repaymentRefusals(looker, loan, repayment, comingLoan)
  return reasons.length > 0 ? refused(reasons) : { finding: 'new', reason: null }
}

const fails = ({ finding }: DryRunFinding) => finding === 'refused' || finding === 'differs'

function notTried(found: DryRunFinding, failing: number): DryRunFinding {
  const behind = `would not be tried, because line ${failing} of the same loan would be refused`
  return refused([behind, ...(fails(found) ? [found.reason ?? ''] : [])])
}
