/** How one answer of the ledger is taken; what follows from each stands in `operations/decide.ts`. */
export type Outcome =
  | 'done'
  | 'refused'
  | 'not_now'
  | 'not_arrived'
  | 'unknown'
  | 'misconfigured'
  /** Taken, but a second person at the ledger has to approve it first (maker-checker). */
  | 'awaits_approval'

/** One call to the ledger and what came back. Of a call without an answer `status` is null. */
export type Answer = {
  method: string
  path: string
  status: number | null
  body: unknown
  outcome: Outcome
  /** The ledger's own code for what is wrong, where the answer has its shape. */
  code: string | null
  /** One sentence for people. */
  message: string
  /** The ledger keeps this answer under the key for ever: another try needs another key. */
  isRecorded: boolean
  /** The answer comes from the ledger's idempotency store. */
  isFromStore: boolean
  /** Nothing of the call can be at the ledger: it was a read, was not sent, or was turned away before any processing. */
  leftNothing: boolean
}

/** A read that did not say what there is. Nothing was written. */
export class LedgerTrouble extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super(answer.message)
    this.answer = answer
  }
}

/** Speaks of the ledger as a whole, not of one call: no answer, or one of something that stands before it. */
export function isDown({ status, outcome }: Answer): boolean {
  return outcome !== 'refused' && (status === null || [429, 502, 503, 504].includes(status))
}

export type Received = {
  status: number
  body: unknown
  isFromStore: boolean
}

export type Verdict = { outcome: Outcome; isRecorded?: boolean; leftNothing?: boolean }

/** Takes the answer to a read: whatever is not the ledger's own word says nothing about what is there. */
export function classifyRead({ status, body }: Received): Verdict {
  if (status === 200) return { outcome: isReading(body) ? 'done' : 'not_arrived' }
  if (isMisconfiguration(status, body)) return { outcome: 'misconfigured' }
  if ([400, 403, 404].includes(status) && isOfLedgerShape(body)) return { outcome: 'refused' }
  return { outcome: [409, 425, 429, 503].includes(status) ? 'not_now' : 'not_arrived' }
}

/** A list, or one thing with its number: another 200 is that of something between us and the ledger. */
function isReading(body: unknown): boolean {
  return Array.isArray(body) || typeof (body as { id?: unknown } | null)?.id === 'number'
}

/** Takes the answer to a write. `promisedId` is the member that a 200 has if, and only if, the write was applied. */
export function classifyWrite(
  { status, body, isFromStore }: Received,
  promisedId: string,
): Verdict {
  const isOfLedger = isOfLedgerShape(body)
  const isRecorded = isFromStore || isOfLedger
  if (status === 200) return { outcome: classify200(body, promisedId) }
  // Who we are is checked before anything else. A proxy's or container's 404 may replace the ledger's own answer.
  if (isMisconfiguration(status, body))
    return { outcome: 'misconfigured', leftNothing: isOfLedger || status === 401 || status === 403 }
  if ([400, 403, 404].includes(status) && isOfLedger) return { outcome: 'refused' }
  // A rate limit does not let a call through. A proxy answers 503 also when it loses the ledger in the middle of a call.
  if (status === 429) return { outcome: 'not_now', isRecorded, leftNothing: true }
  if (status === 503) return { outcome: 'not_now', isRecorded, leftNothing: isOfLedger }
  // The close of business holds the loan, before any command; every other 409 is a collision that may have been ours.
  if (status === 409 && codeOf(body) === 'error.msg.loan.locked')
    return { outcome: 'not_now', isRecorded, leftNothing: true }
  // A 409 or 500 is replayed under its key for ever. One that something else wrote says nothing about the call, which
  // may still run under that key; where the ledger kept it too, the next answer comes from its store and says so.
  return { outcome: 'unknown', isRecorded: isRecorded && (status === 409 || status === 500) }
}

/** The code that says what is wrong: of the first error where there is one, else of the whole answer. */
export function codeOf(body: unknown): string | null {
  if (!isOfLedgerShape(body)) return null
  return body.errors?.[0]?.userMessageGlobalisationCode ?? body.userMessageGlobalisationCode
}

export type LedgerError = {
  userMessageGlobalisationCode: string
  defaultUserMessage?: string
  developerMessage?: string
  errors?: { userMessageGlobalisationCode?: string; defaultUserMessage?: string }[] | null
}

/** Only a body of this shape speaks for the ledger; a container's `{timestamp, status, error, path}` or HTML does not. */
export function isOfLedgerShape(body: unknown): body is LedgerError {
  const code = (body as LedgerError | null)?.userMessageGlobalisationCode
  return typeof code === 'string'
}

/** What a person reads first in an answer of any shape. */
export function messageOf(status: number, body: unknown): string {
  if (isOfLedgerShape(body)) {
    return (
      body.errors?.[0]?.defaultUserMessage ??
      body.defaultUserMessage ??
      body.userMessageGlobalisationCode
    )
  }
  return `an answer ${status} that is not in the ledger's own shape`
}

function classify200(body: unknown, promisedId: string): Outcome {
  if (typeof body !== 'object' || body === null) return 'unknown'
  const result = body as Record<string, unknown>
  // Present with false in an answer that comes from the ledger's store.
  if (result.rollbackTransaction === true) return 'awaits_approval'
  if (typeof result[promisedId] === 'number') return 'done'
  return IDS_OF_RESULTS.some(name => typeof result[name] === 'number')
    ? 'awaits_approval'
    : 'unknown'
}

/** Every result of a command has one of them at least; another 200 is that of something between us and the ledger. */
const IDS_OF_RESULTS = ['commandId', 'resourceId', 'officeId', 'clientId', 'loanId']

/** What Fineract says in its own shape of the user that we are: a permission is missing, or the password is too old. */
const OF_OUR_USER = ['error.msg.not.authorized', 'error.msg.password.outdated']

/** Wrong credentials, permissions, URL or tenant: no operation's fault, and none of them can get through. */
function isMisconfiguration(status: number, body: unknown): boolean {
  if (status === 401 || status === 405) return true
  if ([400, 403].includes(status) && OF_OUR_USER.includes(codeOf(body) ?? '')) return true
  if (status >= 300 && status < 400) return true
  return [400, 404, 415].includes(status) && !isOfLedgerShape(body)
}
