import type { PaymentSettings } from '../../config/config.ts'
import { type GatewayTrust, unconfiguredLender } from '../../config/lenders.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { GATEWAY_API, UNKNOWN } from '../payment-event.ts'
import { type DuePayment, isReviewed, type Sender } from './due-payment.ts'

const MESSAGES = {
  signature_not_verified:
    'The loan’s lender requires a signature with its secret, and no event of the payment has one',
  sender_not_allowed: 'The event came from outside the networks that the loan’s lender allows',
  lender_mismatch: 'The event named a different lender from the one whose product the loan has',
  events_disagree:
    'An event that the loan’s lender accepts names a loan other than the assigned one',
  unconfirmed: 'The gateway has not confirmed any event of the payment yet',
  awaiting_review: 'The loan’s lender has its payments posted only after an operator has seen them',
}
type Distrust = { reason: keyof typeof MESSAGES; message: string }

/**
 * One trusted event is enough, because all agree on money and loan; only the day may differ. But if a payment is verified,
 * and only unverified events name its loan, they do not make it another lender's.
 */
export function checkTrust(
  config: PaymentSettings,
  payment: DuePayment,
  product: string,
): { day: string } | Distrust {
  const { gateway, events, isVerified, overruled } = payment
  const { holders, trust } = trustFor(config, gateway, product)
  // The lender's checks are not known, so only an operator may have the payment posted.
  if (holders.length === 0 && !overruled.includes('lender_mismatch')) {
    const message = `No lender in LENDERS_FILE has the loan’s product ${product}`
    return { reason: 'lender_mismatch', message }
  }
  const codes = [UNKNOWN, ...holders.map(({ code }) => code)]
  const checked = events.map(event => {
    const reasons = [...reasonsToDistrust(trust, event, !codes.includes(event.lender))]
    const isOpposed = event.namesOther && reasons.length === 0
    return { ...event, isOpposed, reason: reasons.find(reason => !overruled.includes(reason)) }
  })
  if (checked.some(({ isOpposed }) => isOpposed)) return distrust('events_disagree')
  const trusted = checked.filter(({ reason }) => reason === undefined)
  const day = trusted.find(one => one.day !== null && (one.verifiedBy !== null || !isVerified))?.day
  if (day && trusted.some(({ namesLoan }) => namesLoan)) {
    const needsReview = trust.posting === 'review' && !isReviewed(payment)
    return needsReview ? distrust('awaiting_review') : { day }
  }
  const distrusted = checked.filter(({ reason }) => reason !== undefined)
  const reason = (distrusted.find(({ namesLoan }) => namesLoan) ?? distrusted[0])?.reason
  if (reason === undefined) throw new Error('no event names the loan of the payment')
  return distrust(reason)
}

/** The lenders of a product, and their settings, which are the same. */
export function trustFor(
  { lenders, gateways }: PaymentSettings,
  gateway: GatewayName,
  product: string,
) {
  const holders = [...lenders.values()].filter(({ products }) => products.includes(product))
  const { [gateway]: trust } = holders[0] ?? unconfiguredLender(gateways, product)
  return { holders, trust }
}

/** Whether the settings let this event state facts, whichever lender it names. */
export function isBelieved(trust: GatewayTrust, sender: Sender): boolean {
  return [...reasonsToDistrust(trust, sender, false)].length === 0
}

const distrust = (reason: Distrust['reason']): Distrust => ({ reason, message: MESSAGES[reason] })

function* reasonsToDistrust(
  { validateSignature, confirm }: GatewayTrust,
  { verifiedBy, isProved, isOutside }: Sender,
  isOfOther: boolean,
): Iterable<Distrust['reason']> {
  // What was fetched with another lender's credentials is confirmed too, but belongs to that lender.
  const isVerified = isProved && !(verifiedBy === GATEWAY_API && isOfOther)
  if (validateSignature && !confirm && !isVerified) yield 'signature_not_verified'
  if (isOutside) yield 'sender_not_allowed'
  if (confirm && !isProved) yield 'unconfirmed'
  if (isOfOther) yield 'lender_mismatch'
}
