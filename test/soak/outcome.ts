import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { settled } from '../chaos/settle.ts'
import type { Installation } from './installation.ts'
import type { Accepted } from './send-operations.ts'
import type { Tally } from './send-payments.ts'

const IDS_PER_STATEMENT = 10_000

/** Waits until everything has ended, and compares it with what was sent. @returns what is wrong, in words */
export async function outcome(
  installation: Installation,
  accepted: Accepted[],
  tally: Tally,
): Promise<string[]> {
  const { db } = installation
  await settled(installation, db)
  const found = await endings(db)
  const wrong = (what: string, is: number, wanted: number) =>
    is === wanted ? [] : [`${what}: ${is} instead of ${wanted}`]
  return [
    ...wrong('operations', found.operations, accepted.length),
    ...wrong('operations accepted but missing', await vanished(db, accepted), 0),
    ...wrong('operations not final', found.unfinished, 0),
    ...wrong('operations failed', found.failed, 0),
    ...wrong('repayments at the ledger', found.repayments, tally.posted?.payments ?? 0),
    ...wrong('callbacks not delivered', found.undelivered, 0),
    ...wrong('jobs failed', found.failedJobs, 0),
    ...comparePayments(await paymentsByState(db), tally),
  ]
}

type Endings = Record<
  'operations' | 'unfinished' | 'failed' | 'repayments' | 'undelivered' | 'failedJobs',
  number
>

async function endings(db: Database): Promise<Endings> {
  const { rows } = await sql<Endings>`
    select count(*) filter (where origin = 'api')::integer as operations,
           count(*) filter (where status = 'processing')::integer as unfinished,
           count(*) filter (where status = 'failed' and origin = 'api')::integer as failed,
           (select count(distinct ledger_transaction_id)::integer from core.transaction where state = 'posted') as repayments,
           (select count(*)::integer from loanops.callback where state <> 'delivered') as undelivered,
           (select count(*)::integer from ops.job_failed) as "failedJobs"
      from loanops.operation`.execute(db)
  return rows[0] as Endings
}

async function vanished(db: Database, accepted: Accepted[]): Promise<number> {
  let missing = 0
  for (let at = 0; at < accepted.length; at += IDS_PER_STATEMENT) {
    const ids = accepted.slice(at, at + IDS_PER_STATEMENT).map(({ id }) => id)
    const { rows } = await sql<{ missing: number }>`
      select count(*)::integer as missing from unnest(${ids}::uuid[]) as sent (id)
       where not exists (select from loanops.operation o where o.id = sent.id)`.execute(db)
    missing += rows[0]?.missing ?? 0
  }
  return missing
}

async function paymentsByState(db: Database): Promise<Tally> {
  const { rows } = await sql<{ state: string; payments: number; paise: number }>`
    select state, count(*)::integer as payments, sum(amount * 100)::float8 as paise
      from core.transaction group by state`.execute(db)
  return Object.fromEntries(rows.map(({ state, ...sum }) => [state, sum]))
}

function comparePayments(found: Tally, sent: Tally): string[] {
  const say = (tally: Tally, state: string) => {
    const { payments = 0, paise = 0 } = tally[state] ?? {}
    return `${payments} payments of ${paise} paise`
  }
  return [...new Set([...Object.keys(found), ...Object.keys(sent)])]
    .filter(state => say(found, state) !== say(sent, state))
    .map(state => `${state}: ${say(found, state)} instead of ${say(sent, state)}`)
}
