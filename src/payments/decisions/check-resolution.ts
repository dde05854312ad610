import { Decimal } from 'decimal.js'
import { PersonRequired } from '../../accounts/access/access.ts'
import { INTERNAL_TOKEN_ACTOR } from '../../accounts/access/actor.ts'
import type { Asker } from '../../accounts/audit.ts'
import { isExternalId } from '../../http/fields/text-fields.ts'
import { Conflict, invalidField } from '../../http/problem.ts'
import { type ForCaller, readForCaller } from '../../ledger/calls/read-for-caller.ts'
import { findLoan } from '../../ledger/loans/loan-calls.ts'
import { standingAmount, stands, takesNoMoney } from '../../ledger/loans/transaction.ts'
import { type PaymentStanding, stateInWords } from '../locked-payment.ts'
import { isDecided, isOpen, isPostable, isRestorable, isReversible } from './decidable.ts'
import type { PaymentResolution } from './resolution.ts'

type Rule = [verb: string, fits: (payment: PaymentStanding) => boolean, must: string]
const OPEN: Rule = ['resolve', isOpen, 'be in suspense or have an objection']
const RULES: Record<PaymentResolution['outcome'], Rule> = {
  post: ['post', isPostable, 'be a payment in suspense'],
  handled: OPEN,
  dismiss: OPEN,
  reopen: ['reopen', isDecided, 'be handled or dismissed'],
  reverse: ['reverse', isReversible, 'be a refund or chargeback in suspense'],
  restore: ['restore', isRestorable, 'be booked, and its gateway must have taken it back'],
}

export function refuseUnfit(payment: PaymentStanding, { outcome }: PaymentResolution): void {
  if (outcome === 'post' && payment.unreadableKind !== null)
    throw new Conflict(
      `Cannot post an unreadable ${payment.unreadableKind}: its money went back, so handle or dismiss it`,
    )
  const [verb, fits, must] = RULES[outcome]
  if (fits(payment)) return
  const what = `a ${payment.kind} in state ${stateInWords(payment)}`
  throw new Conflict(`Cannot ${verb} ${what}: it must ${must}`)
}

/** Nothing limits the amount that is posted here: a leaked token could post any. @throws PersonRequired */
export function requirePersonForUnknown(
  { capturedAmount, currency }: PaymentStanding,
  { outcome }: PaymentResolution,
  { actor }: Asker,
): void {
  const isUnknown = capturedAmount === null || currency === null
  if (outcome === 'post' && isUnknown && actor === INTERNAL_TOKEN_ACTOR)
    throw new PersonRequired('payment.post')
}

/** The transaction that a person booked, as the ledger has it. */
export type Booked = { amount: Decimal; currency: string }

/** @returns the transaction that the resolution names */
export async function checkAtLedger(
  at: ForCaller,
  payment: PaymentStanding,
  resolution: PaymentResolution,
): Promise<Booked | undefined> {
  if (resolution.outcome === 'post') await refuseAboveCaptured(at, payment, resolution)
  return resolution.outcome === 'handled' ? bookedFor(at, payment, resolution) : undefined
}

async function refuseAboveCaptured(
  at: ForCaller,
  { capturedAmount: captured, currency }: PaymentStanding,
  { external_loan_id, amount }: PaymentResolution & { outcome: 'post' },
): Promise<void> {
  // The limit applies only if payment and loan share a currency. Below the captured amount no call is
  // needed to find out.
  if (captured === null || currency === null || new Decimal(amount).lte(captured)) return
  const loan = await readForCaller(at, ledger => findLoan(ledger, external_loan_id))
  if (loan === undefined)
    throw invalidField(
      '/external_loan_id',
      'must name a loan that the ledger has, because the amount exceeds what was captured',
    )
  if (loan.currency.code === currency)
    throw invalidField('/amount', `must be at most ${captured}, the captured amount`)
}

async function bookedFor(
  at: ForCaller,
  payment: PaymentStanding,
  { external_loan_id, ledger_transaction_id: id }: PaymentResolution & { outcome: 'handled' },
): Promise<Booked | undefined> {
  if (id === undefined) return undefined
  const loanId = external_loan_id ?? payment.loan
  if (loanId === null || !isExternalId(loanId))
    throw invalidField('/external_loan_id', 'is required because the payment has no loan')
  const loan = await readForCaller(at, ledger => findLoan(ledger, loanId, 'transactions'))
  const booked = loan?.transactions?.find(one => String(one.id) === String(id))
  if (loan === undefined || booked === undefined)
    throw new Conflict(`The ledger has no transaction ${id} on loan ${loanId}`)
  if (!stands(booked)) throw new Conflict(`Transaction ${id} was undone at the ledger`)
  if (payment.kind === 'payment' && takesNoMoney(booked))
    throw new Conflict(`Transaction ${id} (${booked.type?.value}) takes no payer’s money`)
  return { amount: standingAmount(booked), currency: loan.currency.code }
}
