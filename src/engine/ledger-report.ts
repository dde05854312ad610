import { sql } from 'kysely'
import type { Database, Row } from '../database/database.ts'
import { IN_FRONT } from '../ledger/answers/answer.ts'
import type { Ask, LedgerReport } from '../ops/health.ts'
import { WAITING_FOR } from './operation.ts'

export async function ledgerReport(ask: Ask, breakerState: object | undefined) {
  const [waitingFor, pause, inFront, findings] = await Promise.all([
    // A database that does not answer must not look healthy.
    ask(reasonsToWait, ['not_known']),
    ask(pauseInWords, 'not_known'),
    ask(refusalInFront, 'not_known'),
    ask<LedgerReport['findings']>(setUp, 'not_known'),
  ])
  return { ...breakerState, waiting_for: waitingFor, pause, in_front: inFront, findings }
}

/** The findings, without what was found, because anybody may ask. */
async function setUp(db: Database): Promise<LedgerReport['findings']> {
  const { rows } = await sql<{ check: string; lender: string | null; state: string }>`
    select "check", lender, state from ops.ledger_finding`.execute(db)
  return rows.length === 0 ? 'not_known' : rows.filter(({ state }) => state !== 'ok')
}

async function reasonsToWait(db: Database): Promise<string[]> {
  const { rows } = await sql<{ reason: string }>`
    select reason
      from unnest(${WAITING_FOR}::text[]) reason
     where exists (select from loanops.operation where status = 'processing' and waiting_for = reason)
    union all
    select 'paused'
     where exists (select from ops.ledger_pause)
       and exists (select from loanops.operation where status = 'processing')`.execute(db)
  return rows.map(({ reason }) => reason)
}

async function refusalInFront(db: Database): Promise<string | null> {
  const { rows } = await sql`
    select from loanops.operation
     where status = 'processing' and unknown_since is not null and starts_with(last_error, ${IN_FRONT})
      limit 1`.execute(db)
  return rows.length === 0 ? null : IN_FRONT
}

/** The pause, without the operator's reason, because anybody may ask. */
async function pauseInWords(db: Database): Promise<string | null> {
  const { rows } = await sql<Row<'loanops.ledger_pause', 'since' | 'until'>>`
    select since, until from ops.ledger_pause`.execute(db)
  const [pause] = rows
  if (pause === undefined) return null
  const end = pause.until === null ? 'until it is resumed' : `until ${pause.until.toISOString()}`
  return `writes have been paused since ${pause.since.toISOString()}, ${end}`
}
