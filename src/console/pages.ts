import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { accountsPage } from './accounts/accounts-page.ts'
import { auditPage } from './audit/audit-page.ts'
import { homePage } from './home/home-page.ts'
import { operationPage } from './operations/operation-page.ts'
import { operationsPage } from './operations/operations-page.ts'
import type { PageContext } from './page-context.ts'
import { runsPages } from './runs/runs-pages.ts'
import { sourcesPage } from './runs/sources-page.ts'

/** Every page, in the order of the navigation. */
export const PAGES: ((context: PageContext) => FastifyPluginAsyncTypebox)[] = [
  homePage,
  operationsPage,
  operationPage,
  runsPages,
  sourcesPage,
  auditPage,
  accountsPage,
]
