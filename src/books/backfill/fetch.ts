import type { Inquiry } from '../apis/open-gateway-api.ts'
import type { BackfillClaim } from './claim-backfill.ts'

export type Fetch = Inquiry & {
  claim: BackfillClaim
  readPending(): Promise<void>
  onMissed(count: number): void
}
