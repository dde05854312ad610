import type { App } from '../http/app.ts'
import { accountsPage } from './accounts/accounts-page.ts'
import { passwordPage } from './accounts/password-page.ts'
import { approvalPage } from './approvals/approval-page.ts'
import { approvalsPage } from './approvals/approvals-page.ts'
import { auditPage } from './audit/audit-page.ts'
import { booksPage } from './books/books-page.ts'
import { bucketPage } from './books/bucket-page.ts'
import { settlementPage } from './books/settlement-page.ts'
import { statementPage } from './books/statement-page.ts'
import { statementsPage } from './books/statements-page.ts'
import { bulkPages } from './bulk/bulk-pages.ts'
import { callbackActions } from './callbacks/callback-actions.ts'
import { callbackPage } from './callbacks/callback-page.ts'
import { callbacksPage } from './callbacks/callbacks-page.ts'
import { homePage } from './home/home-page.ts'
import { ledgerPage } from './ledger/ledger-page.ts'
import { loginRoutes } from './login/login-routes.ts'
import { signOnRoutes } from './login/sign-on-routes.ts'
import { operationPage } from './operations/operation-page.ts'
import { operationsPage } from './operations/operations-page.ts'
import type { PageContext } from './page-context.ts'
import { paymentActions } from './payments/payment-actions.ts'
import { paymentPage } from './payments/payment-page.ts'
import { paymentsPage } from './payments/payments-page.ts'
import { suspensePage } from './payments/suspense-page.ts'
import { migrationActions } from './portfolio/migration-actions.ts'
import { migrationPage } from './portfolio/migration-page.ts'
import { portfolioPage } from './portfolio/portfolio-page.ts'
import { referencesPage } from './references/references-page.ts'
import { gatewayActions } from './runs/gateway-actions.ts'
import { runsPages } from './runs/runs-pages.ts'
import { sourceActions } from './runs/source-actions.ts'
import { sourcesPage } from './runs/sources-page.ts'
import { searchPage } from './search/search-page.ts'
import { timelinePage } from './timeline/timeline-page.ts'

export const PAGES: ((app: App, context: PageContext) => void | Promise<void>)[] = [
  homePage,
  ledgerPage,
  searchPage,
  timelinePage,
  operationsPage,
  operationPage,
  paymentsPage,
  paymentPage,
  paymentActions,
  suspensePage,
  referencesPage,
  booksPage,
  bucketPage,
  settlementPage,
  statementsPage,
  statementPage,
  bulkPages,
  portfolioPage,
  migrationPage,
  migrationActions,
  callbacksPage,
  callbackPage,
  callbackActions,
  runsPages,
  gatewayActions,
  sourcesPage,
  sourceActions,
  approvalsPage,
  approvalPage,
  auditPage,
  accountsPage,
  passwordPage,
  loginRoutes,
  signOnRoutes,
]
