import type { PgBoss } from 'pg-boss'
import type { Databases, Trx } from '../database/database.ts'
import type { Log } from '../log.ts'
import type { Job } from './job.ts'
import { keepClaim, RunLeft } from './keep-claim.ts'
import { startLoop } from './loop.ts'
import { type Queue, work } from './queue.ts'
import { claimRun, type RunClaim, type RunTable, releaseRun } from './run-claim.ts'

/** A dead worker sends no signal: with the lease of 10 s, its run continues within 12 s. */
const LOOK_EVERY_MS = 2_000

export type Run = {
  claim: RunClaim
  stopping: AbortSignal
  check(): void
}

type RunKind = {
  table: RunTable
  queue: Queue<{ trigger?: 'schedule' }>
  cron: string
  timeZone: string
  request(trx: Trx): Promise<unknown>
  run(run: Run): Promise<void>
  log: Pick<Log, 'error'>
}

export async function workRuns({ db }: Databases, boss: PgBoss, kind: RunKind): Promise<Job> {
  const { table, queue, log } = kind
  if (kind.cron === '') await boss.unschedule(queue.name)
  else await boss.schedule(queue.name, kind.cron, { trigger: 'schedule' }, { tz: kind.timeZone })
  const loop = startLoop(async stopping => ((await runNext(stopping)) ? 0 : LOOK_EVERY_MS), {
    everyMs: LOOK_EVERY_MS,
    onError: error =>
      log.error({ err: error, queue: queue.name }, 'run interrupted; it will be resumed'),
  })
  const waking = await work(boss, queue, async jobs => {
    if (jobs.some(({ data }) => data?.trigger === 'schedule'))
      await db.transaction().execute(kind.request)
    loop.wake()
  })
  return {
    async stop() {
      await Promise.all([loop.stop(), waking.stop()])
    },
  }

  async function runNext(stopping: AbortSignal): Promise<boolean> {
    const claim = await claimRun(db, table)
    if (claim === undefined) return false
    const { check, stop } = keepClaim(db, table, claim, () => stopping.aborted)
    try {
      await kind.run({ claim, stopping, check })
      return true
    } catch (error) {
      const isLeft = error instanceof RunLeft
      await releaseRun(db, table, claim, isLeft ? null : (error as Error))
      if (isLeft) return false
      throw error
    } finally {
      stop()
    }
  }
}
