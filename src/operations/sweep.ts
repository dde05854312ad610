import type { Database } from '../database.ts'
import type { Ledger } from '../ledger/client.ts'
import { openNap } from '../nap.ts'
import { endableSubjects, longestOverdueSubjects, overdueSubjects } from './claim.ts'
import type { Origin } from './queue.ts'

/** A dead worker's lease ends within 10 s; with this its work goes on within 11. */
const SWEEP_EVERY_MS = 1_000
/** With a hundred thousand subjects waiting a sweep takes long; the pause behind it is then longer still, so that sweeps take at most this part of the time. */
const PART_OF_TIME = 0.1
/** After an outage everything is overdue: so much at a time, the other workers sweep too. */
const MAX_PER_SWEEP = 200
/** How many operations try whether a ledger that fails does better again: among them is one that it does not stumble over. */
const PER_TRIAL = 5
/** Looking whether there is room again. */
const ROOM_EVERY_MS = 20

/** Finds what is due though nobody was woken for it: its worker died, the wake-up was lost, or the ledger is back. */
export function startSweep(
  db: Database,
  options: {
    ledger: Ledger
    deadlineSeconds: number
    log: { error(object: object, message: string): void }
  },
  runner: { take(subjects: string[]): Promise<void>; origins(): Origin[] },
): { stop(): Promise<void> } {
  const { ledger, deadlineSeconds, log } = options
  const nap = openNap()
  let isStopping = false
  const sweeping = run()

  return {
    stop() {
      isStopping = true
      nap.wake()
      return sweeping
    },
  }

  async function run(): Promise<void> {
    const report = (error: unknown) => {
      log.error({ err: error }, 'the sweep failed')
      return false
    }
    while (!isStopping) {
      // Not timed: at a ledger that hangs a probe takes as long as a call may.
      if (ledger.breaker.isOpen()) await ledger.probe().catch(report)
      const startedAt = Date.now()
      const isMore = await sweep().catch(report)
      const rest = Math.max(SWEEP_EVERY_MS, (Date.now() - startedAt) / PART_OF_TIME)
      await nap.rest(isMore ? ROOM_EVERY_MS : rest)
    }
  }

  /** @returns whether more was found than was taken */
  async function sweep(): Promise<boolean> {
    const origins = runner.origins()
    if (origins.length === 0) return true
    const subjects = ledger.breaker.isOpen()
      ? await endableSubjects(db, origins, deadlineSeconds, MAX_PER_SWEEP)
      : await overdueSubjects(db, origins, MAX_PER_SWEEP)
    const tried = ledger.breaker.isTrialDue()
      ? await longestOverdueSubjects(db, origins, PER_TRIAL)
      : []
    if (!isStopping) await runner.take([...new Set([...subjects, ...tried])])
    return subjects.length === MAX_PER_SWEEP
  }
}
