import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import type { AttemptSlots, Send } from '../claim/attempt-slots.ts'
import { type Claim, ClaimGone, handBack } from '../claim/claim.ts'
import type { ClaimLimit } from '../claim/claim-limit.ts'
import type { ClaimNext } from '../claim/claim-next.ts'
import type { Leases } from '../claim/leases.ts'
import { brokenOff } from '../finish/decide.ts'
import type { Ended } from '../finish/finish.ts'
import type { RecordResult } from '../finish/record-result.ts'
import type { Catalogue, Kept } from '../operation.ts'
import { laneOf } from '../origin.ts'
import { LedgerPaused } from '../pause.ts'
import { isAnswer } from '../refusal.ts'
import { openPassedOn, type PassedOn } from './passed-on.ts'
import { runAttempt } from './run-attempt.ts'
import type { AttemptContext } from './running-attempt.ts'

export type SubjectWork = Omit<AttemptContext, 'mayWrite'> & {
  db: Database
  catalogue: Catalogue
  leases: Leases
  claimLimit: ClaimLimit
  attemptSlots: AttemptSlots
  claimNext: ClaimNext
  recordResult: RecordResult
  isStopping(): boolean
}

export async function workSubject(work: SubjectWork, first: Claim): Promise<void> {
  const passedOn = openPassedOn()
  try {
    for (let claim: Claim | undefined = first; claim; ) {
      const isFinal: boolean = await workClaim(work, claim, passedOn)
      if (!isFinal) return
      claim = await work.claimNext.after(claim.subject)
    }
  } catch (error) {
    work.log.error(
      { err: error, operation: first.id },
      'operation interrupted; the sweep will resume it',
    )
  }
}

async function workClaim(work: SubjectWork, claim: Claim, passedOn: PassedOn): Promise<boolean> {
  const lane = laneOf(claim.origin)
  try {
    const ended = await work.attemptSlots.run(lane, claim, async send => {
      work.claimLimit.slotTaken(lane)
      const mustWait = work.isStopping() || (work.pauses.isPaused() && !claim.mayEndUnwritten)
      return mustWait
        ? undefined
        : attempt(work, claim, passedOn, send).catch(error => brokenAttempt(work, claim, error))
    })
    if (ended !== undefined) return await work.recordResult(ended)
    crashPoint('stop.handing-back')
    await handBack(work.db, claim)
    return false
  } finally {
    work.leases.release(claim)
  }
}

/** The end of an attempt that failed in our code: nobody knows how far it came. */
function brokenAttempt({ log }: SubjectWork, claim: Claim, error: Error): Ended {
  log.error({ err: error, operation: claim.id }, 'attempt failed unexpectedly')
  const decision = brokenOff(claim, error, { mayHaveArrived: true })
  return { claim, key: '', answer: null, mayStillRun: true, decision }
}

async function attempt(work: SubjectWork, claim: Claim, passedOn: PassedOn, send: Send) {
  const operation = work.catalogue.get(claim.operationType)
  if (operation === undefined) {
    // Another version of this program accepted the operation, and that version's workers know it.
    const error = new Error(`this version has no operation ${claim.operationType}`)
    return { claim, key: '', answer: null, decision: brokenOff(claim, error) }
  }
  const requireNoPause = async () => {
    if (claim.isPaused || !(await work.pauses.mayWrite()))
      throw new LedgerPaused('the ledger is paused')
  }
  const mayWrite = async (kept: Kept | null) => {
    await requireNoPause()
    crashPoint('write.unrecorded')
    if (!(await send(kept))) throw new ClaimGone('the claim ended before its start')
    crashPoint('write.unsent')
    // Recording may have taken seconds.
    await requireNoPause()
    return work.leases.covers(claim)
  }
  const ended = await runAttempt({ ...work, mayWrite }, operation, claim, passedOn)
  if (isAnswer(ended.answer)) work.ledger.breaker.note(claim.subject, ended.answer)
  return ended
}
