import { sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import { asError } from '../../log/log.ts'
import { type Job, startLoop, together } from '../../queue/job.ts'
import { dryRun } from '../dry-run/dry-run.ts'
import type { DryRunner } from '../dry-run/look-until-read.ts'
import { migrationKinds } from '../kinds/kinds.ts'
import { rowCounters } from '../row-counters.ts'
import { sweepUploads } from '../sweep-uploads.ts'
import { feed } from './feed.ts'

/** The operations of a feed take longer than this, so no run waits for the next look. */
const EVERY_MS = 200
/** A new run starts within this time. */
const WITHOUT_RUNS_EVERY_MS = 500
/** How long a run, or a look for runs, rests after an error, because the cause rarely disappears at once. */
const REST_MS = 1_000
const SWEEP_EVERY_MS = 60 * 60_000

/** Works migrations without a queue: the state of a run is in its rows, so nothing has to be woken after a crash. */
export function runMigrations(context: WorkerContext): Job {
  const { db, patient, boss, config, catalogue, metrics, log } = context
  const { lenders } = config
  const runner: DryRunner = { ...context, lenders, kinds: migrationKinds(catalogue) }
  const onFailed = (rows: number) => metrics.of(rowCounters).finished.inc({ state: 'failed' }, rows)
  const feeding = { boss, kinds: runner.kinds, passed: new Map(), onFailed }
  const restsUntil = new Map<string, number>()
  // The loops are separate, because a dry run waits for the ledger while a run only has to be fed.
  return together([
    again(signal => inTurn({ isDryRun: false }, signal, id => feed(patient, feeding, id))),
    again(signal => inTurn({ isDryRun: true }, signal, id => dryRun(patient, runner, id, signal))),
    again(async signal => {
      await sweepUploads(patient, signal)
      return SWEEP_EVERY_MS
    }, SWEEP_EVERY_MS),
  ])

  function again(look: (signal: AbortSignal) => Promise<number>, everyMs = REST_MS): Job {
    return startLoop({ everyMs, onError: asError(log, 'migration step failed; retrying') }, look)
  }

  async function inTurn(
    { isDryRun }: { isDryRun: boolean },
    signal: AbortSignal,
    step: (id: string) => Promise<boolean>,
  ): Promise<number> {
    const ids = await running(db, runner, { isDryRun })
    let hasMore = false
    for (const id of ids) {
      if (signal.aborted) break
      if ((restsUntil.get(id) ?? 0) > performance.now()) continue
      try {
        hasMore = (await step(id)) || hasMore
        restsUntil.delete(id)
      } catch (error) {
        if (signal.aborted) break
        restsUntil.set(id, performance.now() + REST_MS)
        log.error({ err: error, migration: id }, 'migration step failed; retrying')
      }
    }
    const restMs = ids.length > 0 ? EVERY_MS : WITHOUT_RUNS_EVERY_MS
    return hasMore ? 0 : restMs
  }
}

async function running(db: Database, { kinds }: DryRunner, { isDryRun }: { isDryRun: boolean }) {
  const { rows } = await sql<Row<'loanops.migration', 'id'>>`
    select id from loanops.migration
     where status = 'running' and is_dry_run = ${isDryRun} and type = any(${[...kinds.keys()]})
     order by id`.execute(db)
  return rows.map(({ id }) => id)
}
