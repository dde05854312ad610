import { GatewayRefused, GatewayUnavailable } from '../../payments/gateways/items/gateway-errors.ts'
import type { Inquiry } from '../apis/open-gateway-api.ts'
import type { BackfillClaim } from './claim-backfill.ts'

export type Fetch = Inquiry & {
  claim: BackfillClaim
  readPending(): Promise<void>
  onMissed(count: number): void
}

/**
 * Whether the fetch is for all that the account lists. An account of several lenders lists the payments of all of them,
 * even if only one is asked for.
 */
export const isForWholeAccount = ({ claim, account }: Fetch): boolean =>
  claim.lender === account.lender

/** What the gateway did not say: it refused to, or failed again and again. */
export type Unsaid = GatewayRefused | GatewayUnavailable

export const isUnsaid = (error: unknown): error is Unsaid =>
  error instanceof GatewayRefused || error instanceof GatewayUnavailable

/** The payments about which the gateway did not say more. They are left to a later fetch, which asks again. */
export type LeftOut = Map<string, Unsaid>

/** After more questions without an answer, the gateway counts as down. */
const MAX_UNANSWERED = 2

/** @returns the gateway's answer about the payment; undefined if it did not say */
export async function unlessUnsaid<T>(leftOut: LeftOut, paymentId: string, answer: Promise<T>) {
  try {
    return await answer
  } catch (error) {
    // A 401 is about the account.
    if (!isUnsaid(error) || (error instanceof GatewayRefused && error.status === 401)) throw error
    leftOut.set(paymentId, error)
    const unanswered = [...leftOut.values()].filter(one => one instanceof GatewayUnavailable)
    if (error instanceof GatewayUnavailable && unanswered.length > MAX_UNANSWERED) throw error
    return undefined
  }
}
