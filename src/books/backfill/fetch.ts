import type { Config } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Database } from '../../database/database.ts'
import type { GatewayApi } from '../../payments/gateways/gateway-api.ts'
import type { ReadGateway } from '../apis/open-api.ts'
import type { BackfillClaim } from './claim-backfill.ts'

export type Fetch = {
  db: Database
  api: GatewayApi
  account: GatewayAccount
  gateway: ReadGateway
  lenders: Config['lenders']
  claim: BackfillClaim
  readPending(): Promise<void>
  onMissed(count: number): void
}
