import t from 'tap'
import { isGivenUp, isOnlyCallRecorded, leavesCall } from '../../../src/engine/finish/new-key.ts'
import type { Answer } from '../../../src/ledger/answers/answer.ts'

type Asked = Parameters<typeof isOnlyCallRecorded>[0]

const NOW = new Date('2026-03-05T10:00:00Z')

/** A call under the key, which may still run, was sent so long ago. */
const sentBefore = (seconds: number, last: number | null = null): Asked => ({
  mayStillRun: true,
  claimedAt: NOW,
  resolution: null,
  tooEarly: null,
  sent: { key: 'key', since: new Date(NOW.getTime() - seconds * 1_000).toISOString(), last },
})
const conflict = { status: 409, outcome: 'unknown', isRecorded: true, isFromStore: false } as Answer
const stored = { ...conflict, isFromStore: true }
const isOver = (claim: Asked, answer: Answer) => isOnlyCallRecorded(claim, 'key', answer)

t.test('a conflict ends the only call under its key', async t => {
  t.ok(isOver({ ...sentBefore(0), mayStillRun: false }, conflict))
})

t.test('a stored conflict ends no call that the ledger may run once more', async t => {
  t.notOk(isOver(sentBefore(9), stored))
  t.ok(isOver(sentBefore(11), stored))
  t.notOk(isOnlyCallRecorded(sentBefore(11), 'another key', stored))
  t.notOk(isOver({ ...sentBefore(11), sent: null }, stored))
})

t.test('a conflict that its key repeats long after it was sent is a stored one', async t => {
  t.notOk(isOver(sentBefore(31), conflict))
  t.notOk(isOver(sentBefore(29, 409), conflict))
  t.ok(isOver(sentBefore(31, 409), conflict))
  t.notOk(isOver(sentBefore(31, 409), { ...conflict, outcome: 'not_now' }), 'a locked loan')
})

t.test('an operator’s retry gives a key up that repeats its failure, but not the call', async t => {
  for (const status of [409, 425, 500]) {
    const answer = { ...conflict, status }
    t.notOk(isGivenUp(sentBefore(1), answer))
    const retried = { ...sentBefore(1), resolution: 'retry' as const }
    t.ok(isGivenUp(retried, answer))
    t.ok(leavesCall(retried, 'key', answer))
  }
  t.notOk(isGivenUp({ ...sentBefore(1), resolution: 'retry' }, { ...conflict, status: null }))
})
