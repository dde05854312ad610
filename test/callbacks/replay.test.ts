import { sql } from 'kysely'
import t from 'tap'
import { programAsker } from '../../src/accounts/audit.ts'
import { replayCallbacks } from '../../src/callbacks/replay-callbacks.ts'
import type { Database } from '../../src/database/database.ts'
import { withApprovals } from '../support/accounts/approvals.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startTestService } from '../support/service.ts'

const FAILED = 5_000
const DAY = { from: '2026-03-05T00:00:00Z', to: '2026-03-06T00:00:00Z' }
const asker = programAsker('asha')

async function withFailed(db: Database, failed = FAILED): Promise<void> {
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, sequence, body, state, created_at)
    select 'payment.posted', 'loan:L-' || n % 1000, raw.new_id(), now(), n, '{}',
           case when n <= ${failed}::integer then 'failed' else 'delivered' end,
           -- Many were made at the same moment.
           '2026-03-05T10:00:00Z'::timestamptz + n / 2500 * interval '1 microsecond'
      from generate_series(1, ${failed + 100}::integer) n`.execute(db)
}

async function counted(db: Database) {
  const { rows } = await sql<{ state: string; all: number; next: number }>`
    select state, count(*)::integer as all, count(*) filter (where is_next)::integer as next
      from loanops.callback group by state order by state`.execute(db)
  return rows
}

t.test('many callbacks are replayed in slices, and each slice is audited', async t => {
  const { db } = await freshDatabase(t)
  await withFailed(db)
  const all = { callbacks: FAILED, next_from: null }
  t.same(await replayCallbacks(db, { ...DAY, dry_run: true }, asker), all)
  t.same(await replayCallbacks(db, DAY, asker), all)
  t.match(await counted(db), [
    { state: 'delivered', all: 100, next: 0 },
    { state: 'pending', all: FAILED, next: 1000 },
  ])
  const { rows } = await sql`
    select detail ->> 'callbacks' as callbacks from ops.audit where action = 'callback.replay'
     order by at`.execute(db)
  t.same(rows, [{ callbacks: '2000' }, { callbacks: '2000' }, { callbacks: '1000' }])
  t.match(await replayCallbacks(db, DAY, asker), { callbacks: 0 })
})

t.test('a replay in a transaction is done as a whole, or not at all', async t => {
  const { db } = await freshDatabase(t)
  await withFailed(db)
  const undone = db.transaction().execute(async trx => {
    t.match(await replayCallbacks(trx, DAY, asker), { callbacks: FAILED })
    throw new Error('another reason')
  })
  await t.rejects(undone, { message: 'another reason' })
  t.match(await counted(db), [{ state: 'delivered' }, { state: 'failed', all: FAILED }])
})

t.test('a replay of very many callbacks that needs an approval is not proposed', async t => {
  const { db, admin } = await withApprovals(t, 'callback.replay')
  await withFailed(db, 10_001)
  const post = (from: string) => admin.post('callbacks/replay', { ...DAY, from })
  t.match(await post(DAY.from), {
    status: 409,
    body: { detail: /^10001 callbacks are too many for one proposal/ },
  })
  t.match(await post('2026-03-05T10:00:00.000001Z'), { status: 202, body: { state: 'proposed' } })
})

t.test('a replay that takes too long says where to go on, also with delivered ones', async t => {
  const { db } = await freshDatabase(t)
  await withFailed(db)
  await sql`
    update loanops.callback
       set state = 'delivered', created_at = '2026-03-05T10:00:00Z'::timestamptz + sequence * interval '1 ms'`.execute(
    db,
  )
  const { now } = performance
  t.teardown(() => Object.assign(performance, { now }))
  const replayed = async (from: string) => {
    let passed = 0
    // The time is over after one slice.
    performance.now = () => (passed += 20_000)
    const replay = { ...DAY, from, state: 'delivered' as const }
    const answer = await replayCallbacks(db, replay, asker)
    performance.now = now
    await sql`update loanops.callback set state = 'delivered', is_next = false`.execute(db)
    return answer
  }
  const answers = [await replayed(DAY.from)]
  for (let next = answers[0]?.next_from; next; next = answers.at(-1)?.next_from)
    answers.push(await replayed(next))
  t.same(answers, [
    { callbacks: 2000, next_from: '2026-03-05T10:00:02.000Z' },
    { callbacks: 2000, next_from: '2026-03-05T10:00:03.999Z' },
    { callbacks: 1102, next_from: null },
  ])
})

t.test('a period of callbacks that ends before it begins is refused, not empty', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const swapped = { from: '2026-03-06T05:30:00+05:30', to: '2026-03-05T23:59:59Z' }
  const errors = [{ path: '/from', message: 'must not be after to' }]
  for (const more of [{}, { dry_run: true }])
    t.match(await call('POST', '/api/callbacks/replay', { ...swapped, ...more }), {
      status: 400,
      body: { code: 'INVALID_PAYLOAD', errors },
    })
  t.match(await call('GET', `/api/callbacks?${new URLSearchParams(swapped)}`), {
    status: 400,
    body: { code: 'INVALID_QUERY', errors },
  })
  const moment = { from: '2026-03-06T05:30:00+05:30', to: '2026-03-06T00:00:00Z' }
  t.match(await call('POST', '/api/callbacks/replay', moment), { status: 202 })
})

t.test(
  'an id alone is no subject of callbacks, and is refused instead of finding none',
  async t => {
    const { call } = await startTestService(t, { ROLE: 'api' })
    for (const subject of ['L-1', 'loan:', 'loans:L-1']) {
      const { status, body } = await call('GET', `/api/callbacks?subject=${subject}`)
      t.equal(status, 400, subject)
      t.match(body.errors, [{ path: '/subject', message: /^must be loan:, client:/ }])
    }
    for (const subject of ['loan:L-1', 'payment:gateway_a/pay_1'])
      t.equal((await call('GET', `/api/callbacks?subject=${subject}`)).status, 200, subject)
  },
)
