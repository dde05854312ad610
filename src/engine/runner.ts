import type { PgBoss } from 'pg-boss'
import type { Database } from '../database/database.ts'
import type { Watch } from '../database/watch.ts'
import { newId } from '../ids.ts'
import type { Lane, Slots } from '../ledger/slots/slots.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { AttemptContext } from './attempt/running-attempt.ts'
import { type SubjectWork, workSubject } from './attempt/work-subject.ts'
import { openAttemptSlots } from './claim/attempt-slots.ts'
import { isRetried, markUnavailable, rememberSeen } from './claim/claim.ts'
import { openClaimLimit } from './claim/claim-limit.ts'
import { openClaimNext } from './claim/claim-next.ts'
import { keepLeases } from './claim/leases.ts'
import { startSweep } from './claim/sweep.ts'
import { openWakeLoans } from './claim/wake-loans.ts'
import { startExpiry } from './finish/expire.ts'
import type { OnFinal } from './finish/finish.ts'
import { openRecordResult } from './finish/record-result.ts'
import type { Catalogue } from './operation.ts'
import { recentlyDone } from './recently-done.ts'

type RunnerOptions = Omit<AttemptContext, 'remember' | 'recentlyDone' | 'mayWrite'> & {
  catalogue: Catalogue
  slots: Slots
  watch: Watch
  metrics: Pick<Metrics, 'of'>
  onFinal: OnFinal
}

export type Runner = ReturnType<typeof startRunner>

export function startRunner(db: Database, boss: PgBoss, options: RunnerOptions) {
  const { ledger } = options
  const { tracked, settled } = openUnderWay()
  let isStopping = false
  const subjectWork = openWork(db, boss, options, { tracked, isStopping: () => isStopping })
  const { leases, claimLimit } = subjectWork
  const expiry = startExpiry(db, boss, options)
  const sweep = startSweep(db, options, { take, origins: claimLimit.openOrigins })

  return {
    /**
     * Resolves once the work has started and the lane may claim more: a call that hangs must not keep others from
     * starting.
     */
    async work(subjects: string[], lane: Lane): Promise<void> {
      if (isStopping) return
      if (ledger.breaker.isOpen()) {
        // An operator's retry is a reason to find out whether the login is right by now.
        if (ledger.login.refusal() !== null && (await isRetried(db, subjects)))
          ledger.login.testAgain()
        const reason = ledger.login.refusal() === null ? 'ledger_unavailable' : 'ledger_credentials'
        return markUnavailable(db, subjects, ledger.breaker.whyOpen(), reason)
      }
      await take(subjects)
      await claimLimit.untilBelow(lane)
    },
    async stop() {
      isStopping = true
      await Promise.all([sweep.stop(), expiry.stop()])
      await settled()
      leases.stop()
    },
  }

  function take(subjects: string[]): Promise<void> {
    const taking = subjects.map(async subject => {
      const claim = await subjectWork.claimNext.of(subject)
      if (claim !== undefined) void tracked(workSubject(subjectWork, claim))
    })
    return tracked(Promise.all(taking).then(() => undefined))
  }
}

type Life = Pick<ReturnType<typeof openUnderWay>, 'tracked'> & { isStopping(): boolean }

function openWork(
  db: Database,
  boss: PgBoss,
  options: RunnerOptions,
  { tracked, isStopping }: Life,
): SubjectWork {
  const worker = newId()
  const leases = keepLeases(db, worker, options.log)
  const attemptSlots = openAttemptSlots(db, worker, options.slots, options.catalogue)
  const wake = openWakeLoans(db, boss, options)
  const wakeLoans = (loans: string[]) => tracked(wake(loans))
  const parts = { ...options, leases, attemptSlots, wakeLoans, isStopping }
  return {
    ...options,
    db,
    leases,
    claimLimit: openClaimLimit(options.slots),
    attemptSlots,
    claimNext: openClaimNext(db, worker, parts),
    recordResult: openRecordResult(db, boss, options),
    recentlyDone: subject => recentlyDone(db, options.catalogue, subject),
    remember: (claim, seen) => rememberSeen(db, claim, seen),
    isStopping,
  }
}

function openUnderWay() {
  const underWay = new Set<Promise<void>>()
  return {
    tracked(work: Promise<void>): Promise<void> {
      const finished = work.catch(() => undefined).finally(() => underWay.delete(finished))
      underWay.add(finished)
      return work
    },
    async settled(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
