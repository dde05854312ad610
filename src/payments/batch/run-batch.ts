import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Databases } from '../../database/database.ts'
import type { Traces } from '../../ops/traces/traces.ts'
import { endRun, type RunClaim } from '../../queue/run-claim.ts'
import type { Run } from '../../queue/run-job.ts'
import { awaitSaved } from './await-saved.ts'
import type { Batch } from './batch.ts'
import { discover } from './discover.ts'
import { type LoanReads, learnLenders } from './learn-lenders.ts'
import { matchAgain } from './match-again.ts'
import { post } from './post.ts'
import { transform } from './transform.ts'

/** Payments that are left after so many rounds wait for the next batch. */
const MAX_ROUNDS = 2

type BatchContext = Databases &
  LoanReads & {
    boss: PgBoss
    traces: Traces
    log: Batch['log']
    whilePosting(run: Run): Promise<number>
    onStage(stage: string, seconds: number): void
  }

/** Runs a batch. Each stage takes what is left, so it also continues after a crash. */
export function runBatch(context: BatchContext, run: Run): Promise<void> {
  const part = { name: 'batch', attributes: { 'loanops.batch_id': run.claim.id } }
  return context.traces
    .at(null)
    .span(part, ({ traceparent }) =>
      runStages(context, { ...context, ...run, db: context.patient, traceparent }, run),
    )
}

async function runStages(context: BatchContext, batch: Batch, run: Run): Promise<void> {
  crashPoint('batch.claimed')
  await awaitSaved(batch, sql`select started_at from core.batch_run where id = ${run.claim.id}`)
  await read()
  // A slow gateway delays nothing that can be posted without it.
  let changed = await both(context.whilePosting(run), timed('post', post))
  // Posting reveals each loan's lender, and thus which other events need confirming.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    changed += await context.whilePosting(run)
    if (changed === 0) break
    changed = 0
    await read()
    await timed('post', post)
  }
  crashPoint('batch.unended')
  await endBatch(context.patient, run.claim)

  async function read(): Promise<void> {
    await timed('discover', discover)
    await timed('transform', transform)
    await matchAgain(batch)
    await learnLenders(batch, context)
  }

  async function timed(stage: string, work: (batch: Batch) => Promise<void>): Promise<void> {
    batch.check()
    const start = performance.now()
    await work(batch)
    const seconds = (performance.now() - start) / 1_000
    context.onStage(stage, seconds)
    await sql`
      update core.batch_run set ${sql.ref(`${stage}_seconds`)} = coalesce(${sql.ref(`${stage}_seconds`)}, 0) + ${seconds.toFixed(3)}
       where id = ${run.claim.id} and attempt = ${run.claim.number}`.execute(context.db)
  }
}

/** Waits for both even if one fails: nothing may go on once the batch has left its run. */
async function both<T>(first: Promise<T>, second: Promise<void>): Promise<T> {
  await Promise.allSettled([first, second])
  await second
  return first
}

/** `recordPostings` adds the results of payments that end later. */
async function endBatch(db: Database, claim: RunClaim): Promise<void> {
  await db.transaction().execute(async trx => {
    // The lock is a separate statement, so that the count sees all that was committed before it.
    await sql`select from core.batch_run where id = ${claim.id} for update`.execute(trx)
    const result = sql`status = 'completed', (posted, suspended) = (
      select count(*) filter (where state = 'posted' and kind = 'payment'),
             batch_run.suspended + count(*) filter (where state = 'suspense')
        from core.transaction where batch_id = ${claim.id})`
    await endRun(trx, 'core.batch_run', claim, result)
  })
}
