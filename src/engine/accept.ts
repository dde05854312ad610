import { createHash } from 'node:crypto'
import createError from '@fastify/error'
import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Database, Trx } from '../database/database.ts'
import { newId } from '../ids.ts'
import { insertJobs } from '../queue/queue.ts'
import type { Data, Operation } from './operation.ts'
import type { Origin } from './origin.ts'
import { queueOf } from './queue.ts'

const IdempotencyKeyReused = createError(
  'IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key has already been used with a different body',
  422,
)

/** Arbitrary, but every process must use the same number. */
const INTAKE_LOCK = 7_405_314

export type NewOperation = {
  id: string
  operationType: string
  subject: string
  waitsFor: string | null
  externalId: string
  data: Data
  idempotencyKey: string | null
  requestSha256: string | null
} & AskedBy
/** Who asked for an operation, in which request and trace; nobody for those that features request themselves. */
export type AskedBy = {
  caller: string | null
  requestId: string | null
  traceparent: string | null
}
export type Accepted = { operationType: string; id: string }

export function newOperation(
  operation: Pick<Operation, 'name' | 'subject' | 'externalId' | 'waitsFor'>,
  data: Data,
  idempotencyKey: string | null,
  askedBy: Partial<AskedBy> = {},
): NewOperation {
  const request = { operation: operation.name, data }
  return {
    id: newId(),
    operationType: operation.name,
    subject: operation.subject(data),
    waitsFor: operation.waitsFor?.(data) ?? null,
    externalId: operation.externalId(data),
    data,
    idempotencyKey,
    requestSha256: idempotencyKey === null ? null : sha256OfJson(request),
    caller: null,
    requestId: null,
    traceparent: null,
    ...askedBy,
  }
}

/** Saves the operations and their wake-ups in a transaction of its own. @returns one result per operation, in order */
export async function acceptOperations(
  db: Database,
  boss: PgBoss,
  operations: NewOperation[],
): Promise<(Accepted | InstanceType<typeof IdempotencyKeyReused>)[]> {
  const known = await db.transaction().execute(async trx => {
    await insertOperations(trx, boss, 'api', operations)
    const held = await heldByKey(trx, operations)
    crashPoint('intake.inserted')
    return held
  })
  crashPoint('intake.committed')
  return operations.map(operation => {
    const holder =
      operation.idempotencyKey === null ? undefined : known.get(operation.idempotencyKey)
    if (holder && holder.requestSha256 !== operation.requestSha256)
      return new IdempotencyKeyReused()
    return { operationType: operation.operationType, id: holder?.id ?? operation.id }
  })
}

/** Adds operations in the caller's transaction, in the order given. Skips those whose key or id is taken. */
export async function insertOperations(
  trx: Trx,
  boss: PgBoss,
  origin: Origin,
  operations: NewOperation[],
) {
  // One intake at a time: sequence numbers then follow the order of the commits, and a claim never overlooks an earlier
  // operation of its subject that is not visible yet. Rows are sorted under the lock, and numbered after the sort.
  await sql`
    with intake as materialized (select pg_advisory_xact_lock(${INTAKE_LOCK}))
    insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data, idempotency_key,
      request_sha256, caller, request_id, traceparent)
    select "id", "operationType", ${origin}, "subject", "waitsFor", "externalId", "data", "idempotencyKey",
           decode("requestSha256", 'hex'), "caller", "requestId", "traceparent"
      from intake cross join rows from (json_to_recordset(${JSON.stringify(operations)}) as (
        "id" uuid, "operationType" text, "subject" text, "waitsFor" text, "externalId" text, "data" json,
        "idempotencyKey" text, "requestSha256" text, "caller" text, "requestId" text, "traceparent" text)) with ordinality
     order by ordinality
    on conflict do nothing`.execute(trx)
  const subjects = new Set(operations.map(({ subject }) => subject))
  await insertJobs(
    boss,
    trx,
    queueOf(origin),
    [...subjects].map(subject => ({ data: { subject } })),
  )
}

async function heldByKey(trx: Trx, operations: NewOperation[]) {
  const keys = operations.map(one => one.idempotencyKey).filter(key => key !== null)
  if (keys.length === 0) return new Map<string, { id: string; requestSha256: string }>()
  const { rows } = await sql<{ id: string; idempotencyKey: string; requestSha256: string }>`
    select id, idempotency_key as "idempotencyKey", encode(request_sha256, 'hex') as "requestSha256"
      from loanops.operation
     where idempotency_key = any(${keys})`.execute(trx)
  return new Map(rows.map(row => [row.idempotencyKey, row]))
}

/** Equal for equal JSON, whatever the order of its members. */
function sha256OfJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortedMembers)).digest('hex')
}

function sortedMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
