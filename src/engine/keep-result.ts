import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { Database } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import type { Watch } from '../database/watch.ts'
import type { Lane, Slots } from '../ledger/slots.ts'
import { type Ended, finishAttempts, type OnFinal } from './finish.ts'
import { laneOf } from './origin.ts'

/** While the database is down; then another worker takes over and reconciles. */
const KEEP_TRYING_MS = 60_000
const RETRY_MS = 500
/**
 * Calls that begin together are answered together. Recording the first result at once would compete for the CPU with the
 * other answers, and with a ledger on the same machine, where it made each call of 25 ms take 1 ms longer.
 */
const GATHER_MS = 2

export type KeepResult = (ended: Ended) => Promise<boolean>

export function openKeepResult(
  db: Database,
  boss: PgBoss,
  { slots, watch, onFinal }: { slots: Slots; watch: Watch; onFinal: OnFinal },
): KeepResult {
  // Recording a refused repayment waits for the lock under which payments are settled: no live result may
  // wait behind it.
  const finish = { live: finishGroup('live'), bulk: finishGroup('bulk') }

  return async ended => {
    const lane = laneOf(ended.claim.origin)
    const until = performance.now() + KEEP_TRYING_MS
    // The ledger may have been written to: that must not be lost while the database is down.
    for (;;) {
      try {
        return (await finish[lane].submit(ended)) && ended.decision.status !== 'processing'
      } catch (error) {
        if (performance.now() > until) throw error
        await sleep(RETRY_MS)
      }
    }
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
