import type { Act } from '../../config/acts.ts'
import type { Database, Trx } from '../../database/database.ts'
import type { Asker } from '../audit.ts'

/** One act of a request, with the amount that rules compare; null if it has none, or none that is known. */
export type Part = { act: Act; amount: string | null }

/** The subject of a request, as it is now. */
export type Facts = {
  act: Act
  subject: string
  parts: Part[]
  amount: string | null
  currency: string | null
  /** The facts shown to the person who decides. */
  shown: Record<string, unknown>
  /** A proposal is stale once this has changed. */
  state: unknown
}

/** The facts of an act that moves no amount of its own. */
export function factsAbout(
  act: Act,
  subject: string,
  shown: Facts['shown'],
  state: unknown,
): Facts {
  const parts = [{ act, amount: null }]
  return { act, subject, parts, amount: null, currency: null, shown, state }
}

export type CallAnswer = { status: number; body: unknown }

/** A call whose act a second person may have to approve. It runs in the same way with and without an approval. */
export type ActCall<Request extends object, Looked, Result> = {
  /** An approval finds the call again by this name. */
  name: string
  /** The database for a call whose transactions may take long. */
  db?: Database
  acts: readonly Act[]
  /** Which of these acts a request asks for; without this function, all. */
  actsOf?(request: Request): readonly Act[]
  /** Locks what the request is about. */
  factsOf(trx: Trx, request: Request): Promise<Facts>
  /** Does what must not hold locks, such as a call to the ledger; the act checks again what it saw. */
  look?(request: Request, asker: Asker, signal?: AbortSignal): Promise<Looked>
  act(db: Database, asker: Asker, request: Request, looked: Looked): Promise<Result>
  /** Instead of `act` for what a second person approves: a list is done as a whole or not at all. */
  actAsWhole?(trx: Trx, asker: Asker, request: Request, looked: Looked): Promise<Result>
  /** Runs after the commit; it may be repeated, or never run. */
  finish?(request: Request, result: Result): Promise<void>
  answer(request: Request, result: Result): Promise<CallAnswer>
}

export type AnyActCall = ActCall<object, unknown, unknown>
