import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import type { Accounts } from '../accounts/accounts.ts'
import type { AnyActCall } from '../accounts/approvals/act-call.ts'
import type { Config } from '../config/config.ts'
import type { FileType } from '../csv/reading/file-type.ts'
import type { Database } from '../database/database.ts'
import type { OnFinal } from '../engine/finish/finish.ts'
import type { Catalogue } from '../engine/operation.ts'
import type { Ledger } from '../ledger/calls/client.ts'
import type { Health } from '../ops/health.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Portfolio } from '../portfolio/portfolio.ts'
import type { Formats } from './frame/formats.ts'

export type PageContext = {
  /** The console's own pool, so that pages take no connections from API calls. */
  db: Database
  boss: PgBoss
  config: Config
  catalogue: Catalogue
  accounts: Accounts
  ledger: Ledger
  health: Health
  metrics: Metrics
  onFinal: OnFinal
  portfolio: Portfolio
  calls: AnyActCall[]
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
  formats: Formats
  log: FastifyBaseLogger
}
