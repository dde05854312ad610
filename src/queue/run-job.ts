import type { PgBoss } from 'pg-boss'
import type { Databases, Trx } from '../database/database.ts'
import type { Log } from '../log/log.ts'
import { type Job, startLoop, together } from './job.ts'
import { keepClaim, RunLeft } from './keep-claim.ts'
import { CATCH_UP, type Queue, work } from './queue.ts'
import { type LeasedTable, type RunClaim, releaseRun } from './run-claim.ts'

/** A dead worker sends no signal: with the lease of 10 s, its run continues within 12 s. */
const LOOK_EVERY_MS = 2_000

export type Run<Claim extends RunClaim = RunClaim> = {
  claim: Claim
  stopping: AbortSignal
  check(): void
}

type RunKind<Key, Claim extends RunClaim> = {
  table: LeasedTable
  queue: Queue<{ trigger?: 'schedule' }>
  cron: string
  timeZone: string
  /** A worker has one run at a time for each of these. */
  keys: Key[]
  request(trx: Trx): Promise<unknown>
  claim(key: Key): Promise<Claim | undefined>
  run(run: Run<Claim>, key: Key): Promise<void>
  log: Pick<Log, 'error'>
}

export async function workRuns<Key, Claim extends RunClaim>(
  { db }: Databases,
  boss: PgBoss,
  kind: RunKind<Key, Claim>,
): Promise<Job> {
  const { table, queue, log } = kind
  await schedule(boss, kind)
  const onError = (error: unknown) =>
    log.error({ err: error, queue: queue.name }, 'run interrupted; it will be resumed')
  const loops = kind.keys.map(key =>
    startLoop({ everyMs: LOOK_EVERY_MS, onError }, async stopping =>
      (await runNext(key, stopping)) ? 0 : LOOK_EVERY_MS,
    ),
  )
  const waking = await work(boss, queue, async jobs => {
    // A schedule that was switched off may have asked for a run while this process started.
    if (kind.cron !== '' && jobs.some(({ data }) => data?.trigger === 'schedule'))
      await db.transaction().execute(kind.request)
    for (const loop of loops) loop.wake()
  })
  return together([waking, ...loops])

  async function runNext(key: Key, stopping: AbortSignal): Promise<boolean> {
    const claim = await kind.claim(key)
    if (claim === undefined) return false
    const { check, stop } = keepClaim(db, table, claim, () => stopping.aborted)
    try {
      await kind.run({ claim, stopping, check }, key)
      return true
    } catch (error) {
      const isLeft = error instanceof RunLeft
      // Without its release, the run continues once its lease has expired. What interrupted it must be logged all the same.
      await releaseRun(db, table, claim, isLeft ? null : (error as Error)).catch(onError)
      if (isLeft) return false
      throw error
    } finally {
      stop()
    }
  }
}

async function schedule(
  boss: PgBoss,
  { queue, cron, timeZone }: Pick<RunKind<unknown, RunClaim>, 'queue' | 'cron' | 'timeZone'>,
): Promise<void> {
  if (cron === '') await boss.unschedule(queue.name)
  else await boss.schedule(queue.name, cron, { trigger: 'schedule' }, { tz: timeZone, ...CATCH_UP })
}
