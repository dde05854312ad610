import type { Static, TObject } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Answer } from '../ledger/answer.ts'
import type { Ledger } from '../ledger/client.ts'
import type { Held } from '../ledger/held.ts'
import type { Reference } from '../ledger/reference.ts'
import type { Refusal } from './refusal.ts'

export type Data = Record<string, unknown>

export type Attempt = {
  ledger: Ledger
  reference: Reference
  id: string
  /** The Idempotency-Key of this attempt's write. */
  key: string
  /** What `remember` saved in an earlier attempt, or null. */
  seen: unknown
  /** Saves, before a write, what can be read only before it. */
  remember(seen: unknown): Promise<void>
  /** What the previous operation on the same subject passed on; none of ours came between. */
  handedOn: unknown
  /** Passes on what is true of the subject once this operation has succeeded. Possibly nobody receives it. */
  handOn(value: unknown): void
}

export type Operation<Schema extends TObject = TObject> = {
  name: string
  summary: string
  schema: Schema
  /** A rule across fields. @returns the path and message of each violation */
  check?(data: Static<Schema>): { path: string; message: string }[]
  externalId(data: Static<Schema>): string
  /** `loan:…` or `client:…`: no other operation on it runs at the same time. */
  subject(data: Static<Schema>): string
  /** The client whose earlier operations must end first. */
  waitsFor?(data: Static<Schema>): string
  /** Writes, or returns the refusal, the ledger's or ours, that follows from a read before the write. */
  run(attempt: Attempt, data: Static<Schema>): Promise<Answer | Refusal>
  /** Looks for the effect of an earlier attempt. @throws LedgerTrouble if the ledger cannot be read */
  find(attempt: Attempt, data: Static<Schema>): Promise<Held>
  /**
   * What the ledger already holds of this, whoever made it: a migration treats an equal effect as done.
   * Defaults to `find`. @throws LedgerTrouble if the ledger cannot be read
   */
  holds?(attempt: Attempt, data: Static<Schema>): Promise<Held>
}

/** Type-checks an operation against its own schema; the catalogue does not know the types of its operations. */
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

/** Waits that a person ends. */
const HANGING = ['ledger_approval', 'ledger_credentials']
export const RESOLVABLE = ['outcome_unknown', ...HANGING]

/** Whether an operator may resolve `loanops.operation o`. */
export const IS_RESOLVABLE = sql`(o.unknown_since is not null or coalesce(o.waiting_for = any(${HANGING}), false))`

export const RESOLUTIONS = ['retry', 'failed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]
