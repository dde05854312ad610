import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Databases } from '../database/database.ts'
import { keepRenewing } from '../database/lease.ts'
import { awaitSaved } from './await-saved.ts'
import { type Batch, BatchLeft } from './batch.ts'
import { type BatchClaim, endBatch, releaseBatch, renewBatch } from './batch-claim.ts'
import { discover } from './discover.ts'
import { judge, type ProductOf } from './judge.ts'
import { post } from './post.ts'
import { transform } from './transform.ts'

export type BatchContext = Databases & {
  boss: PgBoss
  log: Batch['log']
  productOf: ProductOf
  isStopping(): boolean
  onStage(stage: string, seconds: number): void
}

/**
 * One pass of raw → base → core → ledger. Each stage continues with what remains, also after a worker died.
 * @returns false if another worker continues the run
 */
export async function runBatch(context: BatchContext, claim: BatchClaim): Promise<boolean> {
  let isLost = false
  const renewal = keepRenewing(async () => {
    isLost ||= !(await renewBatch(context.db, claim))
  })
  const batch: Batch = {
    ...context,
    db: context.patient,
    claim,
    check() {
      if (isLost || context.isStopping()) throw new BatchLeft()
    },
  }
  try {
    await awaitSaved(batch, sql`select started_at from core.batch_run where id = ${claim.id}`)
    await timed('discover', discover)
    await timed('transform', transform)
    await judge(batch, context.productOf)
    await timed('post', post)
    crashPoint('batch.unended')
    await endBatch(context.patient, claim)
    return true
  } catch (error) {
    const isLeft = error instanceof BatchLeft
    await releaseBatch(context.db, claim, isLeft ? null : (error as Error))
    if (isLeft) return false
    throw error
  } finally {
    renewal.stop()
  }

  async function timed(stage: string, run: (batch: Batch) => Promise<void>): Promise<void> {
    batch.check()
    const start = performance.now()
    await run(batch)
    const seconds = (performance.now() - start) / 1_000
    context.onStage(stage, seconds)
    await sql`
      update core.batch_run set ${sql.ref(`${stage}_seconds`)} = ${seconds.toFixed(3)}
       where id = ${claim.id} and attempt = ${claim.number}`.execute(context.db)
  }
}
