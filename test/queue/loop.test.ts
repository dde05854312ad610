import { once } from 'node:events'
import t from 'tap'
import { startLoop } from '../../src/queue/job.ts'

const NEVER_MS = 3_600_000
const unexpected = (error: unknown) => t.error(error)

t.test('a loop that is woken during a look skips its rest', async t => {
  let looks = 0
  const { promise: lookedTwice, resolve } = Promise.withResolvers<void>()
  const { promise: looking, resolve: endLook } = Promise.withResolvers<void>()
  const loop = startLoop({ everyMs: NEVER_MS, onError: unexpected }, async () => {
    if (++looks === 2) resolve()
    await looking
    return NEVER_MS
  })
  loop.wake()
  endLook()
  await lookedTwice
  await loop.stop()
  t.equal(looks, 2)
})

t.test('a loop reports a look that fails, rests, and looks again', async t => {
  const errors: unknown[] = []
  let looks = 0
  const { promise: lookedTwice, resolve } = Promise.withResolvers<void>()
  const loop = startLoop({ everyMs: 1, onError: error => errors.push(error) }, async () => {
    if (++looks === 1) throw new Error('connection lost')
    resolve()
    return NEVER_MS
  })
  await lookedTwice
  await loop.stop()
  t.match(errors, [{ message: 'connection lost' }])
})

t.test('stopping a loop signals its look, waits for it, and starts no other', async t => {
  let looks = 0
  const ended: string[] = []
  const loop = startLoop({ everyMs: NEVER_MS, onError: unexpected }, async stopping => {
    looks++
    await once(stopping, 'abort')
    ended.push('look')
    return 0
  })
  await loop.stop()
  t.same(ended, ['look'])
  t.equal(looks, 1)
})
