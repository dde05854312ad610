import type { Act } from '../../config/acts.ts'
import type { Database, Trx } from '../../database/database.ts'
import type { Asker } from '../audit.ts'

/** What a request does, with the amount that rules compare; null if it has none, or none that is known. */
export type Part = { act: Act; amount: string | null }

/** What a request is about, as it is now. */
export type Facts = {
  act: Act
  subject: string
  parts: Part[]
  amount: string | null
  currency: string | null
  /** For who decides. */
  shown: Record<string, unknown>
  /** Once it is another one, a proposal is stale. */
  state: unknown
}

/** Of an act that moves no amount of its own. */
export function factsAbout(
  act: Act,
  subject: string,
  { shown, state }: Pick<Facts, 'shown' | 'state'>,
): Facts {
  const parts = [{ act, amount: null }]
  return { act, subject, parts, amount: null, currency: null, shown, state }
}

export type Answer = { status: number; body: unknown }

/** A call that does what a second person may have to approve. It does not know whether one did. */
export type ActCall<Request extends object, Looked, Result> = {
  /** An approval finds it again by this name. */
  name: string
  /** Where its transactions may take long. */
  db?: Database
  actsOf(request: Request): Act[]
  /** Locks what the request is about. */
  factsOf(trx: Trx, request: Request): Promise<Facts>
  /** What must not hold locks, such as a call to the ledger; what it saw is checked again by the act. */
  look?(request: Request, asker: Asker, signal?: AbortSignal): Promise<Looked>
  act(db: Database, asker: Asker, request: Request, looked: Looked): Promise<Result>
  /** As the act, where trying it out would count something that a rollback does not take back. */
  tryOut?(db: Database, asker: Asker, request: Request): Promise<unknown>
  /** After the commit; it may be repeated, or never come. */
  finish?(request: Request): Promise<void>
  answer(request: Request, result: Result): Promise<Answer>
}

export type AnyActCall = ActCall<object, unknown, unknown>
