import type { FastifyBaseLogger } from 'fastify'
import { type Accounts, openAccounts } from './accounts/accounts.ts'
import type { AnyActCall } from './accounts/approvals/act-call.ts'
import { statementTypes } from './books/statements/recognise.ts'
import { withdrawCall } from './books/statements/withdraw-call.ts'
import { replayCall } from './callbacks/replay-call.ts'
import type { Config } from './config/config.ts'
import { bulkCall } from './console/bulk/bulk-call.ts'
import type { FileType } from './csv/reading/file-type.ts'
import { type Database, logLosses, openDatabase } from './database/database.ts'
import type { WorkerServices } from './engine/feature.ts'
import type { OnFinal } from './engine/finish/finish.ts'
import { notifyAll } from './engine/notify-all.ts'
import type { Catalogue } from './engine/operation.ts'
import type { App } from './http/app.ts'
import type { httpLimits } from './http/limits.ts'
import { FEATURES } from './jobs.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationCalls } from './operations/control/operation-calls.ts'
import { pauseCall } from './operations/pause/pause-call.ts'
import type { Health } from './ops/health.ts'
import { paymentCalls } from './payments/decisions/payment-calls.ts'
import { openWebhookCalls, type WebhookCalls } from './payments/intake/webhook-calls.ts'
import { deleteCall, putCall } from './payments/references/reference-calls.ts'
import { portfolioTypes } from './portfolio/kinds/kinds.ts'
import { openPortfolio, type Portfolio } from './portfolio/portfolio.ts'

export type Services = Omit<WorkerServices, 'patient' | 'log' | 'pauses'> & { health: Health }

type Context = Services & {
  log: FastifyBaseLogger
  config: Config
  /** For lists, sums and histories: what many callers read must not keep connections from intake. */
  forReads: Database
  accounts: Accounts
  portfolio: Portfolio
  /** Each upload recognises the files of the other by these types. */
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
  catalogue: Catalogue
  limits: typeof httpLimits
  onFinal: OnFinal
  webhookCalls: WebhookCalls
  /** The calls that a second person may have to approve. */
  calls: AnyActCall[]
}

/** Even a short list may be a long statement on a large table, and some callers only read. */
const MAX_CONCURRENT_READS = 4

export type Routes = (app: App, context: Context) => void | Promise<void>

export function apiContext(
  services: Services,
  config: Config,
  log: FastifyBaseLogger,
  limits: typeof httpLimits,
): Context {
  const catalogue = operationCatalogue(config.lenders)
  const fileTypes = {
    portfolio: portfolioTypes(type => `upload it as a portfolio of ${type}`),
    statements: statementTypes(config.gateways),
  }
  const context = {
    ...services,
    log,
    config,
    catalogue,
    limits,
    fileTypes,
    forReads: openDatabase(config.DATABASE_URL, {
      max: MAX_CONCURRENT_READS,
      name: 'loanops-reads',
      onError: logLosses(log),
    }),
    accounts: openAccounts(services.db),
    portfolio: openPortfolio({ ...services, config, catalogue, fileTypes, limits }, log),
    onFinal: notifyAll(FEATURES, services.metrics),
    webhookCalls: openWebhookCalls(services.db, log),
  }
  return { ...context, calls: callsOf(context) }
}

function callsOf(context: Omit<Context, 'calls'>): AnyActCall[] {
  const { portfolio, accounts } = context
  const lists = [paymentCalls(context), operationCalls(context), portfolio.calls, accounts.calls]
  return [
    ...lists.flatMap((calls): AnyActCall[] => Object.values(calls)),
    bulkCall(context),
    ...[pauseCall, replayCall, putCall, deleteCall, withdrawCall],
  ]
}
