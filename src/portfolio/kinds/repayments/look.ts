import type { Database } from '../../../database/database.ts'
import { findLoan, type LoanWithTransactions } from '../../../ledger/loans/loan-calls.ts'
import { type LedgerRepayment, repaymentAmong } from '../../../ledger/loans/repayment.ts'
import { namesGateway } from '../../../payments/repayment/due-payment.ts'
import { whyNotDue } from '../../../payments/repayment/why-not-due.ts'
import {
  type DryRunFinding,
  type Looker,
  type RowFinding,
  type RowToLookAt,
  refusedRow,
} from '../looker.ts'
import { remembering } from '../remembering.ts'
import { bookedUnderOtherName } from './booked-under-other-name.ts'
import { Bookings } from './bookings.ts'
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
  const there = { loan, booked: new Bookings(loan?.transactions) }
  const coming = new Bookings()
  let failing: number | undefined
  for (const row of rows) {
    const { line } = row
    const repayment = repaymentOf(row.steps[0]?.data as MigratedRepayment)
    const found =
      (await refusalBehind(looker.db, coming, repayment)) ??
      (await lookAtRow(ofLoan, there, row, repayment))
    if (found.finding === 'new') coming.addComing(repayment, line)
    findings.push({ line, ...(failing === undefined ? found : notTried(found, failing)) })
    if (fails(found)) failing ??= line
  }
  return findings
}

async function lookAtRow(
  looker: Looker,
  { loan, booked }: { loan: LoanWithTransactions | undefined; booked: Bookings },
  { comingLoan }: RowToLookAt,
  repayment: LedgerRepayment,
): Promise<DryRunFinding> {
  const ours = loan?.transactions?.filter(one => one.externalId === repayment.externalId) ?? []
  const alike = [...booked.ofReceipt(repayment), ...ours]
  const effect = repaymentAmong(alike, repayment, namesGateway)
  if (effect.state === 'there') return { finding: 'in_ledger', reason: null }
  const different =
    effect.state === 'differs' ? effect : await bookedUnderOtherName(looker.db, booked, repayment)
  if (different !== undefined) return { finding: 'differs', reason: different.how }
  const notDue = await whyNotDue(looker.db, repayment)
  const isComing = comingLoan !== null && !comingLoan.isRefused
  const reasons = isComing
    ? await comingLoanRefusals(looker, comingLoan, repayment)
    : await repaymentRefusals(looker, loan, repayment, comingLoan)
  const all = [...reasons, ...(notDue === undefined ? [] : [notDue])]
  return all.length > 0 ? refusedRow(all) : { finding: 'new', reason: null }
}

/** What the earlier rows will have booked on the loan. Their receipt numbers differ, but perhaps only in spelling. */
async function refusalBehind(db: Database, coming: Bookings, repayment: LedgerRepayment) {
  const same =
    coming
      .ofReceipt(repayment)
      .find(one => repaymentAmong([one], repayment, namesGateway).state !== 'absent') ??
    (await bookedUnderOtherName(db, coming, repayment))
  return same && refusedRow([`payment_reference: this payment is also in line ${same.id}`])
}

const fails = ({ finding }: DryRunFinding) => finding === 'refused' || finding === 'differs'

function notTried(found: DryRunFinding, failing: number): DryRunFinding {
  const behind = `would not be tried, because line ${failing} of the same loan would be refused`
  return refusedRow([behind, ...(fails(found) ? [found.reason ?? ''] : [])])
}
