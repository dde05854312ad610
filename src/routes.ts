import { accountRoutes } from './accounts/account-routes.ts'
import { adminRoutes } from './accounts/admin-routes.ts'
import { approvalRoutes } from './accounts/approvals/approval-routes.ts'
import { auditRoutes } from './accounts/audit-chain/audit-routes.ts'
import type { Routes } from './api-context.ts'
import { gatewayRoutes } from './books/backfill/gateway-routes.ts'
import { paymentCheckRoutes } from './books/readback/payment-check-routes.ts'
import { reconciliationRoutes } from './books/reconciliation/reconciliation-routes.ts'
import { settlementRoutes } from './books/settlements/settlement-routes.ts'
import { statementRoutes } from './books/statements/statement-routes.ts'
import { callbackRoutes } from './callbacks/callback-routes.ts'
import { ledgerCheckRoutes } from './ledger/check/ledger-check-routes.ts'
import { operationControlRoutes } from './operations/control/control-routes.ts'
import { operationRoutes } from './operations/operation-routes.ts'
import { pauseRoutes } from './operations/pause/pause-routes.ts'
import { opsRoutes } from './ops/ops-routes.ts'
import { batchRoutes } from './payments/batch/batch-routes.ts'
import { assignRoutes } from './payments/decisions/assign-routes.ts'
import { resolveRoutes } from './payments/decisions/resolve-routes.ts'
import { webhookCheckRoutes } from './payments/intake/webhook-check-routes.ts'
import { webhookRoutes } from './payments/intake/webhook-routes.ts'
import { paymentRoutes } from './payments/reading/payment-routes.ts'
import { referenceRoutes } from './payments/references/reference-routes.ts'
import { downloadRoutes } from './portfolio/download-routes.ts'
import { migrationRoutes } from './portfolio/migration-routes.ts'
import { runRoutes } from './portfolio/run-routes.ts'
import { uploadRoutes } from './portfolio/upload-routes.ts'

/** Routes by who may call them and by feature, in the order of the OpenAPI document. The console lists its own. */
export const ROUTES = {
  anybody: { ops: [opsRoutes] },
  callers: {
    operations: [operationRoutes, operationControlRoutes, pauseRoutes, ledgerCheckRoutes],
    portfolio: [migrationRoutes, uploadRoutes, downloadRoutes, runRoutes],
    accounts: [accountRoutes, adminRoutes, approvalRoutes, auditRoutes],
    payments: [
      batchRoutes,
      paymentRoutes,
      assignRoutes,
      resolveRoutes,
      referenceRoutes,
      webhookCheckRoutes,
    ],
    books: [
      gatewayRoutes,
      statementRoutes,
      reconciliationRoutes,
      settlementRoutes,
      paymentCheckRoutes,
    ],
    callbacks: [callbackRoutes],
  },
  gateways: { payments: [webhookRoutes] },
} satisfies Record<string, Record<string, Routes[]>>
