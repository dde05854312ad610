import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { externalId } from '../support/portfolio/external-ids.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { type Cluster, runningApi } from './cluster.ts'
import type { Decide } from './people.ts'

const LOANS = 12
const REPAYMENTS_PER_LOAN = 6
const ACT_EVERY_MS = 150
const PATIENCE_MS = 5_000

/**
 * Migrates a portfolio, and cancels rows of its repayments at random while they run.
 * @param connect opens the database, which may be killed meanwhile
 */
export function cancelRows(
  cluster: Cluster,
  connect: () => Database,
  draw: () => number,
  decide: Decide,
) {
  const db = connect()
  const done = migrateAndCancel()
  return {
    /** Waits for the end of the run. @returns what is wrong with it, and how many rows were cancelled */
    async judge() {
      const { id, cancelled } = await done
      const wrong = await differences(db, cluster, id)
      await db.destroy()
      return { cancelled, wrong }
    },
  }

  async function migrateAndCancel() {
    const loans = Array.from({ length: LOANS }, (_, i) => ({
      client_external_id: externalId('P', i),
      loan_external_id: externalId('M', i),
    }))
    await ended(await run('loans', loansCsv(...loans)), async () => undefined)
    const rows = loans.flatMap(({ loan_external_id }, n) =>
      Array.from({ length: REPAYMENTS_PER_LOAN }, (_, i) => ({
        loan_external_id,
        payment_reference: `M-${n}-${i}`,
      })),
    )
    const id = await run('repayments', repaymentsCsv(...rows))
    let cancelled = 0
    await ended(id, async () => {
      if (await cancelOne(id)) cancelled++
    })
    return { id, cancelled }
  }

  async function run(type: string, csv: string): Promise<string> {
    const { migration_id } = await insist(async () => {
      const url = cluster.places.find(({ role, isUp }) => role === 'api' && isUp)?.url as string
      const { status, body } = await uploadCsv({ url }, type, csv)
      return status === 201 ? body : undefined
    })
    await insist(async () => {
      const { status } = await call('POST', '/api/migration/run', { migration_id })
      // It was run already by a call whose answer was lost.
      return status === 202 || status === 409
    })
    return migration_id
  }

  function ended(id: string, meanwhile: () => Promise<void>) {
    return insist(async () => {
      await meanwhile()
      const { status, body } = await call('GET', `/api/migration/${id}`)
      return status === 200 && body.status === 'completed'
    })
  }

  async function cancelOne(id: string): Promise<boolean> {
    const { rows } = await sql<{ id: string }>`
      select o.operation_type || '|' || o.id as id
        from loanops.migration_step s join loanops.operation o on o.id = s.operation_id
       where s.migration_id = ${id} and o.status = 'processing' order by o.seq`.execute(db)
    const one = rows[Math.floor(draw() * rows.length)]
    if (one === undefined) return false
    const path = `/api/ledger/operations/${encodeURIComponent(one.id)}/cancel`
    return (await decide(path)) === 202
  }

  function call(method: string, path: string, body?: object) {
    const patience = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error('no answer')), PATIENCE_MS),
    )
    return Promise.race([runningApi(cluster.places)(method, path, body), patience])
  }
}

async function insist<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined && answer !== false) return answer
    await new Promise(resolve => setTimeout(resolve, ACT_EVERY_MS))
  }
}

/** Each row that is done has one repayment at the ledger, and no other row has one. */
async function differences(db: Database, { ledger }: Cluster, id: string): Promise<string[]> {
  const { rows } = await sql<{ line: number; state: string; externalId: string | null }>`
    select r.line, r.state, o.data ->> 'external_id' as "externalId"
      from loanops.migration_row r
      left join loanops.migration_step s using (migration_id, line)
      left join loanops.operation o on o.id = s.operation_id
     where r.migration_id = ${id}`.execute(db)
  const { transactions } = await booksAt(ledger.controlUrl)
  const booked = transactions.filter(one => one.externalId?.startsWith('migration-'))
  const of = (externalId: string | null) =>
    booked.filter(one => externalId !== null && one.externalId === externalId).length
  const wrong = rows
    .filter(({ state, externalId }) => of(externalId) !== (state === 'done' ? 1 : 0))
    .map(
      ({ line, state, externalId }) => `line ${line} is ${state}, booked ${of(externalId)} times`,
    )
  const known = rows.filter(({ externalId }) => of(externalId) > 0).length
  return known === booked.length ? wrong : [...wrong, 'the ledger has a repayment of no row']
}
