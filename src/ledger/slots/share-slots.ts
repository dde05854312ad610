import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { LEASE_SECONDS } from '../../database/lease.ts'
import { newId } from '../../ids.ts'
import { asWarning, type Log } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'
import { bulkOf, type Lane, type Slots } from './slots.ts'

/**
 * A renewal is one short statement per process. A dead process's slots are free when its lease has ended and others
 * look again.
 */
const RENEW_EVERY_MS = 1_000
/** While calls wait for a slot, another process may have given one up. */
const ASK_EVERY_MS = 250
/** No call begins this long before the lease ends, because others may use the slots then. */
const MARGIN_MS = 1_000

type Options = { most: number; total: number; log: Pick<Log, 'warn'> }
type Share = { live: number; bulk: number }

/** Without a valid lease, this process makes no calls. Stop it only once the calls have ended. */
export function shareSlots(db: Database, slots: Slots, { most, total, log }: Options): Job {
  const me = newId()
  let share: Share = { live: 0, bulk: 0 }
  let ending: NodeJS.Timeout | undefined
  take(share)
  const onError = asWarning(log, 'could not renew the share of ledger slots')
  const loop = startLoop({ everyMs: RENEW_EVERY_MS, onError }, renew)

  return {
    async stop() {
      await loop.stop()
      clearTimeout(ending)
      // If this fails, the end of the lease frees the slots.
      await giveBack(db, me).catch(() => undefined)
    },
  }

  /** A share that shrinks is reported at once, because others wait for it. */
  async function renew(): Promise<number> {
    const since = performance.now()
    const held = heldNow()
    take(
      await renewShare(db, me, total, {
        held,
        wanted: wantedOf(slots, share),
        most: mostEach(most),
      }),
    )
    clearTimeout(ending)
    const leftMs = LEASE_SECONDS * 1_000 - MARGIN_MS - (performance.now() - since)
    ending = setTimeout(() => take({ live: 0, bulk: 0 }), leftMs)
    const now = heldNow()
    if (now.live + now.bulk < held.live + held.bulk) return 0
    return slots.waiting('live') + slots.waiting('bulk') > 0 ? ASK_EVERY_MS : RENEW_EVERY_MS
  }

  function take(next: Share): void {
    share = next
    slots.resize({ total: Math.min(most, next.live + next.bulk), bulk: next.bulk })
  }

  /** Calls under way keep their slots, even if the share has shrunk. Live ones may be using the other lane's. */
  function heldNow(): Share {
    const bulk = Math.max(share.bulk, slots.busy('bulk'))
    const both = Math.max(share.live + share.bulk, slots.busy('live') + slots.busy('bulk'))
    return { live: both - bulk, bulk }
  }
}

function wantedOf(slots: Slots, share: Share): Share {
  const wanted = (lane: Lane) => slots.busy(lane) + slots.waiting(lane)
  // Once the live half is used up, live operations compete for the other half too.
  return { live: wanted('live'), bulk: wanted('bulk') + Math.max(0, wanted('live') - share.live) }
}

const mostEach = (most: number): Share => ({ live: most - bulkOf(most), bulk: bulkOf(most) })

async function renewShare(
  db: Database,
  me: string,
  total: number,
  { held, wanted, most }: Record<'held' | 'wanted' | 'most', Share>,
): Promise<Share> {
  const { rows } = await sql<Share>`
    select live, bulk
      from loanops.renew_ledger_share(${me}, ${total}, ${LEASE_SECONDS}, ${held.live}, ${held.bulk}, ${wanted.live},
        ${wanted.bulk}, ${most.live}, ${most.bulk})`.execute(db)
  return rows[0] as Share
}

async function giveBack(db: Database, me: string): Promise<void> {
  await sql`delete from loanops.ledger_share where process = ${me}`.execute(db)
}
