import { Type } from '@sinclair/typebox'
import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { type Attempt, type Operation, operation } from '../../engine/operation.ts'
import { differsAtLedger, isRefusal, type Refusal } from '../../engine/refusal.ts'
import { type Answer, NOT_FOUND } from '../../ledger/answers/answer.ts'
import { absent, there } from '../../ledger/effect.ts'
import {
  type LedgerLoan,
  loanAnswer,
  roundingIn,
  TAKE_REPAYMENTS,
} from '../../ledger/loans/loan.ts'
import { findLoan, findLoanAnswer, readLoan } from '../../ledger/loans/loan-calls.ts'
import {
  findRepayment,
  type LedgerRepayment,
  ownCallBeside,
  postRepayment,
  repaymentAmong,
  repaymentDifferences,
  withOverpaid,
} from '../../ledger/loans/repayment.ts'
import { isOverpayment, type LedgerTransaction, stands } from '../../ledger/loans/transaction.ts'
import { proofsOf, signersOf } from '../proofs.ts'
import { adjustedByHand } from './adjusted-by-hand.ts'
import {
  type DuePayment,
  duePayment,
  isOfAnotherPayment,
  namesGateway,
  otherLoansTried,
} from './due-payment.ts'
import { laggingClock } from './lagging-clock.ts'
import { lessPayerFee, savePayerFee } from './payer-fee.ts'
import { repaymentIntake } from './repayment-intake.ts'
import { isDuplicate, refusedFor, TWIN, withReason } from './repayment-refusal.ts'
import { checkTrust } from './trust.ts'
import { findUnderOtherName } from './under-other-name.ts'

type PayableLoan = LedgerLoan & { transactions?: LedgerTransaction[] }

type NetDue = ReturnType<typeof lessPayerFee>

const reversedAtLedger = refusedFor(
  'reversed_at_ledger',
  '409',
  'The repayment was undone at the ledger, which keeps its external id reserved',
)

export function repayment(db: Database, config: Config): Operation {
  const { LEDGER_TIMEZONE } = config
  const needsProduct = asksProduct(config)
  const dueOn = readerOfDue(db, config)
  return operation({
    ...repaymentIntake,
    summary: 'Posts a payment to its loan',
    carriesOwnId: true,
    schema: Type.Object({ transaction_id: Type.String(), external_loan_id: Type.String() }),

    async run(attempt, { transaction_id, external_loan_id }) {
      const found = await readLoan(attempt.ledger, external_loan_id, 'transactions')
      if (found.outcome === 'refused') return unreadLoan(db, transaction_id, found)
      const loan: PayableLoan = found.body
      // The payment type is read before the payment, which is read as late as possible: an event that arrived meanwhile
      // may stop it.
      const paymentTypeId = await attempt.keep('paymentTypeId', attempt.reference.paymentTypeId)
      if (needsProduct) await learnProduct(db, external_loan_id, loan)
      const due = await dueOn(transaction_id, loan.loanProductName)
      const payment = lessPayerFee(config, due, loan.loanProductName)
      if (isNothingLeft(payment)) return whatLedgerHas(db, transaction_id, loan, payment)
      const payable = payableOn(config, payment, loan)
      if (isRefusal(payable)) return payable
      const wanted = { ...payment, ...payable, loanExternalId: external_loan_id }
      const booked = bookedOn(loan, wanted) ?? (await bookedOtherwise(db, attempt, loan, wanted))
      await savePayerFee(db, transaction_id, payment)
      if (isRefusal(booked)) return booked
      const answer =
        booked === undefined
          ? await postRepayment(attempt, paymentTypeId, wanted)
          : await ownCallBeside(booked.body, attempt, wanted)
      if (answer === undefined) return { ...found, ...booked }
      const lagging = laggingClock(answer, wanted.day, LEDGER_TIMEZONE)
      if (lagging !== undefined) return lagging
      if (answer.outcome === 'done') return withOverpaid(attempt.ledger, answer, loan, wanted)
      if (answer.outcome !== 'refused' || !isDuplicate(answer.code)) return withReason(answer)
      const others = () => otherLoansTried(db, transaction_id, external_loan_id)
      return (await duplicate(attempt, payment, external_loan_id, others)) ?? withReason(answer)
    },

    async find(attempt, { transaction_id, external_loan_id }) {
      const payment = await duePayment(db, transaction_id, LEDGER_TIMEZONE)
      const booked = await findRepayment(attempt, external_loan_id, payment)
      if (booked === undefined || !stands(booked) || !isEqual(booked, payment)) return absent
      const loan = await findLoan(attempt.ledger, external_loan_id)
      return loan === undefined ? absent : there(repaymentAnswer(loan, booked))
    },
  })
}

function readerOfDue(db: Database, config: Config) {
  const proofs = Map.groupBy(proofsOf(config), ({ product }) => product)
  return (id: string, product: string) =>
    duePayment(db, id, config.LEDGER_TIMEZONE, { product, proofs: proofs.get(product) ?? [] })
}

const nothingLeft = refusedFor('nothing_left', '409', 'All of it went back before it was posted')

const isNothingLeft = ({ amount }: DuePayment) => new Decimal(amount).lte(0)

/** A payment that went back as a whole is not posted; but a person or a file may have booked it. */
async function whatLedgerHas(db: Database, id: string, loan: PayableLoan, due: NetDue) {
  await savePayerFee(db, id, due)
  const day = due.events[0]?.day ?? ''
  const booked = bookedOn(loan, { ...due, day })
  return isRefusal(booked) ? booked : nothingLeft
}

async function unreadLoan(db: Database, transaction: string, refused: Answer) {
  if (refused.status !== NOT_FOUND) return withReason(refused)
  const due = await duePayment(db, transaction, 'UTC')
  return isNothingLeft(due)
    ? nothingLeft
    : refusedFor('loan_unknown', '404', 'The ledger has no such loan')
}

async function learnProduct(db: Database, id: string, { loanProductName }: PayableLoan) {
  await sql`select core.learn_product(${id}, ${loanProductName})`.execute(db)
}

function asksProduct(config: Config): boolean {
  const isAsked = [...config.lenders.values()].some(lender =>
    config.gateways.some(
      ({ name }) =>
        lender[name].allowedCidrs.length > 0 ||
        lender[name].confirm ||
        lender[name].reversals === 'automatic',
    ),
  )
  return isAsked || signersOf(config).length > 0
}

function payableOn(config: Config, payment: NetDue, loan: PayableLoan): { day: string } | Refusal {
  if (payment.objection !== null) {
    const message = `Stopped before it was sent, because of ${payment.objection}`
    return refusedFor('withdrawn', '409', message)
  }
  if (payment.isOutdated) {
    const message = 'Stopped before it was sent: other events count, or its references changed'
    return refusedFor('withdrawn', '409', message)
  }
  const due = payment.decided === null ? believedDay(config, payment, loan) : payment.decided
  if (isRefusal(due)) return due
  if (isAboveCaptured(payment, loan)) {
    const message = `${payment.amount} ${payment.currency} is more than the captured ${payment.decided?.capturedAmount}`
    return refusedFor('amount_invalid', '403', message)
  }
  const rounding = roundingIn(loan.currency, payment.amount)
  if (rounding !== undefined) return refusedFor('amount_invalid', '403', rounding)
  if (!TAKE_REPAYMENTS.includes(loan.status.id))
    return refusedFor('loan_not_active', '400', `The loan is ${loan.status.value}`)
  return { day: due.day }
}

function believedDay(
  config: Config,
  payment: NetDue,
  loan: PayableLoan,
): { day: string } | Refusal {
  const trusted = checkTrust(config, payment, loan.loanProductName)
  if ('message' in trusted) return refusedFor(trusted.reason, '403', trusted.message)
  if (payment.currency !== loan.currency.code) {
    const message = `The payment is in ${payment.currency ?? 'no currency'}, the loan in ${loan.currency.code}`
    return refusedFor('currency_mismatch', '403', message)
  }
  // Its own repayment stands, whatever became of its twin.
  if (payment.twin !== null && equalOn(loan, { ...payment, ...trusted }) === undefined) {
    const message = `The payment is the same money as payment ${payment.twin}, which has been or is being booked`
    return { ...differsAtLedger(message), reason: TWIN }
  }
  if (payment.feeToSee) {
    const message = `The payment includes a fee of ${payment.payerFee?.fee} that its payer paid`
    return refusedFor('awaiting_review', '403', message)
  }
  return trusted
}

/** The deciding call has checked the loan too, but the payment may have been assigned to another loan since. */
function isAboveCaptured({ decided, amount, currency }: DuePayment, loan: PayableLoan): boolean {
  const captured = decided?.capturedAmount ?? null
  return captured !== null && currency === loan.currency.code && new Decimal(amount).gt(captured)
}

/** A person or a file may have booked the payment. An equal repayment counts as ours; a different one forbids posting. */
function bookedOn(
  loan: PayableLoan,
  wanted: Dated,
): { body: ReturnType<typeof repaymentAnswer> } | Refusal | undefined {
  const equal = equalOn(loan, wanted)
  if (equal !== undefined) return { body: repaymentAnswer(loan, equal) }
  const effect = amongOwn(standingOn(loan, wanted), wanted)
  return effect.state === 'differs' ? differsAtLedger(effect.how) : undefined
}

type Dated = DuePayment & { day: string }

const equalOn = (loan: PayableLoan, wanted: Dated) =>
  standingOn(loan, wanted).find(
    one => isEqual(one, wanted) && amongOwn([one], wanted).state !== 'absent',
  )

const amongOwn = (transactions: LedgerTransaction[], wanted: Dated) =>
  repaymentAmong(transactions, wanted, namesGateway)

const standingOn = ({ transactions = [] }: PayableLoan, { externalId }: Dated) =>
  transactions.filter(one => stands(one) && !isOfAnotherPayment(one.externalId, externalId))

/** A file or a person may have booked it under its other name. An operator who assigned it knew of that refusal. */
async function bookedOtherwise(
  db: Database,
  { mayStillRun }: Attempt,
  { transactions = [] }: PayableLoan,
  wanted: DuePayment & LedgerRepayment,
): Promise<Refusal | undefined> {
  const { decided, overruled } = wanted
  if (mayStillRun) return undefined
  const adjusted = adjustedByHand(transactions, wanted)
  if (adjusted !== undefined) return adjusted
  if (decided !== null || overruled.includes('ledger_refused')) return undefined
  const equal = transactions.filter(one => isEqual(one, wanted))
  const found = await findUnderOtherName(db, { equal, ofReceipt: () => transactions }, wanted)
  if (found === undefined) return undefined
  const { id, externalId = 'without an external id' } = found.booked
  const name =
    found.as === 'bank_reference'
      ? 'of this day and amount under the payment’s bank reference'
      : 'under the payment’s other id'
  const message = `The loan has a repayment ${name} ${found.name}: transaction ${id}, ${externalId}`
  return differsAtLedger(message)
}

/** The repayment that already has our external id, if it is equal: it is ours, from an earlier try or a migration. */
async function duplicate(
  attempt: Attempt,
  payment: DuePayment,
  loanId: string,
  otherLoans: () => Promise<string[]>,
) {
  const booked = await findRepayment(attempt, loanId, payment)
  if (booked === undefined) {
    for (const other of await otherLoans()) {
      const elsewhere = await findRepayment(attempt, other, payment)
      if (elsewhere !== undefined && !stands(elsewhere)) return reversedAtLedger
    }
    return undefined
  }
  // An undone repayment keeps its external id, whatever its amount and day: the next repayment needs a new id.
  if (!stands(booked)) return reversedAtLedger
  if (!isEqual(booked, payment)) return undefined
  const loan = await findLoanAnswer(attempt.ledger, loanId)
  return loan && { ...loan, body: repaymentAnswer(loan.body, booked) }
}

/**
 * Whether the booked repayment is equal, on any event's day: an event that arrived after the repayment was sent may
 * name an earlier one.
 */
function isEqual(booked: LedgerTransaction, { amount, decided, events }: DuePayment): boolean {
  const days = (decided === null ? events : [decided]).flatMap(({ day }) => day ?? [])
  return repaymentDifferences(booked, { amount, days }).length === 0
}

function repaymentAnswer(loan: LedgerLoan, booked: LedgerTransaction) {
  return {
    ...loanAnswer(loan),
    resourceId: booked.id,
    resourceExternalId: booked.externalId,
    overpaid: isOverpayment(booked),
  }
}
