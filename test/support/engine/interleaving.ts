import { type ControlledTransaction, sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Database } from '../../../src/database/database.ts'
import type { DB } from '../../../src/database/database.types.ts'
import { insertOperations, newOperation } from '../../../src/engine/accept.ts'
import { type Claim, claimHeads, claimKey } from '../../../src/engine/claim/claim.ts'
import { endExpiredClaims } from '../../../src/engine/finish/expire.ts'
import { recordEnds } from '../../../src/engine/finish/finish.ts'
import { newId } from '../../../src/ids.ts'

export const MAX_OPEN = 4

export type Wanted = { subject: string; waitsFor: string | null; key: string | null }
/** `of` says which of the transactions, or claims, that there are at the time. */
export type Step =
  | { do: 'accept'; operations: Wanted[] }
  | { do: 'claim' | 'expire' }
  | { do: 'end' | 'commit' | 'kill'; of: number }

/** A transaction that has not ended: an intake, a claim, or the end of one. */
type Open = {
  trx: ControlledTransaction<DB>
  pid: number
  /** Whether its statement waits for a lock. */
  isBusy: boolean
  ends?: Claim
  onCommit(): void
}

/** Transactions that overlap, and a model of what they have done. */
export class Interleaving {
  readonly faults: string[] = []
  readonly #db: Database
  readonly #boss: PgBoss
  readonly #subjects: string[]
  readonly #worker = newId()
  #open: Open[] = []
  #held: Claim[] = []
  readonly #final = new Set<string>()
  readonly #claimed: { claim: Claim; finalThen: Set<string> }[] = []

  constructor(db: Database, boss: PgBoss, subjects: string[]) {
    this.#db = db
    this.#boss = boss
    this.#subjects = subjects
  }

  async take(step: Step): Promise<void> {
    if ('of' in step && step.do !== 'end') await this.#close(step.do, step.of)
    else if (step.do === 'expire') await this.#expire()
    else if (this.#open.length < MAX_OPEN) await this.#begin(step)
    await this.#untilWaiting()
  }

  /** Commits everything, and compares what has become visible with what was claimed. */
  async close(): Promise<void> {
    for (; this.#open.length > 0; await this.#untilWaiting()) await this.#close('commit', 0)
    const { rows } = await sql<{ id: string; seq: string; claim: string }>`
      select earlier.id, earlier.seq, o.id as claim
        from loanops.operation o
        join loanops.operation earlier on earlier.seq < o.seq and earlier.subject in (o.subject, o.waits_for)`.execute(
      this.#db,
    )
    for (const { claim, finalThen } of this.#claimed)
      for (const earlier of rows.filter(row => row.claim === claim.id))
        if (!finalThen.has(earlier.id))
          this.faults.push(`${claim.subject} ${claim.seq} was claimed before ${earlier.seq} ended`)
  }

  async #begin(step: Step): Promise<void> {
    const trx = await this.#db.startTransaction().execute()
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    const open: Open = { trx, pid: rows[0]?.pid as number, isBusy: false, onCommit() {} }
    this.#open.push(open)
    if (step.do === 'accept') this.#accept(open, step.operations)
    if (step.do === 'claim') await this.#claim(open)
    if (step.do === 'end') await this.#end(open, step.of)
  }

  #accept(open: Open, wanted: Wanted[]): void {
    const operations = wanted.map(({ subject, waitsFor, key }) => {
      const kind = { name: 'TEST', subject: () => subject, externalId: () => subject }
      return { ...newOperation(kind, {}, key), waitsFor }
    })
    open.isBusy = true
    insertOperations(open.trx, this.#boss, 'api', operations)
      .catch(error => {
        // A killed one is no longer open.
        if (this.#open.includes(open)) this.faults.push(`an intake failed: ${error.message}`)
      })
      .finally(() => {
        open.isBusy = false
      })
  }

  async #claim(open: Open): Promise<void> {
    const { claims } = await claimHeads(open.trx, this.#worker, this.#subjects)
    for (const claim of claims) this.#claimed.push({ claim, finalThen: new Set(this.#final) })
    open.onCommit = () => {
      for (const claim of claims) {
        if (this.#held.some(({ subject }) => subject === claim.subject))
          this.faults.push(`${claim.subject} ${claim.seq} was claimed beside another one`)
        this.#held.push(claim)
      }
    }
  }

  async #end(open: Open, of: number): Promise<void> {
    const claim = nth(
      this.#held.filter(one => !this.#open.some(({ ends }) => ends === one)),
      of,
    )
    if (claim === undefined) return
    open.ends = claim
    const decision = { status: 'success' as const, response: {} }
    const counted = await recordEnds(open.trx, [{ claim, key: '', answer: null, decision }])
    open.onCommit = () => {
      if (!counted.has(claimKey(claim))) return
      this.#held = this.#held.filter(one => one !== claim)
      this.#final.add(claim.id)
    }
  }

  async #close(how: 'commit' | 'kill', of: number): Promise<void> {
    const closing = nth(
      this.#open.filter(({ isBusy }) => how === 'kill' || !isBusy),
      of,
    )
    if (closing === undefined) return
    this.#open = this.#open.filter(one => one !== closing)
    const { trx, pid } = closing
    if (how === 'kill') {
      await sql`select pg_terminate_backend(${pid}, 5000)`.execute(this.#db)
      await trx
        .rollback()
        .execute()
        .catch(() => undefined)
      return
    }
    await trx.commit().execute()
    closing.onCommit()
  }

  /** Ends all leases, as if every worker had been dead for the time of one. */
  async #expire(): Promise<void> {
    await sql`
      update loanops.operation set claimed_until = now() - interval '1 second'
       where id in (select id from loanops.operation where claimed_by is not null for update skip locked)`.execute(
      this.#db,
    )
    await endExpiredClaims(this.#db, this.#boss, 0)
    const { rows } = await sql<{ id: string; number: number }>`
      select id, attempt as number from loanops.operation where claimed_by is not null`.execute(
      this.#db,
    )
    const held = rows.map(claimKey)
    this.#held = this.#held.filter(claim => held.includes(claimKey(claim)))
  }

  /** Waits until every statement has ended or waits for another transaction. */
  async #untilWaiting(): Promise<void> {
    for (;;) {
      const busy = this.#open.filter(({ isBusy }) => isBusy)
      if (busy.length === 0) return
      const { rows } = await sql<{ pid: number }>`
        select pid from unnest(${busy.map(({ pid }) => pid)}::integer[]) as pid
         where cardinality(pg_blocking_pids(pid)) > 0`.execute(this.#db)
      const waiting = rows.map(({ pid }) => pid)
      if (busy.every(({ isBusy, pid }) => !isBusy || waiting.includes(pid))) return
    }
  }
}

const nth = <T>(all: T[], n: number): T | undefined => all[n % all.length]
