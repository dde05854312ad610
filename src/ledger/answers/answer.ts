import { isPassingTrouble } from './database-trouble.ts'
import { codeOf, isOfLedgerShape } from './error-body.ts'
import { isResultOfAnother, type Promised } from './of-another-call.ts'
import { causeOfRefusal, inOneSentence, isForbidden, isOfUser } from './remedy.ts'

export type Outcome =
  | 'done'
  | 'refused'
  | 'not_now'
  | 'not_arrived'
  | 'unknown'
  | 'misconfigured'
  /** A second person must approve it at the ledger first (maker-checker). */
  | 'awaits_approval'

export type Answer = {
  method: string
  path: string
  status: number | null
  body: unknown
  outcome: Outcome
  code: string | null
  message: string
  /** The message of a call that was not answered says what to correct. */
  hasRemedy?: boolean
  /** The ledger repeats this answer for this key forever: the next try needs a new key. */
  isRecorded: boolean
  isFromStore: boolean
  /** The call changed nothing at the ledger: it was a read, was not sent, or was turned away before any processing. */
  leftNothing: boolean
  retryAfterMs?: number
  /**
   * The answer is that of the first of an operation's two writes: the second one is another attempt, under a key of
   * its own.
   */
  isFirstOfTwo?: true
  /** The record that was refused, where the ledger's message does not name it. */
  about?: string
}

/** The other members of an answer that the ledger did not store, to a call that changed nothing there. */
export const NOTHING_WRITTEN = {
  body: null,
  code: null,
  isRecorded: false,
  isFromStore: false,
  leftNothing: true,
}

export const notSent = (
  { method, path }: Pick<Answer, 'method' | 'path'>,
  outcome: 'not_arrived' | 'misconfigured',
  message: string,
): Answer => ({ ...NOTHING_WRITTEN, method, path, status: null, outcome, message })

/** A read did not show what the ledger has. Nothing was written. */
export class LedgerTrouble extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super(answer.message)
    this.answer = answer
  }
}

export function isDown({ status, outcome }: Pick<Answer, 'status' | 'outcome'>): boolean {
  return outcome !== 'refused' && (status === null || [429, 502, 503, 504].includes(status))
}

export type Received = { status: number; body: unknown; isFromStore: boolean; retryAfterMs: number }

/**
 * A refusal for a state that no read shows. Some versions of Fineract run a command twice and return the result of the
 * second run; so does a proxy that repeats a call and drops its key. Only a read that no longer lags shows the first one.
 */
export const contradicted = (refused: Answer): Answer => ({ ...refused, outcome: 'unknown' })

export const NOT_FOUND = 404
/** The ledger's answer while a call under the same key still runs. */
export const TOO_EARLY = 425

export type AnswerKind = { outcome: Outcome; isRecorded?: boolean; leftNothing?: boolean }

/** Classifies the answer to a read. An answer that is not the ledger's own says nothing about what the ledger has. */
export function classifyRead({ status, body }: Received): AnswerKind {
  if (status === 200) return { outcome: isReading(body) ? 'done' : 'not_arrived' }
  if (isMisconfiguration(status, body) || isHidden(body)) return { outcome: 'misconfigured' }
  if ([400, 403, NOT_FOUND].includes(status) && isOfLedgerShape(body)) return { outcome: 'refused' }
  return { outcome: [409, TOO_EARLY, 429, 503].includes(status) ? 'not_now' : 'not_arrived' }
}

/**
 * Whether the body is a list, a page of one, or one entity with its id: any other 200 comes from something between us
 * and the ledger.
 */
function isReading(body: unknown): boolean {
  if (Array.isArray(body)) return true
  const { id, ...lists } = (body ?? {}) as Record<string, unknown>
  return typeof id === 'number' || LISTS.some(name => Array.isArray(lists[name]))
}

const LISTS = ['pageItems', 'globalConfiguration']

export function classifyWrite(
  { status, body, isFromStore }: Received,
  promised: Promised,
): AnswerKind {
  const isOfLedger = isOfLedgerShape(body)
  const isRecorded = isFromStore || isOfLedger
  if (status === 200) return { outcome: classify200({ body, isFromStore }, promised) }
  // The ledger checks credentials before anything else. A proxy's or container's 403 or 404 may replace its own answer.
  if (isMisconfiguration(status, body, promised.isApplication)) {
    const leftNothing = isOfLedger || status === 401
    return { outcome: 'misconfigured', isRecorded: wrongSetting(body) !== undefined, leftNothing }
  }
  if (isCutShort(status, body)) return { outcome: 'not_arrived', leftNothing: true }
  if (isKeyTaken(status, body) && !isFromStore) return { outcome: 'unknown' }
  if (isOfDatabase(status, body)) return { outcome: 'unknown', isRecorded }
  if ([400, 403, 404].includes(status) && isOfLedger) return { outcome: 'refused' }
  if (status === 503 && NEVER_ALLOWED.test(codeOf(body) ?? '')) return { outcome: 'refused' }
  if (status === 409 && codeOf(body) === AWAITS_CHECKER) return { outcome: 'awaits_approval' }
  // A rate limit lets no call through. A proxy also answers 503 when it loses the ledger during a call.
  if (status === 429) return { outcome: 'not_now', isRecorded, leftNothing: true }
  if (status === 503) return { outcome: 'not_now', isRecorded, leftNothing: isOfLedger }
  // The close of business locks the loan before any command; any other 409 is a conflict, perhaps with a call of ours.
  if (status === 409 && LOCKED.includes(codeOf(body) ?? ''))
    return { outcome: 'not_now', isRecorded, leftNothing: true }
  // The ledger repeats its 409 or 500 forever. A 409 or 500 that something else sent says nothing about the call, which
  // may still run under that key; if the ledger stored it too, its next answer says that it is a stored one.
  return { outcome: 'unknown', isRecorded: isRecorded && (status === 409 || status === 500) }
}

const UNREADABLE = 'error.msg.invalid.request.body'
/** We send whole bodies: the ledger could not read what was left of this one, and has not looked at its key. */
const isCutShort = (status: number, body: unknown) =>
  status === 400 && [UNREADABLE, 'error.msg.invalid.json'].includes(codeOf(body) ?? '')
/** For a lock that no call may overrule, Fineract answers as for a body that it cannot read. */
const LOCKED = ['error.msg.loan.locked', UNREADABLE]
/** How Fineract 1.9 refuses the later of two equal calls whose keys it stores at the same moment. */
const isKeyTaken = (status: number, body: unknown) =>
  codeOf(body) === 'error.msg.data.integrity.issue' && /duplicate/i.test(messageOf(status, body))
/**
 * Fineract answers with these codes, and the words of its database or driver, whatever the database could not do. What it
 * says of a lost connection may come after the commit.
 */
const isOfDatabase = (status: number, body: unknown) =>
  /\.(data\.integrity\.issue|persistence\.error)$/.test(codeOf(body) ?? '') &&
  isPassingTrouble(messageOf(status, body))
/** An adjustment or a chargeback that the ledger will not allow later either. */
const NEVER_ALLOWED = /(update|chargeback\.operation)\.not\.allowed$/
/** Newer ledgers answer so if the same request already waits for its second person. */
const AWAITS_CHECKER = 'error.msg.maker.checker.duplicate.pending.submission'

/** Takes the place of a body that is too large to be read. */
export const TOO_LARGE = 'the ledger’s answer is larger than 16 MiB'

function messageOf(status: number, body: unknown): string {
  if (body === TOO_LARGE) return TOO_LARGE
  if (isOfLedgerShape(body)) {
    return (
      body.errors?.[0]?.defaultUserMessage ??
      body.defaultUserMessage ??
      body.userMessageGlobalisationCode
    )
  }
  return `HTTP ${status} with a body that is not the ledger’s`
}

/** The answer in one sentence, for people. */
export function explained(received: Received, { outcome }: AnswerKind): string {
  const { status, body } = received
  const message = messageOf(status, body)
  if (outcome === 'awaits_approval') return 'a second person must approve it at the ledger'
  if (isCutShort(status, body))
    return `something in front of the ledger cut this write short: ${message}`
  if (outcome === 'unknown' && status === 200 && isResult(body))
    return `the answer is the result of another call${received.isFromStore ? ' with the same key: the header Idempotency-Key may not reach the ledger' : ''}`
  if (outcome === 'unknown' && isOfDatabase(status, body))
    return `the ledger’s database could not do it: ${message}`
  if (outcome === 'unknown' && isRefusedInFront(status, body)) return `${IN_FRONT}: ${message}`
  if (outcome === 'not_arrived' && isRefusedInFront(status, body))
    return `something in front of the ledger refuses this read: ${message}`
  if (outcome !== 'misconfigured') return message
  if (isHidden(body))
    return `the ledger hides it from LoanOps’s user (LEDGER_USERNAME), who belongs to another office: ${message}`
  const setting = wrongSetting(body)
  return setting === undefined
    ? `${inOneSentence(causeOfRefusal(status, body))}: ${message}`
    : settingIsWrong(setting, message)
}

/** A firewall refuses so, for example. The ledger's own refusal might still be behind it, so the outcome stays unknown. */
export const IN_FRONT = 'something in front of the ledger refuses this write'

/** These statuses say nothing about this write: it was too slow, or in conflict with another, or is still running. */
const PASSING_STATUSES = [408, 409, TOO_EARLY]

function isRefusedInFront(status: number, body: unknown): boolean {
  const isRefusal = status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)
  return isRefusal && !isOfLedgerShape(body)
}

function classify200(
  received: Pick<Received, 'body' | 'isFromStore'>,
  promised: Promised,
): Outcome {
  const { body } = received
  if (typeof body !== 'object' || body === null) return 'unknown'
  const result = body as Record<string, unknown>
  if (isResultOfAnother(received, promised)) return 'unknown'
  // A stored answer has this member too, as false.
  if (result.rollbackTransaction === true) return 'awaits_approval'
  if (typeof result[promised.promisedId] === 'number') return 'done'
  return isResult(body) ? 'awaits_approval' : 'unknown'
}

const isResult = (body: unknown) =>
  IDS_OF_RESULTS.some(name => typeof Object(body)[name] === 'number')

/**
 * Every result of a command has at least one of these; any other 200 comes from something between us and
 * the ledger.
 */
const IDS_OF_RESULTS = ['commandId', 'resourceId', 'officeId', 'clientId', 'loanId']

/** The settings that name what the ledger does not have, by the code with which it refuses a request. */
const SETTINGS_BY_CODE: Record<string, string> = {
  'error.msg.office.id.invalid': 'LEDGER_OFFICE_ID',
  'error.msg.payment.type.invalid': 'LEDGER_PAYMENT_TYPE',
  'error.msg.loanproduct.id.invalid': 'the lender’s product (LENDERS_FILE)',
}

const CHARGE_CODES = ['error.msg.charge.', 'error.msg.loanCharge.']
const PRODUCT_CHARGE = 'a charge of the product'

/** No caller sends a charge. An application's charges are the product's; any other call contradicts the loan's own. */
function isOfSetting(body: unknown, isApplication: boolean): boolean {
  const setting = wrongSetting(body)
  return setting !== undefined && (isApplication || setting !== PRODUCT_CHARGE)
}

function wrongSetting(body: unknown): string | undefined {
  const code = codeOf(body) ?? ''
  const isOfCharge = CHARGE_CODES.some(beginning => code.startsWith(beginning))
  return isOfCharge ? PRODUCT_CHARGE : SETTINGS_BY_CODE[code]
}

/** The answer to a call that the ledger refused because of a setting of ours: no operation's fault. */
export function settingRefused(answer: Answer, setting: string): Answer {
  const message = settingIsWrong(setting, answer.message)
  return { ...answer, outcome: 'misconfigured', message, isRecorded: true, leftNothing: true }
}

const settingIsWrong = (setting: string, why: string) => `${setting} is wrong: ${why}`

/**
 * These codes are about a number that we never sent: the ledger found the external id, but its loan or client belongs
 * to an office that our user does not see. The codes for what does not exist are others.
 */
const HIDDEN_CODES = ['error.msg.loan.id.invalid', 'error.msg.client.not.found.with.client.id']

const isHidden = (body: unknown) => HIDDEN_CODES.includes(codeOf(body) ?? '')

/** Fineract's code for a command that was lost with the query. */
const COMMAND_LOST = 'error.msg.query.parameter.value.unsupported'

/**
 * Whether our credentials, permissions, URL, tenant or ids are wrong: not the operation's fault, and no operation can
 * succeed.
 */
function isMisconfiguration(status: number, body: unknown, isApplication = false): boolean {
  if (status === 401 || status === 405 || isForbidden(status, body)) return true
  const code = codeOf(body)
  if ([400, 403].includes(status) && (isOfUser(code) || code === COMMAND_LOST)) return true
  if ([403, 404].includes(status) && isOfSetting(body, isApplication)) return true
  if (status >= 300 && status < 400) return true
  return [400, 404, 415].includes(status) && !isOfLedgerShape(body)
}
