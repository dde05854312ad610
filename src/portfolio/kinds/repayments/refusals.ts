import { isoDay, textOfIso } from '../../../day.ts'
import type { Reader } from '../../../ledger/calls/client.ts'
import { clientNumbered } from '../../../ledger/client-record.ts'
import { sortable } from '../../../ledger/day-format.ts'
import { ACTIVE, isProgressive, TAKE_REPAYMENTS } from '../../../ledger/loans/loan.ts'
import {
  isTransactionOfAnotherLoan,
  type LoanWithTransactions,
} from '../../../ledger/loans/loan-calls.ts'
import type { LedgerRepayment } from '../../../ledger/loans/repayment.ts'
import { stands } from '../../../ledger/loans/transaction.ts'
import type { ComingLoan, Looker } from '../looker.ts'
import { loanWithOtherZeros } from '../lost-zeros.ts'
import { futureDay, notExact, whyNoPaymentType } from '../refusals.ts'
import { MIGRATED_PREFIX } from './migrated-repayment.ts'

/** Refusals of a repayment by the ledger, or by the run before its write, foreseen from reads. */
export async function repaymentRefusals(
  { db, ledger, reference }: Looker,
  loan: LoanWithTransactions | undefined,
  repayment: LedgerRepayment,
  refusedLoan: ComingLoan | null,
): Promise<string[]> {
  const behind =
    refusedLoan === null ? '' : `, and line ${refusedLoan.line} of its loans file would be refused`
  if (loan === undefined) {
    const other = await loanWithOtherZeros(db, repayment.loanExternalId)
    return [`the ledger has no such loan${behind}${other === undefined ? '' : `, but ${other}`}`]
  }
  const client =
    loan.clientId === undefined ? undefined : await clientNumbered(ledger, loan.clientId)
  const { status, timeline } = loan
  const { day, amount, externalId } = repayment
  const always = [
    ...(client?.active === false ? ['its client is not active at the ledger'] : []),
    ...notExact(loan.currency, amount),
  ]
  if (status.id < ACTIVE || timeline.actualDisbursementDate === undefined)
    return [...always, `the loan is not disbursed: ${status.value}${behind}`]
  const isBlocked = status.id !== ACTIVE && (await reference.blocksClosed())
  if (isBlocked || !TAKE_REPAYMENTS.includes(status.id))
    return [...always, `the loan accepts no repayments: ${status.value}`]
  return [
    ...always,
    ...beforeDisbursement(isoDay(timeline.actualDisbursementDate), day),
    ...beforeActivation(client?.activationDate && isoDay(client.activationDate), day),
    ...beforeLast(loan, day),
    ...futureDay('transaction_date', day, await reference.businessDate()),
    ...(await whyNoPaymentType(reference)),
    ...(await paidElsewhere(ledger, loan, externalId)),
  ]
}

export async function comingLoanRefusals(
  { ledger, reference, lenders }: Looker,
  { disbursedOn, lender }: ComingLoan,
  { day, amount, externalId }: LedgerRepayment,
): Promise<string[]> {
  if (disbursedOn === null) return ['its loans file does not disburse the loan']
  const product = await reference.findProduct(lenders.get(lender ?? '')?.product ?? '')
  return [
    ...notExact(product?.currency, amount),
    ...beforeDisbursement(disbursedOn, day),
    ...futureDay('transaction_date', day, await reference.businessDate()),
    ...(await whyNoPaymentType(reference)),
    ...(await paidElsewhere(ledger, undefined, externalId)),
  ]
}

async function paidElsewhere(
  ledger: Reader,
  loan: LoanWithTransactions | undefined,
  externalId: string,
): Promise<string[]> {
  if (externalId.startsWith(MIGRATED_PREFIX)) return []
  return (await isTransactionOfAnotherLoan(ledger, loan, externalId))
    ? ['payment_reference: this payment is a repayment of another loan']
    : []
}

function beforeDisbursement(disbursedOn: string, day: string): string[] {
  return sortable(day) < disbursedOn
    ? [`the loan was disbursed later, on ${textOfIso(disbursedOn)}`]
    : []
}

/** An activation can be moved past the payments of a loan. */
function beforeActivation(activatedOn: string | undefined, day: string): string[] {
  return activatedOn !== undefined && sortable(day) < activatedOn
    ? [`transaction_date is before the activation of its client, ${textOfIso(activatedOn)}`]
    : []
}

/** Where interest is recalculated, no repayment of a cumulative schedule may be earlier than another. */
function beforeLast(loan: LoanWithTransactions, day: string): string[] {
  if (!loan.isInterestRecalculationEnabled || isProgressive(loan)) return []
  const repaid = (loan.transactions ?? []).filter(
    one => one.type?.repayment === true && stands(one),
  )
  const last =
    repaid
      .map(({ date }) => (date ? isoDay(date) : ''))
      .sort()
      .at(-1) ?? ''
  return sortable(day) < last
    ? [`transaction_date is before the loan’s last repayment, ${textOfIso(last)}`]
    : []
}
