import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, refuseDoing } from '../access/caller.ts'
import type { Injection } from '../faults/faults.ts'
import { type Body, readBody } from '../fields/body.ts'
import type { JournalEntry, Ledger } from '../storage/ledger.ts'
import type { LoggedWrite } from '../storage/write-log.ts'
import { type Answer, refusalAnswer } from './answer.ts'
import { isRefusedAtOnce, waitForChecker } from './maker-checkers.ts'
import { type CommandPlan, subjectOf } from './plan.ts'
import { containerError, integrityIssue, Refusal, standard } from './refusal.ts'
import { storedError, withNulls } from './stored-form.ts'
import type { Turns } from './turns.ts'

export type Call = {
  path: string
  caller?: Caller | undefined
  text: string
  key: string | undefined
  sentAsJson: boolean
  startMs: number
  // Its entry in the log, once it has taken effect.
  logged?: LoggedWrite
}

export const FROM_STORE = { 'x-served-from-cache': 'true' }

/** Fineract retries for this long before it gives up on a key that is in progress. */
const UNDER_WAY_MS = 3_000

export async function runCommand(
  ledger: Ledger,
  turns: Turns,
  plan: CommandPlan,
  call: Call,
  injection: Injection,
): Promise<Answer> {
  if (call.caller) refuseDoing(call.caller, permissionOf(plan))
  const body = plan.bodyless ? {} : readBody(call.text)
  const { key } = call
  if (key !== undefined && key.length > 50) {
    const message = 'ERROR: value too long for type character varying(50)'
    throw integrityIssue('error.msg.data.integrity.issue', message)
  }
  const earlier = key === undefined ? undefined : await earlierAnswer(ledger, plan.scope, key, call)
  if (earlier) return earlier
  if (key !== undefined) ledger.answers.begin(plan.scope, key)
  const loan = plan.of === 'loan' ? subjectOf(plan, body) : undefined
  const slow = injection.delayBeforeMs > 0 || injection.delayAfterMs > 0
  if (!slow && (loan === undefined || turns.isFree(loan)))
    return carryOut(ledger, plan, call, injection, body)
  const endTurn = loan === undefined ? () => undefined : await turns.take(loan)
  if (!endTurn) return carryOut(ledger, { ...plan, run: conflicts }, call, injection, body)
  try {
    if (slow) await sleep(injection.delayBeforeMs)
    const answer = await carryOut(ledger, plan, call, injection, body)
    if (slow) await sleep(injection.delayAfterMs)
    return answer
  } finally {
    endTurn()
  }
}

async function earlierAnswer(
  ledger: Ledger,
  scope: string,
  key: string,
  call: Call,
): Promise<Answer | undefined> {
  const giveUpAt = Date.now() + UNDER_WAY_MS
  for (;;) {
    const known = ledger.answers.find(scope, key)
    if (known === undefined) return undefined
    if (known.state === 'done')
      return { status: known.answer.status, text: known.answer.body, headers: FROM_STORE }
    const leftMs = giveUpAt - Date.now()
    if (known.state === 'stuck' || leftMs <= 0) return tooEarly(call)
    await Promise.race([known.settled, sleep(leftMs, undefined, { ref: false })])
  }
}

/** Writes the effect, its stored answer and its log entry as one line of the journal. */
async function carryOut(
  ledger: Ledger,
  plan: CommandPlan,
  call: Call,
  { fault }: Injection,
  body: Body,
): Promise<Answer> {
  const { scope } = plan
  const { key } = call
  const kind = fault?.kind
  const isChecked = ledger.flags.get('maker-checker')?.includes(permissionOf(plan))
  const isQueued = !plan.isApproved && (kind === 'makerChecker' || isChecked)
  if (isQueued && !isRefusedAtOnce(ledger, plan, body)) {
    if (key !== undefined) ledger.answers.free(scope, key)
    const maker = call.caller?.user.username
    const commandId = waitForChecker(ledger, plan, body, { text: call.text, maker })
    return { status: 200, text: JSON.stringify({ commandId, rollbackTransaction: true }) }
  }
  const withoutEffect = kind === 'stuck' && !fault?.applied
  if (withoutEffect) return stick(ledger, plan, call, fault?.seconds, {})
  const { answer, stored } = perform(
    kind === 'conflict' ? conflicts : broken(plan, fault),
    body,
    call,
  )
  const entry: JournalEntry = ledger.books.takeChanges()
  if (answer.status === 200) {
    call.logged = ledger.log.add({
      command: scope,
      externalId: subjectOf(plan, body) ?? null,
      idempotencyKey: key ?? null,
      at: new Date(call.startMs).toISOString(),
      startMs: call.startMs,
      endMs: null,
    })
    entry.write = call.logged
  }
  if (key !== undefined) entry.answer = { scope, key, status: answer.status, body: stored }
  if (kind === 'stuck') return stick(ledger, plan, call, fault?.seconds, entry)
  if (entry.answer) ledger.answers.keep(entry.answer)
  await ledger.journal.append(entry)
  return answer
}

const permissionOf = ({ scope }: CommandPlan): string => scope.replace('/', '_')

function perform(run: CommandPlan['run'], body: Body, call: Call) {
  try {
    const result = run(body)
    const text = JSON.stringify(result)
    return { answer: { status: 200, text }, stored: call.sentAsJson ? text : withNulls(result) }
  } catch (error) {
    // Anything else is a bug in the sandbox, which a 500 would hide.
    if (!(error instanceof Refusal)) throw error
    const answer = refusalAnswer(error, call.path)
    return { answer, stored: storedError(answer.status, error.message, error.body) }
  }
}

async function stick(
  ledger: Ledger,
  { scope }: CommandPlan,
  call: Call,
  seconds: number | undefined,
  entry: JournalEntry,
): Promise<Answer> {
  const { key } = call
  if (key === undefined) {
    await ledger.journal.append(entry)
    return tooEarly(call)
  }
  const { answer: then, ...changes } = entry
  ledger.answers.stick(scope, key, then)
  if (seconds !== undefined)
    setTimeout(() => ledger.answers.unstick(scope, key), seconds * 1_000).unref()
  await ledger.journal.append({ ...changes, stuck: { scope, key } })
  return tooEarly(call)
}

const tooEarly = (call: Call): Answer => ({ status: 425, text: call.text, headers: FROM_STORE })

function conflicts(): never {
  throw standard(
    409,
    'The request caused a concurrency failure.',
    'The resource was changed by another request at the same time.',
    'error.msg.platform.service.query.conflict',
  )
}

/** Fineract stores its own 500 under the key; 502 and 503 come from a proxy in front of it. */
function broken(plan: CommandPlan, fault: Injection['fault']): CommandPlan['run'] {
  if (fault?.kind !== 'error' || fault.when === 'after') return plan.run
  return () => {
    throw containerError(500)
  }
}
