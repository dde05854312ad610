import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openWatch } from '../../src/database/watch.ts'
import type { Claim } from '../../src/engine/claim.ts'
import type { Ended, Final } from '../../src/engine/finish.ts'
import { openKeepResult } from '../../src/engine/keep-result.ts'
import { newId } from '../../src/ids.ts'
import { openSlots } from '../../src/ledger/slots.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/fresh-database.ts'

const LONGER_THAN_RESULTS_ARE_GATHERED_MS = 5

t.test(
  'results wait for each other while other calls are under way, but not otherwise',
  async t => {
    const { db, url } = await freshDatabase(t)
    const boss = openQueue(url, { isWorker: false, name: 'test', onError() {} })
    const slots = openSlots(2)
    const commits: Final[][] = []
    const onFinal = {
      origins: [],
      record: async () => undefined,
      note: (final: Final[]) => void commits.push(final),
    }
    const keepResult = openKeepResult(db, boss, { slots, watch: openWatch(), onFinal })
    const { promise: call, resolve: answer } = Promise.withResolvers<void>()
    const underWay = slots.run('live', () => call)
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())

    const first = keepResult(newResult())
    await setImmediate()
    const second = keepResult(newResult())
    mock.timers.tick(LONGER_THAN_RESULTS_ARE_GATHERED_MS)
    await Promise.all([first, second])
    t.equal(commits.length, 1)

    answer()
    await underWay
    await keepResult(newResult())
    t.equal(commits.length, 2, 'without time passing')
  },
)

/** Of a claim that has already ended, so that recording it changes nothing. */
const newResult = (): Ended => ({
  claim: { id: newId(), number: 1, origin: 'api' } as Claim,
  key: '',
  answer: null,
  decision: { status: 'success', response: {} },
})
