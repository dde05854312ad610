import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, notSent } from '../answers/answer.ts'
import { isOfLedgerShape } from '../answers/error-body.ts'
import type { Request } from './send.ts'

/**
 * The pause between two tests of the login. The first one is at once, because what is in front of the ledger may refuse
 * one call alone.
 */
const PAUSE_MS = 60_000
/** People who correct the password see that it is taken. */
const PAUSE_FOR_PEOPLE_MS = 10_000
/** The other calls of a process that starts wait for so long for its first one. */
const FIRST_ANSWER_WITHIN_MS = 3_000

const firstAnswerIsLate = () => sleep(FIRST_ANSWER_WITHIN_MS, undefined, { ref: false })

type Call = Pick<Request, 'method' | 'path'>

/**
 * Keeps a process with a wrong password from sending it again and again. After a few wrong logins a ledger locks its user,
 * for the processes with the right password, too.
 */
export type LedgerLogin = {
  /** Sends the call; once the ledger has refused the login, only a read now and then. */
  guard(send: () => Promise<Answer>, call: Call): Promise<Answer>
  /** How the ledger refused the login; null if it did not. */
  refusal(): string | null
  /** Lets a read test the login soon: perhaps it was corrected. */
  testAgain(): void
}

/** @param isFoundRight whether a check of the set-up, by whichever process, found the login right within this time */
export function openLedgerLogin(isFoundRight: (withinMs: number) => Promise<boolean>): LedgerLogin {
  let first: Promise<unknown> | undefined
  let refusal: string | null = null
  let refusedAt = performance.now()
  let pauseMs = 0
  let isTesting = false

  return {
    async guard(send, call) {
      await first
      if (refusal !== null) return test(send, call)
      const sending = send()
      first ??= Promise.race([sending.catch(() => undefined), firstAnswerIsLate()])
      return noted(await sending)
    },
    refusal: () => refusal,
    testAgain() {
      pauseMs = Math.min(pauseMs, PAUSE_FOR_PEOPLE_MS)
    },
  }

  async function test(send: () => Promise<Answer>, call: Call) {
    if (call.method !== 'GET' || !(await mayBeRight()) || isTesting)
      return notSent(call, 'misconfigured', refusal ?? '')
    isTesting = true
    const answer = await send().finally(() => {
      isTesting = false
    })
    pauseMs = PAUSE_MS
    return noted(answer)
  }

  async function mayBeRight(): Promise<boolean> {
    const [at, msAgo] = [refusedAt, performance.now() - refusedAt]
    // Another call may test it meanwhile.
    return msAgo >= pauseMs || ((await isFoundRight(msAgo).catch(() => false)) && at === refusedAt)
  }

  function noted(answer: Answer): Answer {
    const { status, outcome, body, message } = answer
    if (status === 401) {
      if (refusal === null) pauseMs = 0
      refusal = message
      refusedAt = performance.now()
    } else if (status !== null && (outcome === 'done' || isOfLedgerShape(body))) refusal = null
    return answer
  }
}
