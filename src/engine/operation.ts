import type { Static, TObject } from '@sinclair/typebox'
import type { Answer } from '../ledger/answer.ts'
import type { Ledger } from '../ledger/client.ts'
import type { Held } from '../ledger/held.ts'
import type { Reference } from '../ledger/reference.ts'
import type { Refusal } from './refusal.ts'

/** An operation's data as JSON, before its own schema says more. */
export type Data = Record<string, unknown>

/** One attempt, as its operation sees it. */
export type Attempt = {
  ledger: Ledger
  reference: Reference
  /** The operation's UUID. */
  id: string
  /** The Idempotency-Key of this attempt's write. */
  key: string
  /** What `remember` kept in an earlier attempt, or null. */
  seen: unknown
  /** Keeps, before a write, what only can be read before it. */
  remember(seen: unknown): Promise<void>
  /** What the operation just before this one on the same subject handed on; no other of ours came between. */
  handedOn: unknown
  /** Hands on what is true of the subject once this operation has succeeded. Nobody may get it. */
  handOn(value: unknown): void
}

/** One kind of change at the ledger: data, and the calls that make it and that recognise it. */
export type Operation<Schema extends TObject = TObject> = {
  name: string
  summary: string
  schema: Schema
  /** A rule across fields: the path and sentence of each breach. */
  check?(data: Static<Schema>): { path: string; message: string }[]
  externalId(data: Static<Schema>): string
  /** `loan:…` or `client:…`: what this operation has to itself while it runs. */
  subject(data: Static<Schema>): string
  /** The client whose earlier operations have to end first. */
  waitsFor?(data: Static<Schema>): string
  /** Writes; or answers a refusal, the ledger's or ours, where a read before it said so. */
  run(attempt: Attempt, data: Static<Schema>): Promise<Answer | Refusal>
  /** Looks for the effect of an earlier attempt. @throws LedgerTrouble when the ledger does not say */
  find(attempt: Attempt, data: Static<Schema>): Promise<Held>
  /**
   * What the ledger holds of this already, whoever made it: a migration takes what is equal as done, and says how
   * the rest differs. Where it is missing, `find` answers it. @throws LedgerTrouble when the ledger does not say
   */
  holds?(attempt: Attempt, data: Static<Schema>): Promise<Held>
}

/** Keeps an operation's own types while it is written; the catalogue forgets them. */
export function operation<Schema extends TObject>(definition: Operation<Schema>): Operation {
  return definition as unknown as Operation
}

export const loanSubject = (externalId: string) => `loan:${externalId}`
export const clientSubject = (externalId: string) => `client:${externalId}`

/** Operations by name. */
export type Catalogue = ReadonlyMap<string, Operation>

/** What an operator may decide about an operation that is stuck. */
export const RESOLUTIONS = ['retry', 'failed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]
