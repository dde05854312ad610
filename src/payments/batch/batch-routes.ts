import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate, toRead } from '../../accounts/access/needs.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { only, titled } from '../../http/fields/schemas.ts'
import { Id } from '../../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { openView } from '../../http/lists/open-view.ts'
import { BatchRun } from '../payment-record.ts'
import { requestBatchNow } from './request-batch.ts'

const batches = sql<object>`
  select batch_id, trigger, status, started_at, ended_at, discovered, transformed::integer, posted::integer,
         suspended::integer, failed::integer, requested_at, discover_seconds::float8, transform_seconds::float8,
         post_seconds::float8, last_error
    from ops.batch_run`
const view = openView<Static<typeof BatchRun>>(batches, 'batch_id', 'batch run')

const requestSchema = {
  operationId: 'requestBatch',
  summary: 'Requests a batch run now, or as soon as the running one ends',
  response: { 202: titled('RequestedBatch', { batch_id: Type.String() }) },
}
const listSchema = {
  operationId: 'listBatches',
  summary: 'Lists batch runs, newest first',
  querystring: only(listQuery('batches', 'uuid')),
  response: listAnswer('batches', BatchRun, 'BatchRunList'),
}
const runSchema = {
  operationId: 'getBatch',
  summary: 'Returns a batch run with its counts',
  params: Type.Object({ id: Id }),
  response: { 200: BatchRun },
}

type Context = { db: Database; forReads: Database; boss: PgBoss }

export function batchRoutes(app: App, { db, forReads, boss }: Context): void {
  app.post('/payments/batch', toOperate(requestSchema), async (request, reply) => {
    const batch_id = await requestBatchNow(db, boss, askerOf(request))
    return reply.code(202).send({ batch_id })
  })

  app.get('/payments/batches', toRead(listSchema), async ({ query }) =>
    named('batches', await view.page(forReads, query)),
  )

  app.get('/payments/batches/:id', toRead(runSchema), ({ params }) => view.one(forReads, params.id))
}
