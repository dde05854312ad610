import t from 'tap'
import type { Claim } from '../../src/engine/claim/claim.ts'
import { openStarts, type Starts } from '../../src/engine/claim/starts.ts'
import { newId } from '../../src/ids.ts'
import { openSlots } from '../../src/ledger/slots.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'

const SLOTS = 8
/** After this many quick attempts, a ledger counts as fast. */
const QUICK_ATTEMPTS = 200

t.test('no start is recorded ahead at a ledger that has not answered yet', async t => {
  const { starts } = await opened(t)
  const { release, ended } = hang(starts)
  t.notOk(starts.areNear('live', 1))
  release()
  await ended
})

t.test('starts are recorded ahead at a fast ledger, until it begins to hang', async t => {
  const { starts } = await opened(t)
  for (let n = 0; n < QUICK_ATTEMPTS; n++) await starts.run('live', newClaim(), start => start())
  const { release, ended } = hang(starts)
  t.ok(starts.areNear('live', SLOTS))
  await until(async () => !starts.areNear('live', 1), 'the attempts have run for long')
  release()
  await ended
})

async function opened(t: Parameters<typeof freshDatabase>[0]) {
  const { db } = await freshDatabase(t)
  return { starts: openStarts(db, newId(), openSlots(SLOTS)) }
}

/** Attempts in all slots that end when they are released. */
function hang(starts: Starts) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const attempts = Array.from({ length: SLOTS }, () =>
    starts.run('live', newClaim(), start => start().then(() => promise)),
  )
  return { release: resolve, ended: Promise.all(attempts) }
}

/** Recorded already, so that only its attempt takes time. */
const newClaim = () => ({ id: newId(), isSent: true }) as Claim
