import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { shareSlots } from '../../../src/ledger/slots/share-slots.ts'
import { type Lane, openSlots, type Slots } from '../../../src/ledger/slots/slots.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { submit } from '../../support/engine/operations.ts'
import { clientData, control, newName } from '../../support/ledger/loans.ts'
import { startProxy } from '../../support/ledger/proxy.ts'
import { startProcessFor } from '../../support/process.ts'
import { startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const MAX_SLOTS = 4
const OPERATIONS = 300
const FREE_WITHIN_MS = 15_000

// The last two wait for a lease to run out: together they take no longer than one.
t.jobs = 2

t.test('hanging batches of all processes leave live operations half of the calls', async t => {
  const { slots, running, hang, most } = await processes(t, 3, 5)
  for (const one of slots) for (let n = 0; n < MAX_SLOTS; n++) hang(one, 'bulk')
  await until(async () => running.bulk === 2, 'batches have their half')
  for (const one of slots) for (let n = 0; n < MAX_SLOTS; n++) hang(one, 'live')
  await until(async () => running.live === 3, 'live operations have theirs')
  t.same(running, { live: 3, bulk: 2 })
  t.equal(most(), 5)
})

t.test('slots go where the work is, and come back', async t => {
  const { slots, running, hang, end, most } = await processes(t, 3, 4)
  const [first, second] = slots as [Slots, Slots, Slots]
  for (let n = 0; n < MAX_SLOTS; n++) hang(first, 'live')
  await until(async () => running.live === 4, 'one process has all slots')
  hang(second, 'live')
  t.equal(running.live, 4)
  end(2)
  await until(async () => second.busy('live') === 1, 'another one gets one of them')
  t.equal(most(), 4)
})

t.test('where there are more processes than slots, each gets its turn', async t => {
  const { slots, hang, end, most } = await processes(t, 4, 2)
  const served = new Set<Slots>()
  for (const one of slots) hang(one, 'live')
  await until(async () => {
    for (const one of slots) if (one.busy('live') > 0) served.add(one)
    end(2)
    return served.size === 4
  }, 'each was served')
  t.ok(most() <= 2)
})

t.test('a process without a database stops calling before its lease ends', async t => {
  const { db, slots, running, hang, end } = await processes(t, 1, 4)
  const [only] = slots as [Slots]
  hang(only, 'live')
  await until(async () => running.live === 1)
  const stopped = Promise.withResolvers<Date>()
  const { resize } = only
  only.resize = share => {
    resize(share)
    if (share.total === 0) stopped.resolve(new Date())
  }
  await sql`alter table loanops.ledger_share rename to elsewhere`.execute(db)
  const at = await stopped.promise
  t.equal(only.free('live'), 0)
  const { rows } = await sql<{ isOver: boolean }>`
    select leased_until < ${at} as "isOver" from loanops.elsewhere`.execute(db)
  t.same(rows, [{ isOver: false }])
  await sql`alter table loanops.elsewhere rename to ledger_share`.execute(db)
  await until(async () => only.free('live') > 0, 'it goes on')
  end(1)
})

t.test(
  'the calls of three processes stay within the total, and a killed one’s slots are used again',
  async t => {
    const proxy = await startProxy(t)
    const service = await startTestService(t, { ROLE: 'api' })
    proxy.target = service.ledger.url
    await control(service, 'PUT', '/faults', [{ kind: 'latency', ms: 400 }])
    const changes = { LEDGER_CONCURRENCY: '4', LEDGER_CONCURRENCY_TOTAL: '4' }
    const start = () =>
      startProcessFor(t, 'worker', testEnv(service.databaseUrl, proxy.url, changes))
    const [doomed] = [start(), start(), start()] as const
    for (let n = 0; n < OPERATIONS; n++)
      await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
    await until(async () => {
      const { rows } = await sql`
      select from loanops.ledger_share where live + bulk > 0`.execute(service.db)
      return rows.length === 3 && proxy.underWay === 4
    }, 'all three are calling')
    await doomed.kill('SIGKILL')
    const from = Date.now()
    await until(async () => {
      const { rows } = await sql<{ slots: number }>`
      select sum(live + bulk)::integer as slots from loanops.ledger_share where leased_until > now()
      having count(*) = 2`.execute(service.db)
      return rows[0]?.slots === 4 && proxy.underWay === 4
    }, 'the other two use all slots')
    t.ok(Date.now() - from < FREE_WITHIN_MS, `${Date.now() - from} ms`)
    t.equal(proxy.mostUnderWay, 4)
  },
)

/** So many processes' slots, which share `total`. Tasks hang until `end`. */
async function processes(t: Test, count: number, total: number) {
  const { db } = await freshDatabase(t)
  const running = { live: 0, bulk: 0 }
  const ends: (() => void)[] = []
  let highest = 0
  const slots = Array.from({ length: count }, () => openSlots(MAX_SLOTS))
  const log = { warn: () => undefined }
  const shares = slots.map(one => shareSlots(db, one, { most: MAX_SLOTS, total, log }))
  t.teardown(async () => {
    await Promise.all(shares.map(share => share.stop()))
  })
  return {
    db,
    slots,
    running,
    most: () => highest,
    hang(one: Slots, lane: Lane) {
      void one.run(lane, async () => {
        running[lane]++
        highest = Math.max(highest, running.live + running.bulk)
        await new Promise<void>(resolve => ends.push(resolve))
        running[lane]--
      })
    },
    end(tasks: number) {
      for (const end of ends.splice(0, tasks)) end()
    },
  }
}
