import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit/group-commit.ts'
import type { Watch } from '../../database/watch.ts'
import { type Catalogue, isClientSubject } from '../operation.ts'
import { laneOf, ORIGINS } from '../origin.ts'
import type { AttemptSlots } from './attempt-slots.ts'
import { type Claim, claimHeads } from './claim.ts'
import type { Leases } from './leases.ts'
import type { WakeLoans } from './wake-loans.ts'

export type ClaimNext = ReturnType<typeof openClaimNext>

type ClaimRequest = { subject: string; hasEnded: boolean }

type ClaimNextContext = {
  leases: Leases
  attemptSlots: AttemptSlots
  watch: Watch
  wakeLoans: WakeLoans
  catalogue: Catalogue
  isStopping(): boolean
}

export function openClaimNext(
  db: Database,
  worker: string,
  { leases, attemptSlots, watch, wakeLoans, catalogue, isStopping }: ClaimNextContext,
) {
  const writingAtOnce = [...catalogue.values()].filter(one => one.writesAtOnce).map(one => one.name)
  const watched = watch.over('claims')
  const claims = groupCommit((requests: ClaimRequest[]) => watched(() => claimEach(requests)), {
    onWaited: watch.waited('claims'),
  })
  return {
    of: (subject: string) => claims.submit({ subject, hasEnded: false }),
    /**
     * Claims the next head of a subject whose operation has just ended, unless the worker is stopping, and wakes the
     * loans that waited for a client's operation.
     */
    after: (subject: string) => claims.submit({ subject, hasEnded: true }),
  }

  async function claimEach(requests: ClaimRequest[]): Promise<(Claim | undefined)[]> {
    const since = performance.now()
    const subjects = isStopping() ? [] : [...new Set(requests.map(({ subject }) => subject))]
    // Recording the start with the claim is free. Recorded too early, it costs the next worker a look if this process dies.
    const startable = ORIGINS.filter(origin =>
      attemptSlots.comeSoon(laneOf(origin), subjects.length),
    )
    const endedClients = requests
      .filter(({ subject, hasEnded }) => hasEnded && isClientSubject(subject))
      .map(({ subject }) => subject)
    const made = await claimHeads(db, worker, subjects, { startable, writingAtOnce, endedClients })
    if (made.claims.length > 0) crashPoint('claim.committed')
    leases.add(made.claims, since)
    if (made.readyLoans.length > 0) void wakeLoans(made.readyLoans)
    const bySubject = new Map(made.claims.map(claim => [claim.subject, claim]))
    return requests.map(({ subject }) => {
      const claim = bySubject.get(subject)
      bySubject.delete(subject)
      return claim
    })
  }
}
