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
