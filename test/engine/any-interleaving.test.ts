import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { Interleaving, MAX_OPEN, type Step, type Wanted } from '../support/engine/interleaving.ts'

/** No further history is begun after this time. */
const ENOUGH_MS = 8_000
const MAX_HISTORIES = 1_000
const CLIENT = 'client:C'
const LOAN = 'loan:L'

const key = fc.constantFrom(null, null, null, 'key 1', 'key 2')
const wanted: fc.Arbitrary<Wanted> = fc.oneof(
  fc.record({ subject: fc.constantFrom(CLIENT, LOAN), waitsFor: fc.constant(null), key }),
  fc.record({ subject: fc.constant(LOAN), waitsFor: fc.constant(CLIENT), key }),
)
const accept = fc.record({
  do: fc.constant('accept' as const),
  operations: fc.array(wanted, { minLength: 1, maxLength: 3 }),
})
const anyOf = (what: 'end' | 'commit' | 'kill') =>
  fc.record({ do: fc.constant(what), of: fc.nat({ max: MAX_OPEN - 1 }) })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: accept },
    { weight: 6, arbitrary: fc.constant<Step>({ do: 'claim' }) },
    { weight: 6, arbitrary: anyOf('commit') },
    { weight: 3, arbitrary: anyOf('end') },
    { weight: 1, arbitrary: anyOf('kill') },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'expire' }) },
  ),
  { minLength: 10, maxLength: 30 },
)

const wants = (subject: string, waitsFor: string | null = null, key: string | null = null) => ({
  subject,
  waitsFor,
  key,
})
const acceptAll = (...operations: Wanted[]): Step => ({ do: 'accept', operations })
const secondFirst: Step[] = [{ do: 'commit', of: 1 }, { do: 'claim' }]
const examples: [Step[]][] = [
  // The shortest in which a claim would overlook an operation, were nothing locked.
  [[acceptAll(wants(LOAN)), acceptAll(wants(LOAN)), ...secondFirst]],
  [[acceptAll(wants(CLIENT)), acceptAll(wants(LOAN, CLIENT)), ...secondFirst]],
  // The last two would wait for each other once the first commits, were their locks not sorted.
  [
    [
      acceptAll(wants(LOAN)),
      acceptAll(wants(CLIENT), wants(LOAN, null, 'key 1')),
      acceptAll(wants('loan:M', null, 'key 1'), wants(CLIENT)),
      { do: 'commit', of: 0 },
    ],
  ],
]

t.test(
  'an operation is claimed alone, once all earlier ones of its subject and client ended, whoever dies',
  async t => {
    const { db, ownerUrl } = await freshDatabase(t)
    const boss = openQueue(ownerUrl, { isWorker: false, name: 'test', onError() {} })
    await boss.start()
    t.teardown(() => boss.stop({ graceful: false }))
    const end = performance.now() + ENOUGH_MS
    let histories = 0
    const holds = fc.asyncProperty(steps, async history => {
      if (performance.now() > end) return
      histories++
      await sql`delete from loanops.operation`.execute(db)
      const interleaving = new Interleaving(db, boss, [CLIENT, LOAN])
      for (const step of history) await interleaving.take(step)
      await interleaving.close()
      if (interleaving.faults.length > 0) throw new Error(interleaving.faults.join('\n'))
    })
    await t.resolves(fc.assert(holds, { numRuns: MAX_HISTORIES, examples }))
    t.ok(histories > 0, `${histories} histories`)
  },
)
