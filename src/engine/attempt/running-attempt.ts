import { crashPoint } from '../../crash-point.ts'
import { idOf } from '../../ids.ts'
import { type Answer, NOT_FOUND } from '../../ledger/answers/answer.ts'
import { codeOf } from '../../ledger/answers/error-body.ts'
import { isRefusedUnderKey } from '../../ledger/answers/outcome-under-key.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import type { Finding } from '../../ledger/check/finding.ts'
import { absent, type Effect, there } from '../../ledger/effect.ts'
import type { ReferenceData } from '../../ledger/reference/reference.ts'
import type { Log } from '../../log/log.ts'
import type { Trace, Traces } from '../../ops/traces/traces.ts'
import type { Claim } from '../claim/claim.ts'
import { type Decision, decide } from '../finish/decide.ts'
import type { Ended } from '../finish/finish.ts'
import type { Attempt, Kept, Operation, RecentlyDone } from '../operation.ts'
import type { Pauses } from '../pause.ts'
import { isAnswer, type Refusal } from '../refusal.ts'
import type { PassedOn } from './passed-on.ts'
import { type WatchedLedger, watchLedger } from './watched-ledger.ts'

export type SetUpBehind = (
  claim: Pick<Claim, 'origin' | 'data'>,
  refused: Answer | Refusal,
) => Promise<Finding | undefined>

export type AttemptContext = {
  ledger: Ledger
  reference: ReferenceData
  deadlineSeconds: number
  pauses: Pauses
  mayWrite(kept: Kept | null): Promise<boolean>
  remember(claim: Claim, seen: unknown): Promise<void>
  recentlyDone(subject: string): Promise<RecentlyDone>
  setUpBehind: SetUpBehind
  traces: Traces
  log: Pick<Log, 'error'>
}

/** An attempt between its first call and its end: what it has read and sent, and what follows from that. */
export type RunningAttempt = Pick<WatchedLedger, 'lastRead' | 'written' | 'mayHaveArrived'> & {
  claim: Claim
  /** Reads whether this attempt or an earlier one arrived. */
  look(): Promise<Effect>
  /** Also true after a look, or any read behind the write, that threw: the attempt's error then came from it. */
  isLooking(): boolean
  /** Whether the last look found `moved_on`: then only the key can show whether our write came first. */
  hasMovedOn(): boolean
  /** Reads whether the effect that carries this operation's own id is there, where effects carry one. */
  findOwn(): Promise<Effect>
  /** Reads whether the ledger has an equal effect, whoever made it. */
  findEqual(): Promise<Effect>
  /** Whether an operation of ours has just made what a read does not show. */
  lacksOwn(refused: Answer | Refusal): Promise<boolean>
  /** Whether the look may have missed what this operation removes, because it was made so lately. */
  mayLackRecord(): Promise<boolean>
  write(): Promise<Answer | Refusal>
  /** Whether the ledger may have refused our own duplicate. Only writes that remembered something before are affected. */
  mayHaveComeTwice(): boolean
  decide(answer: Answer | Refusal): Decision
  end(decision: Decision, answer: Answer | Refusal | null): Ended
}

export function beginAttempt(
  context: AttemptContext,
  operation: Operation,
  claim: Claim,
  { passedOn, trace }: { passedOn: PassedOn; trace: Trace },
): RunningAttempt {
  const key = idOf(`${claim.id}:${claim.keyGeneration}`)
  const kept = { ...claim.kept }
  const allKept = () => (Object.keys(kept).length === 0 ? null : kept)
  const calls = watchLedger(context, () => context.mayWrite(allKept()), trace)
  const attempt = attemptFor(context, claim, { key, kept, calls, passedOn })
  const left = () => ({ kept: allKept(), mayStillRun: attempt.mayStillRun })
  let isLooking = false
  let hasMovedOn = false

  const find = async (own: Attempt) => {
    isLooking = true
    const effect = await operation.find(own, claim.data)
    isLooking = false
    return effect
  }

  return {
    ...calls,
    claim,
    async look() {
      const effect = await find(attempt)
      hasMovedOn = effect.state === 'moved_on'
      // The ledger had queued the operation for approval; the approver may have progressed it.
      const wasTaken = claim.waitingFor === 'ledger_approval'
      return effect.state === 'moved_on' && wasTaken ? there(effect.body) : effect
    },
    findOwn: async () =>
      operation.carriesOwnId ? find({ ...attempt, mayStillRun: true }) : absent,
    isLooking: () => isLooking || calls.written() !== null,
    hasMovedOn: () => hasMovedOn,
    findEqual: () => (operation.findEqual ?? operation.find)(attempt, claim.data),
    lacksOwn: refused => lacksOwn(context, operation, claim, refused),
    mayLackRecord: async () =>
      operation.loanState === 'deleted' &&
      claim.resolution === null &&
      (await attempt.recentlyDone()).done.length > 0,
    write: () => operation.run(attempt, claim.data),
    mayHaveComeTwice: () => attempt.seen !== null && calls.written() !== null,
    decide: answer => decide(claim, key, answer),
    end: (decision, answer) => ({ claim, key, answer, decision, ...left() }),
  }
}

async function lacksOwn(
  { recentlyDone }: AttemptContext,
  { waitsFor }: Operation,
  { subject, data }: Claim,
  refused: Answer | Refusal,
): Promise<boolean> {
  const isRead = !isAnswer(refused) || refused.method === 'GET'
  const { httpStatusCode } = refused.body as { httpStatusCode?: string }
  if (!isRead || httpStatusCode !== String(NOT_FOUND)) return false
  const isOfClient = codeOf(refused.body)?.startsWith('error.msg.client.')
  const subjectAsked = isOfClient ? (waitsFor?.(data) ?? subject) : subject
  return (await recentlyDone(subjectAsked)).done.length > 0
}

/** The argument of the operation's own functions. */
function attemptFor(
  { reference, remember, recentlyDone }: AttemptContext,
  claim: Claim,
  own: { key: string; kept: Kept; calls: WatchedLedger; passedOn: PassedOn },
): Attempt {
  const { key, kept, calls, passedOn } = own
  const attempt: Attempt = {
    ledger: calls.ledger,
    reference,
    id: claim.id,
    origin: claim.origin,
    key,
    takesEqualAsDone: claim.takesEqualAsDone,
    get mayStillRun() {
      const written = calls.written()
      if (written?.outcome === 'refused') return claim.mayStillRun && !isRefusedUnderKey(written)
      return claim.mayStillRun || calls.mayHaveArrived()
    },
    kept,
    async keep<T>(name: string, read: () => Promise<T>) {
      if (!claim.mayStillRun || kept[name] === undefined) kept[name] = await read()
      return kept[name] as T
    },
    recentlyDone: () => recentlyDone(claim.subject),
    seen: claim.seen,
    async remember(seen) {
      attempt.seen = seen
      await remember(claim, seen)
      crashPoint('remember.committed')
    },
    passedOn: passedOn.take(claim),
    passOn: value => passedOn.leave(claim, value),
  }
  return attempt
}
