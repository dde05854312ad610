import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import type { Watch } from '../database/watch.ts'
import type { Slots } from '../ledger/slots.ts'
import { type Claim, claimHeads } from './claim.ts'
import type { Leases } from './leases.ts'
import { laneOf, ORIGINS } from './origin.ts'

export type ClaimNext = (subject: string) => Promise<Claim | undefined>

export function openClaimNext(
  db: Database,
  worker: string,
  { leases, slots, watch }: { leases: Leases; slots: Slots; watch: Watch },
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
    // Lanes with a slot for every subject; a claim that may have to wait for a slot starts later.
    const startable = ORIGINS.filter(origin => slots.free(laneOf(origin)) >= wanted.length)
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
