import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import type { Watch } from '../database/watch.ts'
import { type Claim, claimHeads } from './claim.ts'
import type { Leases } from './leases.ts'
import { laneOf, ORIGINS } from './origin.ts'
import type { Starts } from './starts.ts'

export type ClaimNext = (subject: string) => Promise<Claim | undefined>

export function openClaimNext(
  db: Database,
  worker: string,
  { leases, starts, watch }: { leases: Leases; starts: Starts; watch: Watch },
): ClaimNext {
  const watched = watch.over('claims')
  const claims = groupCommit(
    (subjects: string[]) => watched(() => claimEach(subjects)),
    undefined,
    watch.waited('claims'),
  )
  return claims.submit

  async function claimEach(subjects: string[]): Promise<(Claim | undefined)[]> {
    const since = performance.now()
    const wanted = [...new Set(subjects)]
    // A start recorded with the claim costs nothing; one that came too early would have to be looked up if this process died.
    const startable = ORIGINS.filter(origin => starts.areNear(laneOf(origin), wanted.length))
    const made = await claimHeads(db, worker, wanted, startable)
    if (made.length > 0) crashPoint('claim.committed')
    leases.add(made, since)
    const bySubject = new Map(made.map(claim => [claim.subject, claim]))
    return subjects.map(subject => {
      const claim = bySubject.get(subject)
      bySubject.delete(subject)
      return claim
    })
  }
}
