import { type Static, Type } from '@sinclair/typebox'
import type { Database } from '../../../database/database.ts'
import { type Attempt, type Data, loanSubject, operation } from '../../../engine/operation.ts'
import { differsAtLedger, type Refusal, refusal } from '../../../engine/refusal.ts'
import { DayField } from '../../../http/fields/day-fields.ts'
import { only } from '../../../http/fields/schemas.ts'
import { ExternalId, Text } from '../../../http/fields/text-fields.ts'
import { type Answer, NOT_FOUND } from '../../../ledger/answers/answer.ts'
import { absent } from '../../../ledger/effect.ts'
import type { LedgerCurrency } from '../../../ledger/loans/loan.ts'
import { readLoan } from '../../../ledger/loans/loan-calls.ts'
import {
  type LedgerRepayment,
  ownCallBeside,
  postRepayment,
  repaymentAmong,
  repaymentEffect,
} from '../../../ledger/loans/repayment.ts'
import { roundingRefusal } from '../../../operations/rounding-refusal.ts'
import { namesGateway } from '../../../payments/repayment/due-payment.ts'
import { whyNotDue } from '../../../payments/repayment/why-not-due.ts'
import { loanWithOtherZeros } from '../lost-zeros.ts'
import { bookedUnderOtherName } from './booked-under-other-name.ts'
import { Bookings } from './bookings.ts'

/** The external ids of payments that came through no gateway begin so: no other loan can have them. */
export const MIGRATED_PREFIX = 'migration-'

export const migratedIntake = {
  name: 'MIGRATED_REPAYMENT',
  subject: (data: Data) => loanSubject(String(data.external_loan_id)),
  externalId: (data: Data) => String(data.external_loan_id),
}

const RepaymentData = only({
  external_loan_id: ExternalId,
  external_id: Type.String(),
  date: DayField,
  amount: Type.String(),
  reference: Text(255, 'pay_29QQoUBi66xm2f'),
  note: Type.Optional(Type.String()),
})
export type MigratedRepayment = Static<typeof RepaymentData>

/** Callers cannot request this operation, because only the runner's catalogue has it. */
export const migratedRepayment = (db: Database) =>
  operation({
    ...migratedIntake,
    summary: 'Posts a repayment from an uploaded file',
    schema: RepaymentData,
    run: (run, data) => postOnce(db, run, repaymentOf(data)),
    async find(run, data) {
      const effect = await repaymentEffect(run, repaymentOf(data))
      return effect.state === 'there' ? effect : absent
    },
    findEqual: (run, data) => repaymentEffect(run, repaymentOf(data)),
  })

export function repaymentOf(data: MigratedRepayment): LedgerRepayment {
  return {
    loanExternalId: data.external_loan_id,
    externalId: data.external_id,
    day: data.date,
    amount: data.amount,
    receiptNumber: data.reference,
    ...(data.note === undefined ? {} : { note: data.note }),
  }
}

type Known = { currency: LedgerCurrency; bookings: Bookings }

/** The reads for the first row of a loan serve the next rows too, unless another operation comes in between. */
async function postOnce(db: Database, run: Attempt, repayment: LedgerRepayment) {
  let known = run.passedOn as Known | undefined
  if (known === undefined || known.bookings.ofReceipt(repayment).length > 0) {
    const loan = await readLoan(run.ledger, repayment.loanExternalId, 'transactions')
    if (loan.outcome === 'refused') return (await differentZeros(db, loan, repayment)) ?? loan
    const { transactions = [], currency } = loan.body
    const effect = repaymentAmong(transactions, repayment, namesGateway)
    if (effect.state === 'there')
      return (await ownCallBeside(effect.body, run, repayment)) ?? { ...loan, body: effect.body }
    if (effect.state === 'differs') return differsAtLedger(effect.how)
    known = { currency, bookings: new Bookings(transactions) }
  }
  const other = await bookedUnderOtherName(db, known.bookings, repayment)
  if (other !== undefined) return differsAtLedger(other.how)
  const notDue = await whyNotDue(db, repayment)
  if (notDue !== undefined) return refusal('409', 'loanops.payment.not.due', notDue)
  const rounded = roundingRefusal(known.currency, repayment.amount)
  if (rounded !== undefined) return rounded
  const paymentTypeId = await run.keep('paymentTypeId', run.reference.paymentTypeId)
  const answer = await postRepayment(run, paymentTypeId, repayment)
  known.bookings.addComing(repayment)
  if (answer.outcome === 'done') run.passOn(known)
  return answer
}

async function differentZeros(
  db: Database,
  { status }: Answer,
  { loanExternalId }: LedgerRepayment,
): Promise<Refusal | undefined> {
  const known = status === NOT_FOUND ? await loanWithOtherZeros(db, loanExternalId) : undefined
  const message = `The ledger has no loan ${loanExternalId}, but ${known}`
  return known === undefined ? undefined : refusal('404', 'loanops.loan_unknown', message)
}
