import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { audit, programAsker } from '../accounts/audit.ts'
import { LATE_CAPTURE_DAYS, requestBackfill } from '../books/backfill/request-backfill.ts'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { type Database, openDatabase, type Trx } from '../database/database.ts'
import { requireUpToDate } from '../database/migrate/migrate.ts'
import { DAY_MS } from '../day.ts'
import { newId } from '../ids.ts'
import { asError, logger } from '../log/log.ts'
import { pauseLedger } from '../operations/pause/pause-ledger.ts'
import { openQueue } from '../queue/queue.ts'

export async function restoreFromCommand(env: NodeJS.ProcessEnv, since = '', withPause = false) {
  const time = new Date(since)
  const days = (Date.now() - time.getTime()) / DAY_MS
  // Without its zone, a time would depend on the machine.
  if (!/(Z|[+-]\d\d:\d\d)$/.test(since) || !(days > 0 && days < RESTORE_MAX_DAYS))
    throw new ConfigError(
      `--since must be the time of the back-up, at most ${RESTORE_MAX_DAYS} days ago, with its zone. Example: --since 2026-11-20T02:00:00+05:30`,
    )
  const config = readConfig(env)
  const log = logger(config.LOG_LEVEL)
  const onError = asError(log, 'the database failed')
  const options = { name: 'loanops-after-restore', onError }
  // One statement changes a row for each loan, client and payment that ever had a callback: it takes what it takes.
  const db = openDatabase(config.DATABASE_URL, { ...options, max: 1, statementMs: 0 })
  const boss = openQueue(config.DATABASE_URL, { ...options, isWorker: false })
  try {
    await requireUpToDate(db)
    await boss.start()
    const restored = await afterRestore(db, boss, config, { since: time, withPause })
    process.stdout.write(afterRestoreReport(restored))
  } finally {
    await boss.stop({ graceful: false })
    await db.destroy()
  }
}

/** The receiver of callbacks has seen fewer numbers of any loan or client than this since the back-up. */
const SEQUENCES_SKIPPED = 1_000
/** The tokens of no account have been ended this often since the back-up. */
const GENERATIONS_SKIPPED = 1_000

const RESTORE_MAX_DAYS = 60
const ASKER = programAsker('command after-restore')

type Restored = {
  /** The accounts at gateways whose payments since the back-up will be fetched. */
  fetched: string[]
  unfinished: Unfinished
  /** A pause does not hold up bulk decisions. */
  areBulksStopped: boolean
}
/** Also `isPaused` if the back-up was made during a pause. */
type Unfinished = { operations: string; migrations: string; bulks: number; isPaused: boolean }

/**
 * Prepares a restored database. Run it before any process starts: otherwise callbacks get numbers that the receiver has
 * seen.
 * @param since when the back-up was made
 * @param withPause whether to pause the ledger, so that a person looks before anything runs
 */
function afterRestore(
  db: Database,
  boss: PgBoss,
  { gatewayAccounts }: Pick<Config, 'gatewayAccounts'>,
  { since, withPause }: { since: Date; withPause: boolean },
): Promise<Restored> {
  // A payment is listed under the day on which it was made, and may have been captured days later.
  const from = new Date(since.getTime() - LATE_CAPTURE_DAYS * DAY_MS).toISOString()
  const to = new Date().toISOString()
  return db.transaction().execute(async trx => {
    await sql`
      update loanops.callback_subject set sequence = sequence + ${SEQUENCES_SKIPPED}`.execute(trx)
    await sql`
      update loanops.callback_receiver
       set first_sequence = first_sequence + ${SEQUENCES_SKIPPED}`.execute(trx)
    // Tokens that were ended since, by a change of the password or because somebody left, would be valid again.
    await sql`
      update loanops.account
         set token_generation = token_generation + ${GENERATIONS_SKIPPED}, kept_token = null`.execute(
      trx,
    )
    for (const account of gatewayAccounts)
      await requestBackfill(trx, boss, account, { from, to, lender: account.lender })
    // What ran out of time here may have been done since the back-up: each is tried again before it can fail. This pause is
    // over at once: `now()` is also what the statements below compare it with.
    await sql`
      insert into loanops.ledger_pause (id, reason, since, until)
      select ${newId()}, 'restored from a back-up', min(accepted_at), now()
        from loanops.operation where status = 'processing' having count(*) > 0`.execute(trx)
    if (withPause) await pauseLedger(trx, { reason: 'restored from a back-up', until: null }, ASKER)
    const fetched = gatewayAccounts.map(({ gateway, lender }) =>
      lender === null ? gateway : `${gateway} of ${lender}`,
    )
    await audit(trx, {
      ...ASKER,
      action: 'database.restored',
      subject: 'database',
      detail: { since: since.toISOString(), fetched },
    })
    const unfinished = await findUnfinished(trx)
    if (withPause) await stopBulks(trx)
    return { fetched, unfinished, areBulksStopped: withPause }
  })
}

async function findUnfinished(trx: Trx): Promise<Unfinished> {
  const { rows } = await sql<Unfinished>`
    select (select count(*) from loanops.operation where status = 'processing') as operations,
           (select count(*) from loanops.migration where status = 'running') as migrations,
           (select count(*)::integer from loanops.bulk where status = 'running') as bulks,
           exists (select from ops.ledger_pause) as "isPaused"`.execute(trx)
  return rows[0] as Unfinished
}

async function stopBulks(trx: Trx): Promise<void> {
  await sql`
    update loanops.bulk set status = 'stopped', ended_at = clock_timestamp()
     where status = 'running'`.execute(trx)
}

function afterRestoreReport({ fetched, unfinished, areBulksStopped }: Restored): string {
  const gateways =
    fetched.length === 0
      ? 'No gateway has API credentials: what their webhooks sent since the back-up has to come from their reports.'
      : `Once a worker runs, the payments since the back-up are fetched from ${fetched.join(', ')}.`
  const { operations, migrations, bulks, isPaused } = unfinished
  const bulksFate = areBulksStopped
    ? 'are stopped: make those that are still right again'
    : 'go on with the first worker, even if they were stopped since'
  return `${gateways}
Callbacks continue with numbers that their receiver has not seen: it must accept the gap.
Unfinished in the back-up: ${operations} operations, ${migrations} portfolio migrations. They run ${isPaused ? 'once the ledger, which is paused now, is resumed' : 'with the first worker'}, even if they were cancelled since.
${bulks === 0 ? '' : `Bulk decisions that were running in the back-up: ${bulks}. They ${bulksFate}.\n`}Everybody must log in again. Accounts that were disabled since, and passwords and roles that were changed, are as they were in the back-up.
Operations that were accepted since the back-up are unknown here: the LOS must ask the ledger for each, by its external id.
`
}
