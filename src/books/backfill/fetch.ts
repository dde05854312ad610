import type { Inquiry } from '../apis/open-gateway-api.ts'
import type { BackfillClaim } from './claim-backfill.ts'

export type Fetch = Inquiry & {
  claim: BackfillClaim
  readPending(): Promise<void>
  onMissed(count: number): void
}

/** Whether all that is listed is asked for: an account of several lenders lists what all of them have, whichever is asked for. */
export const isForWholeAccount = ({ claim, account }: Fetch): boolean =>
  claim.lender === account.lender
