import { approvalsFeature } from './accounts/approvals/approvals-feature.ts'
import { endDueRegularly } from './accounts/approvals/end-due.ts'
import { sealAudit } from './accounts/audit-chain/seal-audit.ts'
import { backfillFeature } from './books/backfill/backfill-feature.ts'
import { runBackfills } from './books/backfill/backfill-job.ts'
import { backfillQueue } from './books/backfill/queue.ts'
import { askGateways } from './books/confirm/ask-gateways.ts'
import { confirmFeature } from './books/confirm/confirm-feature.ts'
import { readbackQueue } from './books/readback/queue.ts'
import { readbackFeature } from './books/readback/readback-feature.ts'
import { runReadbacks } from './books/readback/readback-job.ts'
import { reconciliationFeature } from './books/reconciliation/reconciliation-feature.ts'
import { runReconciliation } from './books/reconciliation/reconciliation-job.ts'
import { statementsFeature } from './books/statements/statements-feature.ts'
import { runWithdrawals } from './books/statements/sweep-withdrawn.ts'
import { runCallbacks } from './callbacks/callback-job.ts'
import { callbacksFeature } from './callbacks/callbacks-feature.ts'
import { bulkFeature } from './console/bulk/bulk-feature.ts'
import { runBulks } from './console/bulk/bulk-job.ts'
import { engineFeature } from './engine/engine-feature.ts'
import type { Feature } from './engine/feature.ts'
import { runOperations } from './engine/operation-job.ts'
import { bulkQueue, liveQueue } from './engine/queue.ts'
import { ledgerCheckFeature } from './ledger/check/ledger-check-feature.ts'
import { checkLedgerRegularly } from './operations/check-ledger/check-ledger-job.ts'
import { operationsFeature } from './operations/operations-feature.ts'
import { runBatches } from './payments/batch/batch-job.ts'
import { runEvents } from './payments/intake/event-job.ts'
import { paymentsFeature } from './payments/payments-feature.ts'
import { batchQueue, deadEventQueue, eventQueue } from './payments/queue.ts'
import { portfolioFeature } from './portfolio/portfolio-feature.ts'
import { runMigrations } from './portfolio/run/migration-job.ts'
import { runPurges } from './purge/purge-job.ts'
import { purgeQueue } from './purge/queue.ts'
import { mendStamps } from './queue/mend-stamps.ts'

/**
 * Features are started, and notified of final operations, in this order. The engine comes last: it runs operations
 * only once the others are ready, and counts one as final only after all accepted it.
 */
export const FEATURES: Feature[] = [
  { ...approvalsFeature, jobs: [endDueRegularly] },
  { jobs: [sealAudit, mendStamps] },
  { ...bulkFeature, jobs: [runBulks] },
  { queues: [purgeQueue], jobs: [runPurges] },
  operationsFeature,
  { ...ledgerCheckFeature, jobs: [checkLedgerRegularly] },
  {
    ...paymentsFeature,
    // The dead letters' queue comes before the one that names it.
    queues: [deadEventQueue, eventQueue, batchQueue],
    jobs: [runEvents, context => runBatches(context, askGateways)],
  },
  { ...readbackFeature, queues: [readbackQueue], jobs: [runReadbacks] },
  { ...statementsFeature, jobs: [runWithdrawals] },
  { ...portfolioFeature, jobs: [runMigrations] },
  { ...backfillFeature, queues: [backfillQueue], jobs: [runBackfills] },
  { ...reconciliationFeature, jobs: [runReconciliation] },
  confirmFeature,
  { ...callbacksFeature, jobs: [runCallbacks] },
  { ...engineFeature, queues: [liveQueue, bulkQueue], jobs: [runOperations] },
]
