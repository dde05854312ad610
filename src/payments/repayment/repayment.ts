import { Type } from '@sinclair/typebox'
import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { type Operation, operation } from '../../engine/operation.ts'
import { differsAtLedger, isRefusal, type Refusal } from '../../engine/refusal.ts'
import { type Answer, NOT_FOUND } from '../../ledger/answers/answer.ts'
import { absent, there } from '../../ledger/effect.ts'
import { roundingIn, TAKE_REPAYMENTS } from '../../ledger/loans/loan.ts'
import { findLoan, readLoan } from '../../ledger/loans/loan-calls.ts'
import { findRepayment, ownCallBeside, postRepayment } from '../../ledger/loans/repayment.ts'
import { stands } from '../../ledger/loans/transaction.ts'
import { proofsOf, signersOf } from '../proofs.ts'
import {
  bookedOn,
  bookedOtherwise,
  duplicate,
  equalOn,
  isEqual,
  type PayableLoan,
  repaymentAnswer,
  whatStands,
} from './booked.ts'
import { type DuePayment, duePayment, otherLoansTried } from './due-payment.ts'
import { lessPayerFee, type NetDue, savePayerFee } from './payer-fee.ts'
import { repaymentIntake } from './repayment-intake.ts'
import { isDuplicate, laggingClock, refusedFor, TWIN, withReason } from './repayment-refusal.ts'
import { checkTrust } from './trust.ts'

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
      if (needsProduct) await learnProduct(db, external_loan_id, loan.loanProductName)
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
      if (answer.outcome === 'done') return whatStands(attempt, answer, loan, wanted)
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

/** @param product null for a loan that the ledger does not have */
export async function learnProduct(db: Database, loan: string, product: string | null) {
  await sql`select core.learn_product(${loan}, ${product})`.execute(db)
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
    const message = `The payment is the same money as payment ${payment.twin}, which was or may be booked, or is held by its refund or dispute`
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
