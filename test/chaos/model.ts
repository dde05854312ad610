import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { idOf } from '../../src/ids.ts'
import type { LoggedWrite } from '../../src/sandbox/storage/write-log.ts'

/** The figures behind the promises, once everything is final. All but the first seven must be 0. */
type Verdict = {
  accepted: number
  final: number
  succeeded: number
  appliedOnce: number
  /** Repayments refused by the ledger or by our own checks; their payments are in suspense. */
  refusedPayments: number
  /** Repayments of a portfolio that an operator cancelled. */
  cancelledRows: number
  /** The answer was lost, but the ledger had applied the write. */
  unknownButApplied: number
  /** Answered with 202, but missing. */
  vanished: number
  unfinished: number
  /** Success without an effect at the ledger. */
  lost: number
  /** More than one effect. */
  doubled: number
  /** Failed, but applied. */
  failedButApplied: number
  /** Applied after an operation on the same subject that was accepted later. */
  outOfOrder: number
  /** Writes to the ledger that belong to no operation. */
  strangers: number
}

type Row = {
  id: string
  origin: string
  seq: string
  subject: string
  status: string
  keyGeneration: number
  wasUnknown: boolean
  /** How many writes it makes, or, if it failed, made before that. */
  writes: number
}

/**
 * Compares the ledger's log of applied writes with the accepted operations.
 * @param acknowledged the ids of the operations that were answered with 202
 */
export async function judge(
  db: Database,
  acknowledged: Iterable<string>,
  log: LoggedWrite[],
): Promise<Verdict> {
  const { rows } = await sql<Row>`
    select o.id, o.origin, o.seq, o.subject, o.status, o.key_generation as "keyGeneration",
           exists (select from loanops.operation_attempt a
                    where a.operation_id = o.id and a.outcome = 'unknown') as "wasUnknown",
           case when o.operation_type <> 'REPAYMENT_REVERSAL' then (o.status = 'success')::integer
                when o.status = 'success' then 1 + (o.data ->> 'remainder' is not null)::integer
                else (o.seen ->> 'undone' is not null)::integer end as writes
      from loanops.operation o order by o.seq`.execute(db)
  const effects = effectsByOperation(rows, log)
  const of = (row: Row) => effects.byId.get(row.id) ?? []
  const known = new Set(rows.map(({ id }) => id))
  const count = (is: (row: Row) => boolean) => rows.filter(is).length
  return {
    accepted: rows.length,
    final: count(({ status }) => status !== 'processing'),
    succeeded: count(({ status }) => status === 'success'),
    appliedOnce: count(row => row.status === 'success' && of(row).length === row.writes),
    refusedPayments: count(({ origin, status }) => origin === 'payment' && status === 'failed'),
    cancelledRows: count(({ origin, status }) => origin === 'migration' && status === 'failed'),
    unknownButApplied: count(
      row => row.wasUnknown && row.writes > 0 && of(row).length === row.writes,
    ),
    vanished: [...acknowledged].filter(id => !known.has(id)).length,
    unfinished: count(({ status }) => status === 'processing'),
    lost: count(row => of(row).length < row.writes),
    doubled: count(row => of(row).length > Math.max(1, row.writes)),
    failedButApplied: count(row => row.status === 'failed' && of(row).length > row.writes),
    outOfOrder: outOfOrder(rows, effects.byId),
    strangers: effects.strangers,
  }
}

/** Each Idempotency-Key is derived from one operation, so it identifies whose write it was. */
function effectsByOperation(rows: Row[], log: LoggedWrite[]) {
  const owner = new Map<string, string>()
  for (const { id, keyGeneration } of rows) {
    for (let generation = 1; generation <= keyGeneration; generation++)
      owner.set(idOf(`${id}:${generation}`), id)
  }
  const byId = new Map<string, number[]>()
  let strangers = 0
  for (const { idempotencyKey, sequence } of log) {
    const id = owner.get(idempotencyKey ?? '')
    if (id === undefined) strangers++
    else byId.set(id, [...(byId.get(id) ?? []), sequence])
  }
  return { byId, strangers }
}

function outOfOrder(rows: Row[], effects: Map<string, number[]>): number {
  const lastOf = new Map<string, number>()
  let count = 0
  for (const { id, subject } of rows) {
    for (const sequence of effects.get(id) ?? []) {
      if (sequence < (lastOf.get(subject) ?? 0)) count++
      lastOf.set(subject, sequence)
    }
  }
  return count
}
