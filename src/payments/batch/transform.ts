import { type RawBuilder, sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Row } from '../../database/database.ts'
import { isLocked, isTimeout, isTransient } from '../../database/transient.ts'
import { publicReason } from '../../log/public-error.ts'
import { RunLeft } from '../../queue/keep-claim.ts'
import { isConstraint, isDataError } from '../data-error.ts'
import { lockSettling } from '../lock-settling.ts'
import type { Batch } from './batch.ts'
import { noteError } from './note-error.ts'

/** Enough rows to spread the fixed cost of a transaction, and few enough to end within a second. */
const ROWS_AT_ONCE = 5_000
/** If more rows break the database's constraints, something other than these rows is wrong. */
const MAX_STUCK = 10

/** `stuck`: the rows that break a constraint, which wait for the next batch and delay no other row. */
type Source = { name: string; stuck: string[] }

/** Transforms new rows. Those that arrive meanwhile are left: a source that never stops must not delay posting. */
export async function transform(batch: Batch): Promise<void> {
  const { rows } = await sql<Row<'core.source', 'name'>>`
    select name from core.source order by name`.execute(batch.db)
  for (const { name } of rows) {
    const source: Source = { name, stuck: [] }
    try {
      for (let left = await countPending(batch, name); left > 0; batch.check()) {
        const taken = await transformChunk(batch, source, Math.min(left, ROWS_AT_ONCE))
        left = taken > 0 ? left - taken : 0
      }
    } catch (error) {
      if (error instanceof RunLeft || (isTransient(error) && !isOfOneSource(error))) throw error
      // A source that cannot be read must not delay the others; its rows wait for the next batch.
      batch.log.error({ err: error, source: name }, 'source cannot be read')
      await noteError(batch.db, batch.claim, name, error)
    }
  }
}

async function countPending({ db }: Batch, source: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from core.pending_event where source = ${source}`.execute(db)
  return rows[0]?.count ?? 0
}

async function transformChunk(batch: Batch, source: Source, max: number): Promise<number> {
  if (max === 1) return transformOldest(batch, source)
  try {
    return await runCounted(
      batch,
      sql`core.transform(${source.name}, ${max}, ${source.stuck}::uuid[])`,
    )
  } catch (error) {
    if (!isDataError(error) && !isConstraint(error) && !isTimeout(error)) throw error
    // An operator's own view may raise an error on one row, or never end: that row becomes unreadable, and the others continue.
    const half = Math.ceil(max / 2)
    const first = await transformChunk(batch, source, half)
    return first < half ? first : first + (await transformChunk(batch, source, max - half))
  }
}

/** Transforms the oldest row, which is chosen once: after an error of its view, an older row may have been committed. */
async function transformOldest(batch: Batch, { name, stuck }: Source): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select raw_id as id from core.pending_event
     where source = ${name} and raw_id <> all(${stuck}::uuid[])
     order by raw_id limit 1`.execute(batch.db)
  const id = rows[0]?.id
  if (id === undefined) return 0
  const take = () => runCounted(batch, sql`core.take(${name}, array[${id}::uuid])`)
  try {
    // A database that stalled may be back: its time-out must not make a good row unreadable.
    return await take().catch(error => (isTimeout(error) ? take() : Promise.reject(error)))
  } catch (error) {
    if (isDataError(error) || isTimeout(error))
      return runCounted(batch, sql`core.save_broken(${name}, ${id}, ${publicReason(error)})`)
    if (!isConstraint(error) || stuck.length === MAX_STUCK) throw error
    batch.log.error(
      { err: error, source: name, rawId: id },
      'event violates a constraint of the database',
    )
    await noteError(batch.db, batch.claim, name, error)
    stuck.push(id)
    return 1
  }
}

async function runCounted({ db, claim }: Batch, step: RawBuilder<unknown>): Promise<number> {
  const taken = await db.transaction().execute(async trx => {
    // The lock is a statement of its own, so that waiting for it never looks like a row that cannot be read in time.
    await lockSettling(trx)
    const { rows } = await sql<{ taken: number; isOurs: boolean }>`
      with done as materialized (select * from ${step}),
      noted as (
        update core.batch_run b
           set transformed = b.transformed + done.taken, suspended = b.suspended + done.suspended,
               failed = b.failed + done.failed
          from done
         where b.id = ${claim.id} and b.attempt = ${claim.number}
        returning b.id)
      select done.taken::integer, exists (select from noted) as "isOurs" from done`.execute(trx)
    const row = rows[0]
    if (!row?.isOurs) throw new RunLeft()
    return row.taken
  })
  if (taken > 0) crashPoint('batch.transformed')
  return taken
}

const isOfOneSource = (error: unknown) => isLocked(error) || isTimeout(error)
