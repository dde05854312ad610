import { type Day, namedDay } from '../../../day.ts'
import { findLoan, type LoanWithTransactions } from '../../../ledger/loans/loan-calls.ts'
import { type LedgerRepayment, receiptOf, repaymentAmong } from '../../../ledger/loans/repayment.ts'
import type { LedgerTransaction } from '../../../ledger/loans/transaction.ts'
import { isOfGateway } from '../../../payments/repayment/due-payment.ts'
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
  const coming = new Coming()
  let failing: number | undefined
  for (const row of rows) {
    const { line } = row
    const repayment = repaymentOf(row.steps[0]?.data as MigratedRepayment)
    const found = coming.refusalOf(repayment) ?? (await lookAtRow(ofLoan, loan, row, repayment))
    if (found.finding === 'new') coming.add(line, repayment)
    findings.push({ line, ...(failing === undefined ? found : notTried(found, failing)) })
    if (fails(found)) failing ??= line
  }
  return findings
}

async function lookAtRow(
  looker: Looker,
  loan: LoanWithTransactions | undefined,
  { comingLoan }: RowToLookAt,
  repayment: LedgerRepayment,
): Promise<DryRunFinding> {
  const effect = repaymentAmong(loan?.transactions ?? [], repayment, isOfGateway)
  if (effect.state === 'there') return { finding: 'in_ledger', reason: null }
  if (effect.state === 'differs') return { finding: 'differs', reason: effect.how }
  const isComing = comingLoan !== null && !comingLoan.isRefused
  const reasons = isComing
    ? await comingLoanRefusals(looker, comingLoan, repayment)
    : await repaymentRefusals(looker, loan, repayment, comingLoan)
  return reasons.length > 0 ? refused(reasons) : { finding: 'new', reason: null }
}

/** What the rows before will have booked on the loan. Their receipt numbers differ from each other, but perhaps in case only. */
class Coming {
  readonly #byReceipt = new Map<string, { line: number; transaction: LedgerTransaction }[]>()

  add(line: number, repayment: LedgerRepayment): void {
    const { externalId, day, amount } = repayment
    const receiptNumber = receiptOf(repayment.receiptNumber)
    const transaction = {
      id: line,
      externalId,
      date: namedDay(day) as Day,
      amount: Number(amount),
      type: { repayment: true },
      paymentDetailData: { receiptNumber },
    }
    const key = receiptNumber.toLowerCase()
    this.#byReceipt.set(key, [...(this.#byReceipt.get(key) ?? []), { line, transaction }])
  }

  refusalOf(repayment: LedgerRepayment): DryRunFinding | undefined {
    const alike = this.#byReceipt.get(receiptOf(repayment.receiptNumber).toLowerCase()) ?? []
    const same = alike.find(
      ({ transaction }) => repaymentAmong([transaction], repayment, isOfGateway).state !== 'absent',
    )
    return same && refused([`payment_reference: this payment is also in line ${same.line}`])
  }
}

const fails = ({ finding }: DryRunFinding) => finding === 'refused' || finding === 'differs'

function notTried(found: DryRunFinding, failing: number): DryRunFinding {
  const behind = `would not be tried, because line ${failing} of the same loan would be refused`
  return refused([behind, ...(fails(found) ? [found.reason ?? ''] : [])])
}
