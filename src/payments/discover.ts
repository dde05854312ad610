import { sql } from 'kysely'
import { crashPoint } from '../crash-point.ts'
import type { Batch } from './batch.ts'
import { noteError } from './batch-end.ts'

/** Registers raw tables that are not sources yet, whoever created them, and creates their base models. */
export async function discover({ db, claim, log, check }: Batch): Promise<void> {
  const { rows } = await sql<{ store: string }>`
    select store from raw.undiscovered() as store`.execute(db)
  for (const { store } of rows) {
    check()
    try {
      await db.transaction().execute(async trx => {
        await sql`select raw.register(${store})`.execute(trx)
        await sql`update core.batch_run set discovered = discovered + 1 where id = ${claim.id}`.execute(
          trx,
        )
      })
      crashPoint('batch.registered')
    } catch (error) {
      // A table with different columns must not delay the other sources.
      log.error({ err: error, store }, 'raw table cannot be registered')
      await noteError(db, claim, `raw.${store}`, error)
    }
  }
}
