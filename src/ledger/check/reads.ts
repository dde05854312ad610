import { setTimeout as sleep } from 'node:timers/promises'
import { explained, type Received } from '../answers/answer.ts'
import { connectionReason } from '../answers/connection-error.ts'
import { codeOf } from '../answers/error-body.ts'
import { type LedgerPath, ledgerPath } from '../calls/path.ts'
import { type LedgerSettings, openSender, type Request } from '../calls/send.ts'

/** A ledger that is well answers each of these reads far sooner. */
const ANSWERS_WITHIN_MS = 4_000

const LOOK = 'Let LEDGER_USERNAME read it at the ledger, or look it up there'
const LET_THROUGH =
  'Check again; if it stays so, let whatever is in front of the ledger pass this read, or look it up at the ledger'

/** A value that a check needs could not be read, for this reason. */
export class Unread extends Error {
  /** The ledger's own code; null if the answer is not the ledger's own. */
  readonly code: string | null
  readonly status: number | null
  readonly remedy: string
  constructor(message: string, answer?: Received | Error) {
    super(message)
    const { status = null, body } = answer instanceof Error ? {} : (answer ?? {})
    this.code = codeOf(body)
    this.status = status
    this.remedy = answer !== undefined && this.code === null ? LET_THROUGH : LOOK
  }
}

export function ifRead<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch(error => {
    if (error instanceof Unread) return undefined
    throw error
  })
}

/** Each read is sent once, however many checks need it, and one after the other. */
export type Reads = {
  /** The first call, whatever came of it. */
  probe(): Promise<Received | Error>
  /** @throws Unread */
  read<Body>(path: LedgerPath): Promise<Body>
  /** @throws Unread, also if the answer is not a list */
  list<Item>(path: LedgerPath): Promise<Item[]>
  /** The ledger's record of our own user. @throws Unread */
  self(): Promise<OwnUser>
  /** The ledger's version, from outside of the API; undefined if it does not say. */
  info(): Promise<unknown>
  close(): Promise<void>
}

type OwnUser = {
  userId: number
  officeId: number
  permissions: string[]
  shouldRenewPassword?: boolean
}

export const PAYMENT_TYPES = ledgerPath(['paymenttypes'])
const AUTHENTICATION = ledgerPath(['authentication'])
const INFO = ledgerPath(['actuator', 'info'])

type Limits = { pauseMs?: number | undefined; signal: AbortSignal }

export function openReads(settings: LedgerSettings, { pauseMs = 0, signal }: Limits): Reads {
  const limits = {
    LEDGER_TIMEOUT_MS: Math.min(settings.LEDGER_TIMEOUT_MS, ANSWERS_WITHIN_MS),
    LEDGER_CONCURRENCY: 1,
  }
  const sender = openSender({ ...settings, ...limits })
  const outside = openSender({
    ...settings,
    ...limits,
    LEDGER_URL: settings.LEDGER_URL.replace(/\/api\/v1$/, ''),
  })
  const kept = new Map<string, Promise<Received | Error>>()
  let turn: Promise<unknown> = Promise.resolve()

  return {
    probe: () => once({ method: 'GET', path: PAYMENT_TYPES }),
    async read<Body>(path: LedgerPath) {
      return bodyOf(await once({ method: 'GET', path })) as Body
    },
    async list<Item>(path: LedgerPath) {
      const body = bodyOf(await once({ method: 'GET', path }))
      if (Array.isArray(body)) return body as Item[]
      throw new Unread('the ledger does not return a list')
    },
    async self() {
      const { LEDGER_USERNAME: username, LEDGER_PASSWORD: password } = settings
      const body = { username, password }
      const user = bodyOf(await once({ method: 'POST', path: AUTHENTICATION, body }))
      if (!Array.isArray((user as Partial<OwnUser> | null)?.permissions))
        throw new Unread('the ledger does not list its user’s permissions')
      return user as OwnUser
    },
    async info() {
      const answer = await once({ method: 'GET', path: INFO }, outside)
      return answer instanceof Error || answer.status !== 200 ? undefined : answer.body
    },
    close: async () => void (await Promise.all([sender.cutOff(), outside.cutOff()])),
  }

  function once(request: Request, over = sender): Promise<Received | Error> {
    const known = kept.get(request.path)
    if (known !== undefined) return known
    const answer = turn.then(() => over.send({ ...request, signal })).catch(asError)
    turn = answer.then(() => sleep(pauseMs, undefined, { signal }).catch(() => undefined))
    kept.set(request.path, answer)
    return answer
  }
}

/** @throws Unread, also if the answer is another record than the one with this number */
export async function numbered<Body>(reads: Reads, kind: string, id: number): Promise<Body> {
  const body = await reads.read<Body & { id?: unknown }>(ledgerPath([kind, id]))
  if (body.id === id) return body
  throw new Unread(`the ledger does not return number ${id} of its ${kind}`)
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

function bodyOf(answer: Received | Error): unknown {
  if (answer instanceof Error)
    throw new Unread(`the ledger did not answer (${connectionReason(answer)})`, answer)
  if (answer.status === 200 && typeof answer.body === 'object' && answer.body !== null)
    return answer.body
  throw new Unread(explained(answer, { outcome: 'refused' }), answer)
}
