import type { PgBoss } from 'pg-boss'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit/group-commit.ts'
import { retry } from '../../database/retry.ts'
import { isTransient } from '../../database/transient.ts'
import { Unavailable } from '../../database/unavailable.ts'
import type { Watch } from '../../database/watch.ts'
import type { Lane, Slots } from '../../ledger/slots/slots.ts'
import type { Log } from '../../log/log.ts'
import { publicReason } from '../../log/public-error.ts'
import { laneOf } from '../origin.ts'
import { isAnswer } from '../refusal.ts'
import { brokenOff } from './decide.ts'
import { type Ended, finishAttempts, type OnFinal } from './finish.ts'

/** How long this process retries while the database is down; then another worker takes over and reconciles. */
const KEEP_TRYING_MS = 60_000
const RETRY_MS = 500
/**
 * Calls that begin together are answered together. Recording the first result at once would compete for the CPU with the
 * other answers, and with a ledger on the same machine, where it made each call of 25 ms take 1 ms longer.
 */
const GATHER_MS = 2

export type RecordResult = (ended: Ended) => Promise<boolean>
type RecordOptions = { slots: Slots; watch: Watch; onFinal: OnFinal; log: Pick<Log, 'error'> }

export function openRecordResult(
  db: Database,
  boss: PgBoss,
  { slots, watch, onFinal, log }: RecordOptions,
): RecordResult {
  // Recording a refused repayment waits for the lock under which payments are settled: no live result may
  // wait behind it.
  const finish = { live: finishGroup('live'), bulk: finishGroup('bulk') }

  return async ended => {
    try {
      return await untilRecorded(ended)
    } catch (error) {
      if (isOutage(error)) throw error
      log.error({ err: error, operation: ended.claim.id }, 'a result could not be recorded')
      return untilRecorded(asBrokenOff(ended, error as Error))
    }
  }

  async function untilRecorded(ended: Ended): Promise<boolean> {
    const lane = laneOf(ended.claim.origin)
    // The ledger may have been written to: the result must not be lost while the database is down.
    const retries = { withinMs: KEEP_TRYING_MS, everyMs: RETRY_MS, mayPass: isOutage }
    const isRecorded = await retry(() => finish[lane].submit(ended), retries)
    return isRecorded && ended.decision.status !== 'processing'
  }

  function finishGroup(lane: Lane) {
    const watched = watch.over(`${lane} results`)
    return groupCommit<Ended, boolean>(
      ended => watched(() => finishAttempts(db, boss, ended, onFinal)),
      {
        onWaited: watch.waited(`${lane} results`),
        gatherMs: () => (slots.busy(lane) > 0 ? GATHER_MS : 0),
      },
    )
  }
}

const isOutage = (error: unknown) => isTransient(error) || error instanceof Unavailable

/** A result that cannot be recorded as it is: the operation shows why, and is tried again. */
function asBrokenOff(ended: Ended, cause: Error): Ended {
  const { claim, answer, decision } = ended
  const isWrite = isAnswer(answer) && answer.method !== 'GET'
  const mustLook = decision.status === 'processing' && decision.lookFirst
  const mayHaveArrived = (isWrite && !answer.leftNothing) || mustLook
  const error = new Error(`its result could not be recorded: ${publicReason(cause)}`, { cause })
  return { ...ended, decision: brokenOff(claim, error, { mayHaveArrived }) }
}
