import type { Static, TObject } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Answer } from '../ledger/answers/answer.ts'
import type { Ledger } from '../ledger/calls/client.ts'
import type { Effect } from '../ledger/effect.ts'
import type { ReferenceData } from '../ledger/reference/reference.ts'
import type { Origin } from './origin.ts'
import type { Refusal } from './refusal.ts'

export type Data = Record<string, unknown>

export type Kept = Record<string, unknown>

export type RecentlyDone = {
  /** Oldest first; nothing that was done before a removal. */
  done: { operationType: string; data: Data }[]
  /** The ledger's numbers of what was removed. */
  removed: number[]
}

export type Attempt = {
  ledger: Ledger
  reference: ReferenceData
  id: string
  origin: Origin
  key: string
  /** For a migration, an equal effect is what the row asks for, whoever made it. */
  takesEqualAsDone: boolean
  /**
   * One of our calls may still be running at the ledger. Until it ends, an equal effect counts as somebody else's unless it
   * carries our id.
   */
  readonly mayStillRun: boolean
  // An attempt has three memories. *Kept*: what the write depends on, the same again for the next attempt. *Seen*: what only a
  // read before the write can show. *Passed on*: what the next operation on the subject gets, in memory only.
  /** What the last attempt that may have sent something had read before its write. */
  kept: Kept
  /**
   * What `read` finds or, while the call of an earlier attempt may still run, what that attempt had read under this
   * name.
   */
  keep<T>(name: string, read: () => Promise<T>): Promise<T>
  /** What operations did to the subject so lately that the ledger's reads may not show it yet. */
  recentlyDone(): Promise<RecentlyDone>
  seen: unknown
  /** Saves, before a write, what can be read only before it. */
  remember(seen: unknown): Promise<void>
  /** The value that the previous operation on the same subject passed on; no other operation of ours came between. */
  passedOn: unknown
  /** Passes on what is true of the subject once this operation has succeeded. Possibly nobody receives it. */
  passOn(value: unknown): void
}

export type Operation<Schema extends TObject = TObject> = {
  name: string
  summary: string
  schema: Schema
  check?(data: Static<Schema>): { path: string; message: string }[]
  /** Refuses at intake what only earlier operations show to be wrong. @param key the request's Idempotency-Key */
  refuse?(db: Database, data: Static<Schema>, key: string | null): Promise<void>
  externalId(data: Static<Schema>): string
  /** `loan:…` or `client:…`: no other operation on it runs at the same time. */
  subject(data: Static<Schema>): string
  waitsFor?(data: Static<Schema>): string
  /** The loan's state after a success, for operators. After `deleted`, reads that lag may still show what is gone. */
  loanState?: string
  /** The ledger permissions that it needs besides reading. Payments and files need none beyond those of other operations. */
  permissions?: string[]
  /** The operation's first call is the write, so that its start and its sending are one record. */
  writesAtOnce?: true
  /** The effect carries an id that no other operation gives: while a call may still run, `find` finds no other effect. */
  carriesOwnId?: true
  /** Writes, or returns the refusal, the ledger's or ours, that follows from a read before the write. */
  run(attempt: Attempt, data: Static<Schema>): Promise<Answer | Refusal>
  /** @throws LedgerTrouble if the ledger cannot be read */
  find(attempt: Attempt, data: Static<Schema>): Promise<Effect>
  /** Finds an equal effect, which a migration treats as done. Defaults to `find`. @throws LedgerTrouble */
  findEqual?(attempt: Attempt, data: Static<Schema>): Promise<Effect>
}

export function operation<Schema extends TObject>(definition: Operation<Schema>): Operation {
  return definition as unknown as Operation
}

export const loanSubject = (externalId: string) => `loan:${externalId}`
export const clientSubject = (externalId: string) => `client:${externalId}`

export function isClientSubject(subject: string): boolean {
  return subject.startsWith(clientSubject(''))
}

export function trackingId({ operationType, id }: { operationType: string; id: string }): string {
  return `${operationType}|${id}`
}

export type Catalogue = ReadonlyMap<string, Operation>

export const WAITING_FOR = [
  'ledger_unavailable',
  'ledger_busy',
  'ledger_credentials',
  'ledger_approval',
  'outcome_unknown',
] as const
export type WaitingFor = (typeof WAITING_FOR)[number]

const HANGING = ['ledger_approval', 'ledger_credentials'] satisfies WaitingFor[]
export const RESOLVABLE = ['outcome_unknown', ...HANGING]

export const IS_RESOLVABLE = sql`(o.unknown_since is not null or coalesce(o.waiting_for = any(${HANGING}), false))`

/** Whether an operation was never attempted; one that a worker has claimed may be at any moment. */
export const IS_UNTRIED = sql`(o.attempts = 0 and not o.look_first and o.unknown_since is null
  and not exists (select from loanops.operation_attempt a where a.operation_id = o.id))`

export const RESOLUTIONS = ['retry', 'failed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]
