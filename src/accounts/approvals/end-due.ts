import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asError } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'

const EVERY_MS = 60 * 60_000

/** Ends expired proposals, so that the same act can be proposed again and no password hash is kept. */
export async function endDue(db: Database): Promise<void> {
  await sql`select loanops.end_due_approvals()`.execute(db)
}

export function endDueRegularly({ db, log }: { db: Database; log: FastifyBaseLogger }): Job {
  const onError = asError(log, 'expired proposals were not ended')
  return startLoop({ everyMs: EVERY_MS, onError }, () => endDue(db))
}
