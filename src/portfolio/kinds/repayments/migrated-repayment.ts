import { Type } from '@sinclair/typebox'
import { type Attempt, loanSubject, operation } from '../../../engine/operation.ts'
import { refusal } from '../../../engine/refusal.ts'
import { Day } from '../../../http/fields/day-fields.ts'
import { closed } from '../../../http/fields/schemas.ts'
import { ExternalId, Text } from '../../../http/fields/text-fields.ts'
import { absent } from '../../../ledger/effect.ts'
import type { LedgerCurrency } from '../../../ledger/loans/loan.ts'
import { readLoan } from '../../../ledger/loans/loan-calls.ts'
import {
  type LedgerRepayment,
  ownCallBeside,
  postRepayment,
  receiptOf,
  receiptsOf,
  repaymentAmong,
  repaymentEffect,
} from '../../../ledger/loans/repayment.ts'
import { roundingRefusal } from '../../../operations/rounding-refusal.ts'
import { isOfGateway } from '../../../payments/repayment/due-payment.ts'

/** The external ids of payments that came through no gateway, so that no other loan can have them. */
export const OF_NO_GATEWAY = 'migration-'

/** Callers cannot request this operation, because only the runner's catalogue has it. */
export const migratedRepayment = operation({
  name: 'MIGRATED_REPAYMENT',
  summary: 'Posts a repayment from an uploaded file',
  schema: Type.Object(
    {
      external_loan_id: ExternalId,
      external_id: Type.String(),
      date: Day,
      amount: Type.String(),
      reference: Text(255, 'pay_29QQoUBi66xm2f'),
      note: Type.Optional(Type.String()),
    },
    closed,
  ),
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),
  run: (run, data) => postOnce(run, repaymentOf(data)),
  async find(run, data) {
    const effect = await repaymentEffect(run, repaymentOf(data))
    return effect.state === 'there' ? effect : absent
  },
  findEqual: (run, data) => repaymentEffect(run, repaymentOf(data)),
})

export type MigratedRepayment = {
  external_loan_id: string
  external_id: string
  date: string
  amount: string
  reference: string
  note?: string
}

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

type Known = { currency: LedgerCurrency; receipts: Set<string> }

/** The reads for the first row of a loan serve the next rows too, unless another operation comes in between. */
async function postOnce(run: Attempt, repayment: LedgerRepayment) {
  const receipt = receiptOf(repayment.receiptNumber).toLowerCase()
  let known = run.passedOn as Known | undefined
  if (known === undefined || known.receipts.has(receipt)) {
    const loan = await readLoan(run.ledger, repayment.loanExternalId, 'transactions')
    if (loan.outcome === 'refused') return loan
    const { transactions = [], currency } = loan.body
    const effect = repaymentAmong(transactions, repayment, isOfGateway)
    if (effect.state === 'there')
      return (await ownCallBeside(effect.body, run, repayment)) ?? { ...loan, body: effect.body }
    if (effect.state === 'differs') return refusal('409', 'loanops.differs.at.ledger', effect.how)
    known = { currency, receipts: receiptsOf(transactions) }
  }
  const rounded = roundingRefusal(known.currency, repayment.amount)
  if (rounded !== undefined) return rounded
  const paymentTypeId = await run.keep('paymentTypeId', run.reference.paymentTypeId)
  const answer = await postRepayment(run, paymentTypeId, repayment)
  known.receipts.add(receipt)
  if (answer.outcome === 'done') run.passOn(known)
  return answer
}
