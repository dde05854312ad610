import { GatewayRefused } from '../../payments/gateways/items/gateway-errors.ts'
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

/** The payments about which the gateway refused to say more. They are left to a later fetch, which asks again. */
export type LeftOut = Map<string, GatewayRefused>

/** @returns the gateway's answer about the payment; undefined if it refused to say */
export async function unlessRefused<T>(leftOut: LeftOut, paymentId: string, answer: Promise<T>) {
  try {
    return await answer
  } catch (error) {
    // A 401 is about the account.
    if (!(error instanceof GatewayRefused) || error.status === 401) throw error
    leftOut.set(paymentId, error)
    return undefined
  }
}
