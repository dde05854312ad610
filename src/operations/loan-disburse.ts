import type { Static } from '@sinclair/typebox'
import { type Attempt, loanSubject, operation } from '../engine/operation.ts'
import { differsAtLedger, type Refusal } from '../engine/refusal.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { Amount } from '../http/fields/number-fields.ts'
import { only, optional, optionalText } from '../http/fields/schemas.ts'
import { ExternalId, Note, Text } from '../http/fields/text-fields.ts'
import { type Answer, contradicted } from '../ledger/answers/answer.ts'
import { outcomeUnderKey } from '../ledger/answers/outcome-under-key.ts'
import type { Reader } from '../ledger/calls/client.ts'
import { dayFormat, isSameDay } from '../ledger/day-format.ts'
import { absent, compared, dayThere, differencesIn, type Effect, there } from '../ledger/effect.ts'
import { APPROVED, loanAnswer } from '../ledger/loans/loan.ts'
import {
  disburseLoan,
  findLoan,
  findLoanAnswer,
  findTransaction,
  type LoanWithTransactions,
  readLoan,
} from '../ledger/loans/loan-calls.ts'
import { type LedgerTransaction, stands } from '../ledger/loans/transaction.ts'
import { roundingRefusal } from './rounding-refusal.ts'

const NOT_APPROVED = 'error.msg.loan.disbursal.account.is.not.approve.not.disbursed.state'

const schema = only({
  external_loan_id: ExternalId,
  actualDisbursementDate: DayField,
  transactionAmount: optional(Amount),
  utr_payment_id: optionalText(Text(50, 'UTR2026030512345')),
  note: optionalText(Note),
})

export const loanDisburse = operation({
  name: 'LOAN_DISBURSE',
  summary: 'Disburses an approved loan',
  permissions: ['DISBURSE_LOAN'],
  loanState: 'disbursed',
  carriesOwnId: true,
  schema,
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),

  async run(attempt, data) {
    const { external_loan_id, actualDisbursementDate, transactionAmount, utr_payment_id, note } =
      data
    const before =
      (attempt.mayStillRun ? await besideOwnCall(attempt, data) : undefined) ??
      (await beforeTheWrite(attempt, data))
    if (before !== undefined) return before
    const receipt =
      utr_payment_id === undefined ? {} : await receiptWithType(attempt, utr_payment_id)
    const answer = await disburseLoan(attempt, external_loan_id, attempt.id, {
      actualDisbursementDate,
      // Without the amount, Fineract disburses the whole approved principal.
      transactionAmount,
      // The external id is ours, so that the disbursement can be found when the answer is lost.
      externalId: attempt.id,
      ...receipt,
      note,
      ...dayFormat,
    })
    if (answer.code !== NOT_APPROVED) return answer
    const loan = await findLoan(attempt.ledger, external_loan_id)
    return loan?.status.id === APPROVED ? contradicted(answer) : answer
  },

  find,
  findEqual,
})

async function find({ ledger, id, mayStillRun }: Attempt, data: Disbursement): Promise<Effect> {
  const { external_loan_id, actualDisbursementDate, utr_payment_id, note } = data
  // For a top-up loan, the ledger disburses what remains after paying off the older loan: our id proves that it is ours.
  const disbursement =
    (await findTransaction(ledger, external_loan_id, id)) ??
    (mayStillRun ? undefined : await lostDisbursement(ledger, data))
  if (disbursement === undefined || !stands(disbursement)) return absent
  const loan = await findLoan(ledger, external_loan_id)
  if (loan === undefined) return absent
  return there({
    ...loanAnswer(loan),
    subResourceId: disbursement.id,
    subResourceExternalId: id,
    changes: {
      status: loan.status,
      actualDisbursementDate,
      ...(utr_payment_id && {
        paymentTypeId: disbursement.paymentDetailData?.paymentType?.id,
        receiptNumber: utr_payment_id,
      }),
      note,
      ...dayFormat,
    },
  })
}

/** Finds a disbursement by its receipt number, for the reasons that findRepayment gives. */
async function lostDisbursement(ledger: Reader, wanted: Disbursement) {
  const { external_loan_id, actualDisbursementDate, transactionAmount, utr_payment_id } = wanted
  if (utr_payment_id === undefined) return undefined
  const { transactions = [] } = (await findLoan(ledger, external_loan_id, 'transactions')) ?? {}
  return transactions.find(
    one =>
      one.type?.disbursement === true &&
      !one.externalId &&
      one.paymentDetailData?.receiptNumber === utr_payment_id &&
      isSameDay(one.date, actualDisbursementDate) &&
      (transactionAmount === undefined || one.amount === transactionAmount),
  )
}

type Disbursement = Static<typeof schema>

/** The outcome of our own call, where an equal disbursement may be another's; undefined if there is none. */
async function besideOwnCall(attempt: Attempt, wanted: Disbursement): Promise<Answer | undefined> {
  const { ledger, takesEqualAsDone } = attempt
  const equal = takesEqualAsDone
    ? await findEqual(attempt, wanted)
    : await find({ ...attempt, mayStillRun: false }, wanted)
  if (equal.state !== 'there') return undefined
  const ours = await outcomeUnderKey(
    disburseLoan(attempt, wanted.external_loan_id, attempt.id, dayFormat),
  )
  if (ours !== undefined) return ours
  const loan = await findLoanAnswer(ledger, wanted.external_loan_id)
  return loan && { ...loan, body: equal.body }
}

async function findEqual({ ledger }: Attempt, wanted: Disbursement): Promise<Effect> {
  const loan = await findLoan(ledger, wanted.external_loan_id, 'transactions')
  return loan === undefined ? absent : disbursementEffect(loan, wanted)
}

/** A loan may be disbursed in several tranches: any equal one is the one that was meant. */
function disbursementEffect(loan: LoanWithTransactions, wanted: Disbursement): Effect {
  if (loan.timeline.actualDisbursementDate === undefined) return absent
  const tranches = loan.transactions?.filter(one => one.type?.disbursement === true && stands(one))
  const [first, ...others] = tranches?.length ? tranches : [undefined]
  const effect = comparedDisbursement(loan, first, wanted)
  const equal = others
    .map(one => comparedDisbursement(loan, one, wanted))
    .find(({ state }) => state === 'there')
  return effect.state === 'there' ? effect : (equal ?? effect)
}

function comparedDisbursement(
  loan: LoanWithTransactions,
  disbursement: LedgerTransaction | undefined,
  wanted: Disbursement,
): Effect {
  const day = wanted.actualDisbursementDate
  const actualDisbursementDate = disbursement?.date ?? loan.timeline.actualDisbursementDate
  const amount = disbursement?.amount ?? loan.principal
  const receipt = disbursement?.paymentDetailData?.receiptNumber
  return compared(
    {
      ...loanAnswer(loan),
      changes: { status: loan.status, actualDisbursementDate: day, ...dayFormat },
    },
    differencesIn(
      ['actualDisbursementDate', dayThere(actualDisbursementDate), day],
      ['transactionAmount', amount, wanted.transactionAmount ?? amount],
      ['utr_payment_id', receipt, wanted.utr_payment_id ?? receipt],
    ),
  )
}

/** A missing loan is left to the write, whose refusal says more. */
async function beforeTheWrite(
  { ledger, takesEqualAsDone }: Attempt,
  wanted: Disbursement,
): Promise<Answer | Refusal | undefined> {
  const { external_loan_id, transactionAmount } = wanted
  if (!takesEqualAsDone && transactionAmount === undefined) return undefined
  const part = takesEqualAsDone ? 'transactions' : 'alone'
  const found = await readLoan(ledger, external_loan_id, part)
  if (found.outcome !== 'done') return undefined
  // The ledger would disburse another tranche of the same loan.
  const effect = takesEqualAsDone ? disbursementEffect(found.body, wanted) : absent
  if (effect.state === 'there') return { ...found, body: effect.body }
  if (effect.state === 'differs') return differsAtLedger(effect.how)
  return roundingRefusal(found.body.currency, transactionAmount)
}

/** Fineract silently drops a receipt number that has no payment type. */
async function receiptWithType(attempt: Attempt, receiptNumber: string) {
  const paymentTypeId = await attempt.keep('paymentTypeId', attempt.reference.paymentTypeId)
  return { paymentTypeId, receiptNumber }
}
