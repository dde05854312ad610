import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/access/actor.ts'
import { toOperate } from '../accounts/access/needs.ts'
import { actRoutes } from '../accounts/approvals/act-routes.ts'
import { orProposal } from '../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../accounts/approvals/perform.ts'
import type { App } from '../http/app.ts'
import { optional, titledBody } from '../http/fields/schemas.ts'
import { invalidField } from '../http/problem.ts'
import { MigrationId, ofOneMigration, Started } from './migration-record.ts'
import type { Portfolio } from './portfolio.ts'

/** More files than anybody names in one command. */
const MAX_AFTER = 100

const runSchema = {
  operationId: 'runMigration',
  'x-refusals': ['NOT_FOUND', 'CONFLICT'],
  summary: 'Writes the valid rows to the ledger, or checks what that would do',
  body: titledBody('RunMigrationRequest', {
    migration_id: MigrationId,
    dry_run: optional(Type.Boolean({ description: 'true or false' })),
    skip_invalid: optional(Type.Boolean({ description: 'true or false' })),
    after: Type.Optional(
      Type.Array(MigrationId, {
        maxItems: MAX_AFTER,
        description:
          'for a dry run: the migrations that would be run before this one, whose own dry runs are done; the loans that they would create count as created',
      }),
    ),
  }),
  response: { 202: orProposal(Started) },
}
const retrySchema = {
  operationId: 'retryMigration',
  'x-refusals': ['CONFLICT'],
  summary: 'Processes the rows that failed, were stopped or remain',
  params: ofOneMigration,
  response: { 202: orProposal(Started) },
}
const cancelSchema = {
  operationId: 'cancelMigration',
  'x-refusals': ['CONFLICT'],
  summary: 'Starts nothing more; rows in progress are completed',
  params: ofOneMigration,
  response: { 202: Started },
}

type Context = ForApprovals & { portfolio: Portfolio }

export function runRoutes(app: App, context: Context): void {
  const { portfolio } = context
  const { limitLongCalls, calls } = portfolio
  const { runCall, retryCall } = calls
  const act = actRoutes(app, context)
  act.post('/migration/run', runSchema, runCall, {
    asked: ({ body }) => {
      const asked = { dry_run: false, skip_invalid: false, after: [], ...body }
      if (asked.after.length > 0 && !asked.dry_run)
        throw invalidField('/after', 'is only for a dry run: a run starts at once')
      return asked
    },
  })

  act.post('/migration/:id/retry', retrySchema, retryCall, { onRequest: limitLongCalls })

  app.post('/migration/:id/cancel', toOperate(cancelSchema), async (request, reply) =>
    reply.code(202).send(await portfolio.cancel(request.params.id, askerOf(request))),
  )
}
