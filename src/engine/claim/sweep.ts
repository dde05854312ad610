import type { Database } from '../../database/database.ts'
import type { Watch } from '../../database/watch.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import type { Slots } from '../../ledger/slots/slots.ts'
import { asError, type Log } from '../../log/log.ts'
import { type Job, restAfter, startLoop } from '../../queue/job.ts'
import type { Origin } from '../origin.ts'
import {
  endableSubjects,
  MAX_REST_MS,
  overdueSubjects,
  type SubjectPage,
  untriedSubjects,
} from './subject-pages.ts'

/** A lost wake-up is replaced within this time. */
const SWEEP_EVERY_MS = 1_000
/** After an outage everything is overdue: take this much at a time, as the other workers sweep too. */
const MAX_PER_SWEEP = 200
/** A sweep that found more than it may take continues as soon as a slot may be free. */
const CONTINUE_AFTER_MS = 20

export function startSweep(
  db: Database,
  options: {
    ledger: Ledger
    slots: Slots
    deadlineSeconds: number
    watch: Watch
    log: Pick<Log, 'error'>
  },
  runner: { take(subjects: string[]): Promise<void>; origins(): Origin[] },
): Job {
  const { ledger, slots, deadlineSeconds, log } = options
  const watched = options.watch.over('sweep')
  const nextToTest = openRecoveryTest(db)
  const onError = asError(log, 'the sweep failed')
  return startLoop({ everyMs: SWEEP_EVERY_MS, onError }, probeAndSweep)

  async function probeAndSweep(stopping: AbortSignal): Promise<number> {
    // The probe is not timed, because one of a ledger that hangs takes as long as a call may. Without a free slot, the
    // answers to the calls under way tell as much.
    if (ledger.breaker.isOpen() && slots.free('live') > 0)
      await slots.run('live', () => ledger.probe()).catch(onError)
    const startedAt = performance.now()
    if (await sweep(stopping)) return CONTINUE_AFTER_MS
    // With a hundred thousand subjects waiting, a sweep takes long, and the pause after it is longer still.
    return restAfter(startedAt, SWEEP_EVERY_MS, MAX_REST_MS)
  }

  /** @returns whether there may be more to take at once */
  async function sweep(stopping: AbortSignal): Promise<boolean> {
    const origins = runner.origins()
    if (origins.length === 0) return true
    let mayTake = MAX_PER_SWEEP
    for (let after: string | null = ''; after !== null && mayTake > 0; ) {
      const from: string = after
      const { subjects, next } = await watched(() => pageAfter(from, origins, mayTake))
      if (stopping.aborted) return false
      await runner.take(subjects)
      mayTake -= subjects.length
      after = next
    }
    if (ledger.breaker.isRecoveryTestDue()) await runner.take(await nextToTest(origins))
    return mayTake === 0
  }

  function pageAfter(after: string, origins: Origin[], limit: number): Promise<SubjectPage> {
    const find = ledger.breaker.isOpen() ? endableSubjects(deadlineSeconds) : overdueSubjects
    return find(db, origins, limit, after)
  }
}

/** Enough operations that one is likely to succeed once the ledger has recovered. */
const PER_TEST = 5

/**
 * @returns the subjects to try next: those that were never tried first, and one of the others in its turn, so that those
 * that fail every time do not block the others
 */
function openRecoveryTest(db: Database): (origins: Origin[]) => Promise<string[]> {
  const untried = inTurn(untriedSubjects)
  const others = inTurn(overdueSubjects)
  return async origins => {
    const first = await untried(db, origins, PER_TEST - 1)
    return [...first, ...(await others(db, origins, PER_TEST - first.length))]
  }
}

function inTurn(find: typeof overdueSubjects) {
  let takenUpTo = ''
  return async (db: Database, origins: Origin[], count: number) => {
    const { subjects, next } = await find(db, origins, count, takenUpTo)
    takenUpTo = subjects.length === count ? (subjects.at(-1) as string) : (next ?? '')
    return subjects
  }
}
