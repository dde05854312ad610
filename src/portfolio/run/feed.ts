import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { fieldsOf } from '../../csv/fields.ts'
import type { Database, Row, Trx } from '../../database/database.ts'
import { insertOperations, type NewOperation } from '../../engine/accept.ts'
import { isClientSubject } from '../../engine/operation.ts'
import { idOf } from '../../ids.ts'
import { type Kinds, rowKindOf } from '../kinds/kinds.ts'
import { markProgress } from '../mark-progress.ts'
import { behindClient, countRows } from './finish-rows.ts'
import { tryLockRun } from './run-lock.ts'
import { type NextRow, type PassedOver, takeNext } from './take-next.ts'

type PortfolioRun = { id: string; type: string; columns: string[]; run: number }

type Feeding = { boss: PgBoss; kinds: Kinds; passed: PassedOver; onFailed(rows: number): void }

/** @returns whether there may be more to do right away */
export async function feed(db: Database, { boss, kinds, passed, onFailed }: Feeding, id: string) {
  let failed = 0
  // The progress is marked outside the transaction: rows that end are locked before their migration, so locking it first
  // could deadlock.
  await markProgress(db, id)
  const hasMore = await db.transaction().execute(async trx => {
    if (!(await tryLockRun(trx, id))) return false
    const run = await runOf(trx, id)
    if (run === undefined) return false
    const { rows, underWay } = await takeNext(trx, run, passed)
    if (rows.length > 0) failed = await begin(trx, boss, run, stepsOf(kinds, run, rows))
    else if (underWay === 0 && !(await hasUnfinishedOperations(trx, id))) await complete(trx, id)
    return rows.length > 0
  })
  onFailed(failed)
  return hasMore
}

async function runOf(trx: Trx, id: string): Promise<PortfolioRun | undefined> {
  const { rows } = await sql<PortfolioRun>`
    select id, type, columns, run from loanops.migration
     where id = ${id} and status = 'running' and not is_dry_run`.execute(trx)
  return rows[0]
}

type RowSteps = { line: number; operations: NewOperation[] }

function stepsOf(kinds: Kinds, { type, columns }: PortfolioRun, rows: NextRow[]): RowSteps[] {
  const kind = rowKindOf(kinds.values(), type)
  return rows.map(({ line, cells }) => ({
    line,
    operations: kind.steps(fieldsOf(columns, JSON.parse(cells) as string[])),
  }))
}

/** @returns how many of the rows failed at once */
async function begin(trx: Trx, boss: PgBoss, run: PortfolioRun, begun: RowSteps[]) {
  const failed = await failBehindClients(trx, run, begun)
  const others = begun.filter(({ line }) => !failed.has(line))
  if (others.length > 0) await insertSteps(trx, boss, run, others)
  const finished = [...failed].map(line => ({
    migrationId: run.id,
    line,
    state: 'failed' as const,
  }))
  await countRows(trx, finished)
  return failed.size
}

/** Fails the rows whose client this run could not create. @returns their lines */
async function failBehindClients(trx: Trx, run: PortfolioRun, begun: RowSteps[]) {
  const behind = begun.flatMap(({ line, operations }) => {
    const client = operations.find(({ subject }) => isClientSubject(subject))
    return client === undefined ? [] : [{ line, client: stepId(run, line, client) }]
  })
  const { rows } = await sql<{ line: number }>`
    update loanops.migration_row r set state = 'failed', reason = ${behindClient(sql`o.error_message`)}
      from json_to_recordset(${JSON.stringify(behind)}) as taken (line integer, client uuid)
      join loanops.operation o on o.id = taken.client and o.status = 'failed'
     where r.migration_id = ${run.id} and r.line = taken.line
    returning r.line`.execute(trx)
  return new Set(rows.map(({ line }) => line))
}

async function insertSteps(trx: Trx, boss: PgBoss, run: PortfolioRun, begun: RowSteps[]) {
  const clients = await clientsOfEarlierRuns(
    trx,
    run,
    begun.flatMap(one => one.operations),
  )
  const steps = new Map<string, { line: number; isLast: boolean; operation: NewOperation }>()
  for (const { line, operations } of begun) {
    for (const [i, operation] of operations.entries()) {
      if (clients.has(operation.subject)) continue
      const id = stepId(run, line, operation)
      const isLast = i === operations.length - 1
      if (!steps.has(id)) steps.set(id, { line, isLast, operation: { ...operation, id } })
    }
  }
  const all = [...steps.values()]
  await insertOperations(
    trx,
    boss,
    'migration',
    all.map(({ operation }) => operation),
  )
  const links = all.map(({ line, isLast, operation }) => ({ id: operation.id, line, isLast }))
  await sql`
    insert into loanops.migration_step (operation_id, migration_id, line, is_last)
    select "id", ${run.id}, "line", "isLast"
      from json_to_recordset(${JSON.stringify(links)}) as step ("id" uuid, "line" integer, "isLast" boolean)
    on conflict do nothing`.execute(trx)
}

/** The clients that an earlier run created, or found equal to the file: this run does not undo a later change to them. */
async function clientsOfEarlierRuns(
  trx: Trx,
  { id, run }: PortfolioRun,
  operations: NewOperation[],
): Promise<Set<string>> {
  if (run === 1) return new Set()
  const clients = operations.filter(({ subject }) => isClientSubject(subject))
  const { rows } = await sql<Row<'loanops.operation', 'subject'>>`
    select o.subject
      from loanops.operation o
      join loanops.migration_step s on s.operation_id = o.id
     where o.external_id = any(${clients.map(({ externalId }) => externalId)}) and o.subject like 'client:%'
       and s.migration_id = ${id} and o.status <> 'failed'`.execute(trx)
  return new Set(rows.map(({ subject }) => subject))
}

/**
 * The id of a step, derived from the row and the run, so that a second attempt adds nothing. All loans of a client
 * share its operation.
 */
function stepId({ id, run }: PortfolioRun, line: number, { operationType, subject }: NewOperation) {
  const of = isClientSubject(subject) ? subject : `line:${line}`
  return idOf(`migration:${id}:${run}:${of}:${operationType}`)
}

/** After one of its operations was cancelled, a row is over while others may still run. */
async function hasUnfinishedOperations(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.operation o
     where o.status = 'processing' and o.origin = 'migration'
       and exists (select from loanops.migration_step where operation_id = o.id and migration_id = ${id})
     limit 1`.execute(trx)
  return rows.length > 0
}

async function complete(trx: Trx, id: string) {
  await sql`
    update loanops.migration set status = 'completed', ended_at = clock_timestamp()
     where id = ${id}`.execute(trx)
}
