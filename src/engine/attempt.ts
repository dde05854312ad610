import { crashPoint } from '../crash-point.ts'
import { idOf } from '../ids.ts'
import { type Answer, isOfLedgerShape, LedgerTrouble } from '../ledger/answer.ts'
import type { Ledger } from '../ledger/client.ts'
import { type Held, there } from '../ledger/held.ts'
import type { Reference } from '../ledger/reference.ts'
import type { Claim } from './claim.ts'
import {
  brokenOff,
  deadlineRefusal,
  decide,
  type Ending,
  keepingKey,
  operatorsRefusal,
  stillUnapproved,
  unsettled,
} from './decide.ts'
import type { Ended } from './finish.ts'
import type { HandOver } from './hand-over.ts'
import type { Operation, Run } from './operation.ts'
import { type Refusal, refusal } from './refusal.ts'

export type AttemptContext = {
  ledger: Ledger
  reference: Reference
  deadlineSeconds: number
  /** Whether a write may leave: its start is on record, and the claim covers it, which somebody else may have by now. */
  mayWrite(): Promise<boolean>
  remember(claim: Claim, seen: unknown): Promise<void>
  log: { error(object: object, message: string): void }
}

/** One attempt: looks first where an earlier one may have arrived, writes, and says how the operation is left. */
export async function attempt(
  context: AttemptContext,
  operation: Operation,
  claim: Claim,
  handOver: HandOver,
): Promise<Ended> {
  const key = idOf(`${claim.id}:${claim.keyGeneration}`)
  const calls = watched(context)
  const run: Run = {
    ledger: calls.ledger,
    reference: context.reference,
    id: claim.id,
    key,
    seen: claim.seen,
    async remember(seen) {
      run.seen = seen
      await context.remember(claim, seen)
      crashPoint('remember.committed')
    },
    handedOn: handOver.take(claim),
    handOn: value => handOver.leave(claim, value),
  }
  let isLooking = false
  let hasMovedOn = false
  const look = async (): Promise<Held> => {
    isLooking = true
    const found = await operation.find(run, claim.data)
    isLooking = false
    hasMovedOn = found.state === 'moved_on'
    // The ledger took it, and held it for a second person: whoever approved it may have gone on from there.
    const wasTaken = claim.waitingFor === 'ledger_approval'
    return found.state === 'moved_on' && wasTaken ? there(found.body) : found
  }
  const ended = (answer: Answer | Refusal | null, ending: Ending): Ended => ({
    claim,
    key,
    answer,
    ending,
  })
  try {
    if (claim.lookFirst) {
      const found = await look()
      crashPoint('look.answered')
      if (found.state === 'there') return ended(calls.lastRead(), success(found))
      if (claim.waitingFor === 'ledger_approval' && claim.resolution === null)
        return ended(null, stillUnapproved)
    }
    if (claim.resolution === 'failed') return ended(null, decide(claim, key, operatorsRefusal))
    if (isPastDeadline(context, claim))
      return ended(null, decide(claim, key, deadlineRefusal(context.deadlineSeconds)))
    const answer = await operation.run(run, claim.data)
    return await settled(answer)
  } catch (error) {
    const { written } = calls
    // The ledger may be out of reach for ever; the operator has the last word.
    if (claim.resolution === 'failed') return ended(null, decide(claim, key, operatorsRefusal))
    const left = (ending: Ending) => (isLooking ? unsettled(ending) : ending)
    if (error instanceof LedgerTrouble)
      return ended(written ?? error.answer, left(decide(claim, key, error.answer)))
    context.log.error({ err: error, operation: claim.id }, 'an attempt broke off')
    return ended(written, left(brokenOff(claim, error as Error, calls.mayHaveArrived())))
  }

  async function settled(answer: Answer | Refusal): Promise<Ended> {
    const isRefused = answer.outcome === 'refused'
    // A refusal may only speak of a duplicate: an earlier attempt may have arrived after our look, or, where something was
    // remembered, this same write may have come twice. It is believed after one more look.
    const mayHaveComeTwice = run.seen !== null && calls.written !== null
    if (isRefused && (claim.lookFirst || mayHaveComeTwice)) {
      const found = await look()
      if (found.state === 'there') return ended(answer, success(found))
    }
    if (isRefused && claim.origin === 'migration') {
      const held = await (operation.holds ?? operation.find)(run, claim.data)
      if (held.state === 'there') return ended(answer, success(held))
      if (held.state === 'differs') {
        const difference = refusal('409', 'loanops.differs.at.ledger', held.how)
        return ended(answer, decide(claim, key, difference))
      }
    }
    if (!isRefused && isContainers500(answer)) return ended(...(await explained500(answer)))
    const ending = decide(claim, key, answer)
    return ended(answer, hasMovedOn ? keepingKey(ending, answer) : ending)
  }

  /** Fineract falls over a write without credentials before it looks at them; a read tells that from a true failure. */
  async function explained500(answer: Answer): Promise<[Answer, Ending]> {
    try {
      const found = await look()
      if (found.state === 'there') return [answer, success(found)]
    } catch (error) {
      if (error instanceof LedgerTrouble && error.answer.outcome === 'misconfigured') {
        const misconfigured = { ...answer, outcome: error.answer.outcome }
        return [misconfigured, decide(claim, key, misconfigured)]
      }
    }
    return [answer, decide(claim, key, answer)]
  }
}

/** The ledger, as long as the claim may write, with an eye on what was sent. */
function watched(context: AttemptContext) {
  let lastRead: Answer | null = null
  let isSent = false
  const calls = {
    written: null as Answer | null,
    lastRead: () => lastRead && { ...lastRead, outcome: 'done' as const },
    mayHaveArrived: () => isSent && calls.written?.leftNothing !== true,
    ledger: {
      ...context.ledger,
      async read<Body>(path: string) {
        const answer = await context.ledger.read<Body>(path)
        lastRead = answer
        return answer
      },
      async write(write: Parameters<Ledger['write']>[0]) {
        crashPoint('write.unsent')
        if (!(await context.mayWrite())) throw new Error('the lease was lost before the write')
        isSent = true
        calls.written = await context.ledger.write(write)
        crashPoint('write.answered')
        return calls.written
      },
    },
  }
  return calls
}

const success = (found: Held & { state: 'there' }): Ending => ({
  status: 'success',
  response: found.body,
})

function isContainers500({ status, body }: Answer | Refusal): boolean {
  return status === 500 && !isOfLedgerShape(body)
}

function isPastDeadline(
  { deadlineSeconds, ledger }: AttemptContext,
  { acceptedAt, unknownSince, waitingFor, isTried }: Claim,
): boolean {
  // What the ledger took for a second person's approval may still be approved there: that is no refusal.
  if (unknownSince !== null || waitingFor === 'ledger_approval') return false
  // It stood behind others all the time: that is no failure of its own as long as the ledger can be asked.
  if (!isTried && !ledger.breaker.isOpen()) return false
  return Date.now() - acceptedAt.getTime() > deadlineSeconds * 1_000
}
