import { mock } from 'node:test'
import t from 'tap'
import { sharedLoad } from '../../src/console/lists/shared-load.ts'

const FRESH_MS = 2_000
const MAX_AGE_MS = 10_000

t.test('a value that loads slowly is loaded less often, but never becomes too old', async t => {
  let now = 0
  const clock = mock.method(performance, 'now', () => now)
  t.teardown(() => clock.mock.restore())
  for (const { tookMs, sharedMs } of [
    { tookMs: 1, sharedMs: FRESH_MS },
    { tookMs: 25, sharedMs: 5_000 },
    { tookMs: 500, sharedMs: MAX_AGE_MS },
  ]) {
    const loads = sharedLoad<number>(FRESH_MS, MAX_AGE_MS)
    const loadAt = (at: number) => {
      now = at
      return loads.get('', async () => {
        now += tookMs
        return at
      })
    }
    await loadAt(0)
    t.equal(await loadAt(sharedMs), 0, `${tookMs} ms: shared for ${sharedMs} ms`)
    t.equal(await loadAt(sharedMs + 1), sharedMs + 1, `${tookMs} ms: then loaded again`)
  }
})
