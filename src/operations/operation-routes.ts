import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { askerOf } from '../accounts/access/actor.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import {
  CALLERS_PATIENCE_MS,
  groupCommit,
  type HELD,
  MAX_CONCURRENT_GROUPS,
} from '../database/group-commit/group-commit.ts'
import type { Watch } from '../database/watch.ts'
import { acceptOperations, lockedNames, type NewOperation, newOperation } from '../engine/accept.ts'
import { type Catalogue, trackingId } from '../engine/operation.ts'
import { liveQueue } from '../engine/queue.ts'
import type { App } from '../http/app.ts'
import { oneOf, only } from '../http/fields/schemas.ts'
import { ExternalId } from '../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../http/lists/list-query.ts'
import { takeOnce } from '../http/repeated-header.ts'
import { bodyIsCheckedLater } from '../http/validator.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Traces } from '../ops/traces/traces.ts'
import { openWaker } from '../queue/wake-workers.ts'
import { operationCounters } from './operations-feature.ts'
import { awaitFinal } from './reading/await-final.ts'
import { findOperation, listOperations } from './reading/find-operations.ts'
import {
  OperateResponse,
  OperationItem,
  STATUSES,
  TrackingRecord,
  trackingRecord,
} from './reading/operation-record.ts'
import { parseTrackingId, TRACKING_REFUSALS, TrackingId, UnknownTrackingId } from './tracking-id.ts'
import { operateBody, operateValidator } from './validate.ts'

const MAX_WAIT_SECONDS = 30

const ofOneOperation = Type.Object({ tracking_id: TrackingId })
const operateSchema = (catalogue: Catalogue) => ({
  operationId: 'submitOperation',
  'x-refusals': ['UNKNOWN_OPERATION', 'IDEMPOTENCY_KEY_REUSED'],
  summary: 'Accepts an operation to run on the ledger',
  querystring: Type.Object({}),
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'a text of 1 to 255 characters' }),
    ),
  }),
  body: operateBody(catalogue),
  response: {
    202: {
      ...OperateResponse,
      headers: { Location: { type: 'string', description: 'the path of the tracking record' } },
    },
  },
})
const trackSchema = {
  operationId: 'trackOperation',
  'x-refusals': TRACKING_REFUSALS,
  summary: 'Returns the state and result of an operation',
  params: ofOneOperation,
  querystring: Type.Object({
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        description: `a whole number of seconds from 0 to ${MAX_WAIT_SECONDS} to wait for the result; ignored while too many callers wait`,
      }),
    ),
  }),
  response: { 200: TrackingRecord },
}
const listSchema = (catalogue: Catalogue) => ({
  operationId: 'listOperations',
  summary: 'Lists operations, newest first, with the reason why one is not done yet',
  querystring: only({
    external_id: Type.Optional(ExternalId),
    status: Type.Optional(oneOf(STATUSES)),
    operation_type: Type.Optional(oneOf([...catalogue.keys()])),
    ...listQuery('operations', 'bigint'),
  }),
  response: listAnswer('operations', OperationItem, 'OperationList'),
})

type Context = {
  db: Database
  forReads: Database
  boss: PgBoss
  catalogue: Catalogue
  watch: Watch
  traces: Traces
  metrics: Metrics
  config: Config
  limits: { waiting: number }
}

export function operationRoutes(app: App, context: Context): void {
  const { db, forReads, catalogue, limits } = context
  const final = awaitFinal(db, limits.waiting)
  const operate = operateCall(context)

  app.addHook('preClose', async () => final.release())

  app.post(
    '/ledger/operate',
    {
      schema: operateSchema(catalogue),
      config: { needs: 'submit' },
      preValidation: takeOnce('idempotency-key'),
      validatorCompiler: bodyIsCheckedLater,
    },
    async (request, reply) => {
      const tracking_id = await operate(request, request.headers['idempotency-key'] ?? null)
      return reply
        .code(202)
        .header('location', `/api/ledger/track/${encodeURIComponent(tracking_id)}`)
        .send({ tracking_id, status: 'processing' })
    },
  )

  app.get(
    '/ledger/track/:tracking_id',
    { schema: trackSchema, config: { needs: 'any' } },
    async (request, reply) => {
      const id = parseTrackingId(request.params.tracking_id)
      const found = await findOperation(db, id)
      if (found === undefined) throw new UnknownTrackingId()
      const { wait = 0 } = request.query
      const isWorthWaiting = found.status === 'processing' && wait > 0
      if (!isWorthWaiting || final.isFull()) return trackingRecord(found)
      await final.wait(id.id, wait * 1_000, reply.raw)
      return trackingRecord((await findOperation(db, id)) ?? found)
    },
  )

  app.get(
    '/ledger/operations',
    { schema: listSchema(catalogue), config: { needs: 'any' } },
    async ({ query }) =>
      named('operations', await listOperations(forReads, { ...query, origin: 'api' })),
  )
}

/** Validates the operation that a body names, and accepts it. The call returns its tracking id. */
function operateCall(context: Context) {
  const { db, catalogue, traces, metrics, config } = context
  const validate = operateValidator(catalogue, config.UNKNOWN_FIELDS)
  const count = metrics.of(operationCounters)
  const accept = openIntake(context)

  return async (request: FastifyRequest, key: string | null): Promise<string> => {
    const { operation, data, ignored } = validate(request.body)
    await operation.refuse?.(db, data, key)
    const asker = askerOf(request)
    const { traceparent } = traces.ofRequest(request)
    const wanted = newOperation(operation, data, key, { ...asker, traceparent, ignored })
    const accepted = await accept.submit(wanted)
    if (accepted instanceof Error) throw accepted
    if (ignored !== null) count.ignored(ignored)
    return trackingId(accepted)
  }
}

function openIntake({ db, boss, watch }: Context) {
  const watched = watch.over('intake')
  const wake = openWaker(db, liveQueue)
  const commit = async (operations: NewOperation[]) => {
    const accepted = await watched(() => acceptOperations(db, boss, operations))
    wake()
    return accepted
  }
  return groupCommit<NewOperation, Answered>(commit, {
    patienceMs: CALLERS_PATIENCE_MS,
    onWaited: watch.waited('intake'),
    groups: MAX_CONCURRENT_GROUPS,
    namesOf: lockedNames,
  })
}

type Answered = Exclude<Awaited<ReturnType<typeof acceptOperations>>[number], typeof HELD>
