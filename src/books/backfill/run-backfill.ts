import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import { isTransient } from '../../database/transient.ts'
import type { Log } from '../../log/log.ts'
import { publicReason } from '../../log/public-error.ts'
import { awaitSaved } from '../../payments/batch/await-saved.ts'
import type { Window } from '../../payments/gateways/gateway-api.ts'
import { isGatewayError } from '../../payments/gateways/items/gateway-errors.ts'
import { RunLeft } from '../../queue/keep-claim.ts'
import { endRun } from '../../queue/run-claim.ts'
import type { Run } from '../../queue/run-job.ts'
import { settleStatements } from '../settlements/settle-statements.ts'
import { failBackfill, fence } from './claim-backfill.ts'
import type { Fetch } from './fetch.ts'
import { fetchWindow } from './fetch-window.ts'
import { forgetPending } from './pending-reader.ts'
import { savePages } from './save-pages.ts'
import { saveSettlements } from './save-settlements.ts'

type BackfillContext = Fetch & { log: Log }

export async function runBackfill(context: BackfillContext, run: Run): Promise<void> {
  const { db, claim } = context
  const { check } = run
  try {
    // A webhook that still waits to be saved does not count as missed.
    await awaitSaved(
      { db, check },
      sql`select started_at from core.backfill where id = ${claim.id}`,
    )
    await forgetPending(db, claim.id)
    const window = { from: claim.doneUntil, to: claim.fetchTo }
    await fetchWindow(context.api, window, claim.fetched, {
      check,
      pages: (pages, count) => savePages(context, pages, count),
      settlements: page => saveSettlements(context, page),
      end: (part, count) => endPart(context, part, count),
    })
    crashPoint('backfill.unended')
    await endBackfill(context)
  } catch (error) {
    // A stop ends our calls, which says nothing about the gateway.
    if (run.stopping.aborted) throw new RunLeft({ cause: error })
    if (error instanceof RunLeft || isTransient(error)) throw error
    await fail(context, error as Error)
  }
}

async function endPart({ db, claim, account }: Fetch, part: Window, counted: number) {
  await db.transaction().execute(async trx => {
    await fence(trx, claim)
    await settleStatements(trx, account.gateway, part)
    await sql`
      update core.backfill set done_until = ${part.to}, fetched = ${counted}, fetched_before = ${counted}
       where id = ${claim.id}`.execute(trx)
  })
  crashPoint('backfill.part-done')
}

async function endBackfill({ db, claim, gateway }: BackfillContext): Promise<void> {
  const { name, title } = gateway
  await db.transaction().execute(async trx => {
    await fence(trx, claim)
    const range = sql`tstzrange(${claim.fetchFrom}, ${claim.fetchTo}, '[]')`
    const unreadable = sql`core.update_unreadable(${claim.id}, ${name}, ${claim.lender}, ${range})`
    const lastError = sql`${`${title}: `}::text || ${unreadable}`
    await endRun(trx, 'core.backfill', claim, sql`status = 'completed', last_error = ${lastError}`)
    await forgetPending(trx, claim.id)
    await sql`
      select core.note_window(${name}, ${claim.lender}, 'api', ${range})`.execute(trx)
  })
}

/** The gateway would refuse the same request again. */
async function fail({ db, claim, gateway, log }: BackfillContext, error: Error): Promise<void> {
  if (isGatewayError(error)) {
    const reason = `${gateway.title}: ${error.message}`
    log.warn({ reason, backfill: claim.id }, 'payments could not be fetched')
    await failBackfill(db, claim, reason)
  } else {
    log.error({ err: error, backfill: claim.id }, 'payments could not be fetched')
    await failBackfill(db, claim, publicReason(error))
  }
}
