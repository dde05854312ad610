import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { openWatch } from '../../../src/database/watch.ts'
import type { Claim } from '../../../src/engine/claim/claim.ts'
import type { Ended, Final } from '../../../src/engine/finish/finish.ts'
import { openRecordResult } from '../../../src/engine/finish/record-result.ts'
import { newId } from '../../../src/ids.ts'
import { openSlots } from '../../../src/ledger/slots/slots.ts'
import { logger } from '../../../src/log/log.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import { clientData, writesOn } from '../../support/ledger/loans.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const LONGER_THAN_RESULTS_ARE_GATHERED_MS = 5

t.test('results wait for each other while other calls are under way, and only then', async t => {
  const { db, url } = await freshDatabase(t)
  const boss = openQueue(url, { isWorker: false, name: 'test', onError() {} })
  const slots = openSlots(2)
  const commits: Final[][] = []
  const onFinal = {
    origins: [],
    record: async () => () => undefined,
    note: (final: Final[]) => void commits.push(final),
  }
  const recordResult = openRecordResult(db, boss, {
    slots,
    watch: openWatch(),
    onFinal,
    log: logger('silent'),
  })
  const { promise: call, resolve: answer } = Promise.withResolvers<void>()
  const underWay = slots.run('live', () => call)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())

  const first = recordResult(newResult())
  await setImmediate()
  const second = recordResult(newResult())
  mock.timers.tick(LONGER_THAN_RESULTS_ARE_GATHERED_MS)
  await Promise.all([first, second])
  t.equal(commits.length, 1)

  answer()
  await underWay
  await recordResult(newResult())
  t.equal(commits.length, 2, 'without time passing')
})

t.test(
  'a result that cannot be recorded says why, without its values, and when it is tried again',
  async t => {
    const service = await startTestService(t)
    await sql`
    create function loanops.refuse_end() returns trigger language plpgsql as $$
    begin raise invalid_text_representation using message = 'no number: "Asha"'; end $$;
    create trigger refuse_end before update on loanops.operation for each row
      when (new.status <> 'processing') execute function loanops.refuse_end();`.execute(service.db)
    const id = await submit(service.call, 'CLIENT_CREATE', clientData('C-1'))
    const shown = await until(async () => {
      const operation = await listed(service.call, 'C-1', id)
      return operation.last_error !== null && operation
    })
    t.match(shown, {
      waiting_for: 'outcome_unknown',
      last_error: 'its result could not be recorded: no number: "…"',
      next_try_at: String,
    })

    await sql`drop trigger refuse_end on loanops.operation`.execute(service.db)
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
    t.same(await writesOn(service, 'C-1'), ['CREATE/CLIENT'])
  },
)

/** The result of a claim that has already ended, so that recording it changes nothing. */
const newResult = (): Ended => ({
  claim: { id: newId(), number: 1, origin: 'api' } as Claim,
  key: '',
  answer: null,
  decision: { status: 'success', response: {} },
})
