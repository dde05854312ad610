import { hash } from 'node:crypto'
import createError from '@fastify/error'
import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Database, Trx } from '../database/database.ts'
import { HELD } from '../database/group-commit/group-commit.ts'
import { LOCKS } from '../database/locks.ts'
import { prepared } from '../database/pool/prepared.ts'
import { newId } from '../ids.ts'
import { insertingJobs } from '../queue/queue.ts'
import { wakeAtCommit } from '../queue/wake-workers.ts'
import type { Data, Operation } from './operation.ts'
import type { Origin } from './origin.ts'
import { queueOf, wakesOf } from './queue.ts'

const IdempotencyKeyReused = createError(
  'IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key has already been used with a different body: a corrected operation needs a new key',
  422,
)

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
type AskedBy = {
  actor: string | null
  caller: string | null
  address: string | null
  requestId: string | null
  traceparent: string | null
  /** Names of members of the request that were dropped. */
  ignored: string[] | null
}

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
    actor: null,
    caller: null,
    address: null,
    requestId: null,
    traceparent: null,
    ignored: null,
    ...askedBy,
  }
}

/**
 * Accepts operations in a transaction of its own; the caller wakes the workers after it.
 * @returns HELD for one whose loan, client or key another transaction holds: it was not accepted, and the others did not wait
 */
export async function acceptOperations(db: Database, boss: PgBoss, operations: NewOperation[]) {
  const held = new Set(
    await insertQuietly(db, boss, { origin: 'api', operations, isWaiting: false }),
  )
  crashPoint('intake.committed')
  const known = await findByKey(db, operations)
  const namesOf = held.size === 0 ? () => [] : namesAmong(operations)
  return operations.map(operation => {
    const holder =
      operation.idempotencyKey === null ? undefined : known.get(operation.idempotencyKey)
    if (holder && holder.requestSha256 !== operation.requestSha256)
      return new IdempotencyKeyReused()
    if (!holder && namesOf(operation).some(name => held.has(name))) return HELD
    return { operationType: operation.operationType, id: holder?.id ?? operation.id }
  })
}

export function lockedNames({ subject, waitsFor, idempotencyKey }: NewOperation): string[] {
  const names = waitsFor === null ? [subject] : [subject, waitsFor]
  // Transactions that insert the same two keys in different orders would otherwise wait for each other.
  return idempotencyKey === null ? names : [...names, `key:${idempotencyKey}`]
}

/** The names of an operation, and of the others on its loan: if one of them waits for a held client, none may overtake it. */
function namesAmong(operations: NewOperation[]): (operation: NewOperation) => string[] {
  const clients = Map.groupBy(
    operations.filter(({ waitsFor }) => waitsFor !== null),
    ({ subject }) => subject,
  )
  return operation => [
    ...lockedNames(operation),
    ...(clients.get(operation.subject) ?? []).map(({ waitsFor }) => waitsFor as string),
  ]
}

/** Skips operations whose key or id is taken. Call it once per transaction: its locks are taken in order. */
export async function insertOperations(
  trx: Trx,
  boss: PgBoss,
  origin: Origin,
  operations: NewOperation[],
): Promise<void> {
  await insertQuietly(trx, boss, { origin, operations, isWaiting: true })
  await wakeAtCommit(trx, queueOf(origin))
}

type Insertion = { origin: Origin; operations: NewOperation[]; isWaiting: boolean }

/** @returns the names that other transactions hold, whose operations are left out unless this one waits for them */
async function insertQuietly(
  db: Database,
  boss: PgBoss,
  { origin, operations, isWaiting }: Insertion,
): Promise<string[]> {
  const names = operations.flatMap(lockedNames)
  const wakes = wakesOf(operations.map(({ subject }) => subject))
  const name = isWaiting ? `insert_operations_of_${origin}` : `accept_operations_of_${origin}`
  // Until the commit, nobody else inserts operations on these subjects, or on the clients that they wait
  // for. So the sequence follows the order of the commits for each of them, and a claim never overlooks an
  // earlier operation that is not visible yet. The aggregate holds all locks before the first row is
  // numbered; names with equal hashes share one.
  const { rows } = await sql<{ held: string[] }>`${prepared(name)}
    with named as (
      select name, hashtext(name) as hash from unnest((select ${names}::text[])) as given (name) order by hash
    ), locked as materialized (
      select name, ${isWaiting ? waiting : trying} as is_ours from named
    ), intake as materialized (
      select coalesce(array_agg(name) filter (where not is_ours), '{}') as held from locked
    ), wake_ups as (${await insertingJobs(boss, queueOf(origin), wakes)}
    ), inserted as (
      ${insertingRows(origin, operations)}
    )
    select held from intake`.execute(db)
  return rows[0]?.held ?? []
}

/** Inserts operations none of whose names others hold. */
function insertingRows(origin: Origin, operations: NewOperation[]) {
  const namesOf = namesAmong(operations)
  const rows = operations.map(one => ({ ...one, names: namesOf(one) }))
  return sql`
  insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data, idempotency_key,
    request_sha256, actor, caller, address, request_id, traceparent, ignored)
  select "id", "operationType", ${sql.lit(origin)}, "subject", "waitsFor", "externalId", "data", "idempotencyKey",
         decode("requestSha256", 'hex'), "actor", "caller", "address", "requestId", "traceparent",
         "ignored"
    from intake cross join rows from (json_to_recordset(${JSON.stringify(rows)}) as (
      "id" uuid, "operationType" text, "subject" text, "waitsFor" text, "externalId" text, "data" json,
      "idempotencyKey" text, "requestSha256" text, "actor" text, "caller" text, "address" inet, "requestId" text,
      "traceparent" text, "ignored" text[], "names" text[])) with ordinality
   where not "names" && held
   order by ordinality
  on conflict do nothing`
}

const waiting = sql`pg_advisory_xact_lock(${sql.lit(LOCKS.intake)}, hash) is not null`
const trying = sql`pg_try_advisory_xact_lock(${sql.lit(LOCKS.intake)}, hash)`

async function findByKey(db: Database, operations: NewOperation[]) {
  const keys = operations.map(one => one.idempotencyKey).filter(key => key !== null)
  if (keys.length === 0) return new Map<string, { id: string; requestSha256: string }>()
  const { rows } = await sql<{ id: string; idempotencyKey: string; requestSha256: string }>`
    select id, idempotency_key as "idempotencyKey", encode(request_sha256, 'hex') as "requestSha256"
      from loanops.operation
     where idempotency_key = any(${keys})`.execute(db)
  return new Map(rows.map(row => [row.idempotencyKey, row]))
}

/** The hash is equal for equal JSON, whatever the order of its members. */
const sha256OfJson = (value: unknown): string =>
  hash('sha256', JSON.stringify(value, sortedMembers))

function sortedMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
