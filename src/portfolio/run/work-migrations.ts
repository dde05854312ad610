import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Databases } from '../../database/database.ts'
import type { Job } from '../../queue/job.ts'
import { startLoop } from '../../queue/loop.ts'
import { dryRun } from '../dry-run/dry-run.ts'
import type { DryRunner } from '../dry-run/look-at-loan.ts'
import { sweepUploads } from '../upload/sweep-uploads.ts'
import { feed } from './feed.ts'

/** How often a run is looked after: it has work for longer than this, and a new one starts within it. Idle workers ask too. */
const EVERY_MS = 500
/** One that fails is left alone for so long: what ails it, or the ledger, takes more than a moment. */
const REST_MS = 1_000
const SWEEP_EVERY_MS = 60 * 60_000

/**
 * Looks after whatever runs: every worker does, and what one of them leaves the others take up. Not a queued job:
 * the state of a run stands in its rows, and needs nobody to be woken after a crash.
 */
export function workMigrations(
  { db, patient }: Databases,
  boss: PgBoss,
  runner: DryRunner,
  log: { error(object: object, message: string): void },
): Job {
  const restsUntil = new Map<string, number>()
  // Apart from each other: a dry run waits for the ledger, and a run only has to be fed.
  const loops = [
    again(signal => inTurn(false, signal, id => feed(patient, boss, runner.kinds, id))),
    again(signal => inTurn(true, signal, id => dryRun(patient, runner, id, signal))),
    again(async signal => {
      await sweepUploads(patient, signal)
      return SWEEP_EVERY_MS
    }, SWEEP_EVERY_MS),
  ]

  return {
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }

  function again(look: (signal: AbortSignal) => Promise<number>, everyMs = EVERY_MS): Job {
    const onError = (error: unknown) => log.error({ err: error }, 'migration loop failed; retrying')
    return startLoop(look, { everyMs, onError })
  }

  /** One step of each that runs: none of them waits for the end of another. */
  async function inTurn(
    isDryRun: boolean,
    signal: AbortSignal,
    step: (id: string) => Promise<boolean>,
  ): Promise<number> {
    let hasMore = false
    for (const id of await running(isDryRun)) {
      if (signal.aborted) break
      if ((restsUntil.get(id) ?? 0) > Date.now()) continue
      try {
        hasMore = (await step(id)) || hasMore
        restsUntil.delete(id)
      } catch (error) {
        if (signal.aborted) break
        restsUntil.set(id, Date.now() + REST_MS)
        log.error({ err: error, migration: id }, 'a step of a migration failed; it is retried')
      }
    }
    return hasMore ? 0 : EVERY_MS
  }

  /** Those of a type that only a newer version knows are left to it. */
  async function running(isDryRun: boolean): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from loanops.migration
       where status = 'running' and is_dry_run = ${isDryRun} and type = any(${[...runner.kinds.keys()]})
       order by id`.execute(db)
    return rows.map(({ id }) => id)
  }
}
