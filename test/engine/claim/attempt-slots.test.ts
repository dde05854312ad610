import t from 'tap'
import { type AttemptSlots, openAttemptSlots } from '../../../src/engine/claim/attempt-slots.ts'
import type { Claim } from '../../../src/engine/claim/claim.ts'
import { newId } from '../../../src/ids.ts'
import { openSlots } from '../../../src/ledger/slots/slots.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { until } from '../../support/until.ts'

const SLOTS = 8
/** After this many quick attempts, a ledger counts as fast. */
const QUICK_ATTEMPTS = 200

t.test('no sending is recorded ahead at a ledger that has not answered yet', async t => {
  const { slots } = await opened(t)
  const { release, ended } = hang(slots)
  t.notOk(slots.comeSoon('live', 1))
  release()
  await ended
})

t.test('sendings are recorded ahead at a fast ledger, until it begins to hang', async t => {
  const { slots } = await opened(t)
  for (let n = 0; n < QUICK_ATTEMPTS; n++) await slots.run('live', newClaim(), send => send())
  const { release, ended } = hang(slots)
  t.ok(slots.comeSoon('live', SLOTS))
  await until(async () => !slots.comeSoon('live', 1), 'the attempts have run for long')
  release()
  await ended
})

async function opened(t: Parameters<typeof freshDatabase>[0]) {
  const { db } = await freshDatabase(t)
  return { slots: openAttemptSlots(db, newId(), openSlots(SLOTS)) }
}

/** Attempts in all slots that end when they are released. */
function hang(slots: AttemptSlots) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const attempts = Array.from({ length: SLOTS }, () =>
    slots.run('live', newClaim(), send => send().then(() => promise)),
  )
  return { release: resolve, ended: Promise.all(attempts) }
}

/** Recorded already, so that only its attempt takes time. */
const newClaim = () => ({ id: newId(), isSent: true }) as Claim
