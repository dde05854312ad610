import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Batch } from './batch.ts'
import { noteError } from './note-error.ts'

export async function discover(batch: Batch): Promise<void> {
  const { db, claim, log, check } = batch
  const { rows } = await sql<{ store: string }>`
    select store from raw.undiscovered() as store`.execute(db)
  for (const { store } of rows) {
    check()
    try {
      await db.transaction().execute(async trx => {
        await sql`select raw.register(${store})`.execute(trx)
        await sql`
          update core.batch_run set discovered = discovered + 1 where id = ${claim.id}`.execute(trx)
      })
      crashPoint('batch.registered')
    } catch (error) {
      // A table with different columns must not delay the other sources.
      log.error({ err: error, store }, 'raw table cannot be registered')
      await noteError(db, claim, `raw.${store}`, error)
    }
  }
  const tried = rows.map(({ store }) => store)
  await reportMisfits(batch, tried)
}

/** Reports tables that do not become sources: whoever made one by hand expects its events to be posted. */
async function reportMisfits({ db, claim, log }: Batch, tried: string[]): Promise<void> {
  const { rows } = await sql<{ store: string; problem: string }>`
    select store, problem from raw.misfits() where store <> all(${tried})
     order by store`.execute(db)
  for (const { store, problem } of rows) {
    log.error({ store, problem }, 'raw table cannot become a source')
    await noteError(db, claim, `raw.${store}`, new Error(problem))
  }
}
