import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { requestReadback } from '../support/books/readback.ts'
import { booksAt, DATES, LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'
import { PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { type Cluster, runningApi } from './cluster.ts'
import type { Decide } from './people.ts'

/** Marks the writes that people make at the ledger themselves. */
export const BY_HAND = 'by-hand-'

const OPERATORS = 3
const ACT_EVERY_MS = 150
const PATIENCE_MS = 5_000

type Payment = { gateway: string; id: string; loan: string | null; rupees: number }
const NONE = {
  undone: 0,
  assigned: 0,
  posted: 0,
  handled: 0,
  dismissed: 0,
  reopened: 0,
  reversed: 0,
  restored: 0,
  readBack: 0,
  reread: 0,
  batches: 0,
}

/**
 * People who undo repayments at the ledger, decide what is in suspense, reverse and restore, and have payments read back, all at random.
 * @param connect opens the database, which may be killed meanwhile
 */
export function actAsOperators(
  { places, ledger }: Cluster,
  connect: () => Database,
  draw: () => number,
  decideOn: Decide,
) {
  const acts = { ...NONE }
  const db = connect()
  let isOver = false
  let undoings = 0
  const anyOf = (state: string, kind?: string, objection?: string) =>
    anyIn(db, draw, state, kind, objection)
  const done = Promise.all(Array.from({ length: OPERATORS }, run))
  return {
    acts,
    async stop() {
      isOver = true
      await done
      await db.destroy()
    },
  }

  async function run(): Promise<void> {
    while (!isOver) {
      await new Promise(resolve => setTimeout(resolve, ACT_EVERY_MS))
      const chance = draw()
      await actFor(chance)().catch(() => undefined)
    }
  }

  function actFor(chance: number): () => Promise<void> {
    if (chance < 0.4) return undo
    if (chance < 0.7) return decide
    if (chance < 0.74) return reverse
    if (chance < 0.76) return restore
    if (chance < 0.8) return reopen
    if (chance < 0.87) return readBack
    return chance < 0.92 ? reread : runBatch
  }

  async function undo(): Promise<void> {
    const payment = await anyOf('posted')
    if (payment === undefined) return
    const { gateway, id, loan } = payment
    // The loan is called by its number, as a person finds it: no path takes every external id.
    const { id: number } = (await booksAt(ledger.controlUrl)).loans.find(
      ({ externalId }) => externalId === loan,
    ) ?? { id: 0 }
    const path = `/loans/${number}/transactions/external-id/${gateway}-${id}`
    const answer = await fetch(ledger.url + path, {
      method: 'POST',
      headers: { ...LEDGER_HEADERS, 'idempotency-key': `${BY_HAND}${++undoings}` },
      body: JSON.stringify({
        transactionDate: PAID_AT_ISO.slice(0, 10),
        transactionAmount: 0,
        ...DATES,
      }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (answer.ok) acts.undone++
  }

  async function decide(): Promise<void> {
    const payment = await anyOf('suspense')
    if (payment === undefined) return
    const { gateway, id, loan, rupees } = payment
    const known = loan ?? (await anyOf('posted'))?.loan
    const chance = draw()
    const path = `/api/payments/${gateway}/${id}`
    if (chance < 0.5) {
      if (await isDone(`${path}/assign`, { external_loan_id: known })) acts.assigned++
      return
    }
    const way = chance < 0.8 ? 'posted' : chance < 0.9 ? 'handled' : 'dismissed'
    if (await isDone(`${path}/resolve`, decisionsOn(known, rupees)[way])) acts[way]++
  }

  async function reopen(): Promise<void> {
    await resolve('reopened', 'reopen', (await anyOf('dismissed')) ?? (await anyOf('handled')))
  }

  async function reverse(): Promise<void> {
    const kind = draw() < 0.5 ? 'refund' : 'chargeback'
    await resolve('reversed', 'reverse', await anyOf('suspense', kind))
  }

  async function restore(): Promise<void> {
    await resolve('restored', 'restore', await anyOf('posted', 'chargeback', 'taken_back'))
  }

  async function resolve(act: keyof typeof NONE, outcome: string, row?: Payment): Promise<void> {
    const resolution = { outcome, note: 'decided in chaos' }
    const path = `/api/payments/${row?.gateway}/${row?.id}/resolve`
    if (row && (await isDone(path, resolution))) acts[act]++
  }

  async function reread(): Promise<void> {
    if (await rereadSource(db, draw)) acts.reread++
  }

  async function runBatch(): Promise<void> {
    if ((await runningApi(places)('POST', '/api/payments/batch')).status < 300) acts.batches++
  }

  async function isDone(path: string, body: object): Promise<boolean> {
    return (await decideOn(path, body)) < 300
  }

  async function readBack(): Promise<void> {
    const { rows } = await sql`
      select from core.readback_run where status <> 'completed' limit 1`.execute(db)
    if (rows.length > 0) return
    await requestReadback(db)
    acts.readBack++
  }
}

async function anyIn(
  db: Database,
  draw: () => number,
  state: string,
  kind = 'payment',
  objection: string | null = null,
): Promise<Payment | undefined> {
  const { rows } = await sql<Payment>`
    select gateway, gateway_payment_id as id, external_loan_id as loan, amount::float8 as rupees
      from ops.payment
     where kind = ${kind} and state = ${state} and amount > 0 and coalesce(objection = ${objection}, ${objection}::text is null)
     order by gateway, gateway_payment_id`.execute(db)
  return rows[Math.floor(draw() * rows.length)]
}

function decisionsOn(loan: string | null | undefined, rupees: number) {
  const note = 'decided in chaos'
  const post = { external_loan_id: loan, amount: rupees, paid_on: '06 February 2026' }
  return {
    posted: { outcome: 'post', ...post, note },
    handled: { outcome: 'handled', note },
    dismissed: { outcome: 'dismiss', note },
  }
}

async function rereadSource(db: Database, draw: () => number): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`
    select name from core.source order by name`.execute(db)
  const source = rows[Math.floor(draw() * rows.length)]
  if (source === undefined) return false
  await sql`select ops.reread(${source.name}, '-infinity')`.execute(db)
  return true
}
