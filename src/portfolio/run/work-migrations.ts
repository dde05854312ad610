import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Databases } from '../../database/database.ts'
import { dryRun } from '../dry-run/dry-run.ts'
import type { DryRunner } from '../dry-run/look-at-loan.ts'
import { sweepUploads } from '../upload/sweep-uploads.ts'
import { feed } from './feed.ts'

/** How often a run is looked after: it has work for longer than this, and a new one starts within it. Idle workers ask too. */
const EVERY_MS = 500
/** One that fails is left alone for so long: what ails it, or the ledger, takes more than a moment. */
const REST_MS = 1_000
const SWEEP_EVERY_MS = 60 * 60_000

export type MigrationsAtWork = { stop(): Promise<void> }

/**
 * Looks after whatever runs: every worker does, and what one of them leaves the others take up. Not a queued job:
 * the state of a run stands in its rows, and needs nobody to be woken after a crash.
 */
export function workMigrations(
  { db, patient }: Databases,
  boss: PgBoss,
  runner: DryRunner,
  log: { error(object: object, message: string): void },
): MigrationsAtWork {
  const stopping = new AbortController()
  const { signal } = stopping
  const restsUntil = new Map<string, number>()
  // Apart from each other: a dry run waits for the ledger, and a run only has to be fed.
  const loops = [
    again(() => inTurn(false, id => feed(patient, boss, runner.kinds, id))),
    again(() => inTurn(true, id => dryRun(patient, runner, id, signal))),
    again(() => sweepUploads(patient, signal).then(() => false), SWEEP_EVERY_MS),
  ]

  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }

  /** Looks until the stop; at once again where a look says that there is more to do. */
  async function again(look: () => Promise<boolean>, everyMs = EVERY_MS): Promise<void> {
    while (!signal.aborted) {
      const hasMore = await look().catch(error => {
        log.error({ err: error }, 'migrations are not looked after; they will be')
        return false
      })
      if (!hasMore) await setTimeout(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** One step of each that runs: none of them waits for the end of another. */
  async function inTurn(isDryRun: boolean, step: (id: string) => Promise<boolean>) {
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
        log.error({ err: error, migration: id }, 'a migration is not looked after; it will be')
      }
    }
    return hasMore
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
