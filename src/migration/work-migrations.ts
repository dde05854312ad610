import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Database } from '../database.ts'
import { dryRun } from './dry-run.ts'
import { feed } from './feed.ts'
import type { Looker } from './looker.ts'

/** How often a run is looked after: it has work for longer than this, and a new one starts within it. */
const EVERY_MS = 200
/** An upload that stands still for so long lost its process. */
const ABANDONED_AFTER = '1 day'
const SWEEP_EVERY_MS = 60 * 60_000

export type MigrationsAtWork = { stop(): Promise<void> }

/**
 * Looks after whatever runs: every worker does, and what one of them leaves the others take up. Not a queued job:
 * the state of a run stands in its rows, and needs nobody to be woken after a crash.
 */
export function workMigrations(
  db: Database,
  boss: PgBoss,
  looker: Looker,
  log: { error(object: object, message: string): void },
): MigrationsAtWork {
  let isStopping = false
  let sweptAt = 0
  let underWay = Promise.resolve()
  const timer = setInterval(() => {
    if (isBusy) return
    isBusy = true
    underWay = look().finally(() => {
      isBusy = false
    })
  }, EVERY_MS)
  let isBusy = false

  return {
    async stop() {
      isStopping = true
      clearInterval(timer)
      await underWay
    },
  }

  async function look(): Promise<void> {
    try {
      for (const { id, isDryRun } of await running()) await workOn(id, isDryRun)
      if (Date.now() - sweptAt > SWEEP_EVERY_MS) {
        sweptAt = Date.now()
        await sweepAbandoned()
      }
    } catch (error) {
      log.error({ err: error }, 'a migration is not looked after; it will be')
    }
  }

  async function workOn(id: string, isDryRun: boolean): Promise<void> {
    for (let hasMore = true; hasMore && !isStopping; ) {
      hasMore = isDryRun ? await dryRun(db, looker, id) : await feed(db, boss, looker.kinds, id)
    }
  }

  async function running() {
    const { rows } = await sql<{ id: string; isDryRun: boolean }>`
      select id, is_dry_run as "isDryRun" from loanops.migration where status = 'running' order by id`.execute(
      db,
    )
    return rows
  }

  async function sweepAbandoned() {
    await sql`
      with abandoned as (
        delete from loanops.migration
         where status = 'uploading' and uploaded_at < now() - ${ABANDONED_AFTER}::interval
        returning id
      )
      delete from loanops.migration_row where migration_id in (select id from abandoned)`.execute(
      db,
    )
  }
}
