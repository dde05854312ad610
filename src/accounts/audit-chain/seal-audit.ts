import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asError } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'
import { auditHead } from './audit-head.ts'

/** A row that is not sealed yet could be changed without a trace. */
const EVERY_MS = 60_000
/** Few enough that sealing them ends before the statement timeout, even on a busy machine. */
const ROWS_AT_ONCE = 500

/** Seals the audit. Each worker logs the head once a day: the log is kept where the database's owner cannot change it. */
export function sealAudit({ db, log }: { db: Database; log: FastifyBaseLogger }): Job {
  let loggedOn = ''
  const onError = asError(log, 'the audit could not be sealed')
  return startLoop({ everyMs: EVERY_MS, onError }, async () => {
    const { rows } = await sql<{ sealed: number }>`
      select loanops.seal_audit(${ROWS_AT_ONCE}) as sealed`.execute(db)
    if (rows[0]?.sealed === ROWS_AT_ONCE) return 0
    const today = new Date().toISOString().slice(0, 10)
    const head = today === loggedOn ? undefined : await auditHead(db)
    if (head) {
      log.info(head, 'the audit is sealed up to this row')
      loggedOn = today
    }
    return EVERY_MS
  })
}
