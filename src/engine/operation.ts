import type { Static, TObject } from '@sinclair/typebox'
import type { Answer } from '../ledger/answer.ts'
import type { Ledger } from '../ledger/client.ts'
import type { Reference } from '../ledger/reference.ts'
import type { Refusal } from './refusal.ts'

/** An operation's data as JSON, before its own schema says more. */
export type Data = Record<string, unknown>

/** What a run may use. */
export type Run = {
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

/** What a look at the ledger says of an operation whose earlier attempt may have arrived. */
export type Found =
  /** It is there, as ours would have made it; `body` has the fields of the ledger's answer to the write. */
  | { state: 'there'; body: object }
  /**
   * It is there, but in a state that ours does not leave: somebody went on from it, or it was so before. Under the same
   * key the ledger answers an update that it took with its first answer, and refuses one that comes too late.
   */
  | { state: 'moved_on'; body: object }
  /** It is not there; or something is that is not ours: the ledger's answer to the next attempt will tell. */
  | { state: 'absent' }
  /** Something else is in its place. */
  | { state: 'differs'; how: string }

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
  run(run: Run, data: Static<Schema>): Promise<Answer | Refusal>
  /** Looks for the effect of an earlier attempt. @throws LedgerTrouble when the ledger does not say */
  find(run: Run, data: Static<Schema>): Promise<Found>
  /**
   * What the ledger holds of this already, whoever made it: a migration takes what is equal as done, and says how
   * the rest differs. Where it is missing, `find` answers it. @throws LedgerTrouble when the ledger does not say
   */
  holds?(run: Run, data: Static<Schema>): Promise<Found>
}

/** Keeps an operation's own types while it is written; the catalogue forgets them. */
export function operation<Schema extends TObject>(definition: Operation<Schema>): Operation {
  return definition as unknown as Operation
}

export const loanSubject = (externalId: string) => `loan:${externalId}`
export const clientSubject = (externalId: string) => `client:${externalId}`
export const absent: Found = { state: 'absent' }
export const there = (body: object): Found => ({ state: 'there', body })

/** @param differences what is not as it was asked for, one clause each */
export function compared(body: object, differences: string[]): Found {
  return differences.length === 0
    ? there(body)
    : {
        state: 'differs',
        how: `it is in the ledger already, and differs: ${differences.join(', ')}`,
      }
}
