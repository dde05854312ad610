import { sql } from 'kysely'
import t from 'tap'
import { accountCalls } from '../../../src/accounts/account-calls.ts'
import type { ActCall } from '../../../src/accounts/approvals/act-call.ts'
import { approve, turnDown } from '../../../src/accounts/approvals/decide.ts'
import { perform } from '../../../src/accounts/approvals/perform.ts'
import { enterAccount } from '../../../src/accounts/sign-on/enter-account.ts'
import { replayCall } from '../../../src/callbacks/replay-call.ts'
import type { Act } from '../../../src/config/acts.ts'
import { bulkCall } from '../../../src/console/bulk/bulk-call.ts'
import { countItems } from '../../../src/console/bulk/bulk-store.ts'
import { matchingItems } from '../../../src/console/bulk/matching-items.ts'
import type { Database, Trx } from '../../../src/database/database.ts'
import { newId } from '../../../src/ids.ts'
import { pauseCall } from '../../../src/operations/pause/pause-call.ts'
import { pauseLedger } from '../../../src/operations/pause/pause-ledger.ts'
import { lockSettling } from '../../../src/payments/lock-settling.ts'
import { makeAccounts } from '../../support/accounts/admin.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { sourceOf } from '../../support/payments/source.ts'
import { until } from '../../support/until.ts'

const { db, save, transform } = await sourceOf(t, 'gateway_a')
const password = 'the pass phrase of both'
await makeAccounts(db, { admin: { username: 'meera', password } })
await makeAccounts(db, { operator: { username: 'asha', password } })
const as = (actor: string) => ({ actor, caller: null, address: null, requestId: null })
const covering = (act: Act, above: string | null = null) => ({
  db,
  config: { APPROVALS: [{ act, above }], APPROVAL_TTL_HOURS: 1 },
})
const changes: Promise<unknown>[] = []
/** The call, with this change between the look at what it is about and what it does, unless the change has to wait. */
const between = (call: ActCall<any, any, any>, change: () => Promise<unknown>) => ({
  ...call,
  async factsOf(trx: Trx, request: object) {
    const facts = await call.factsOf(trx, request)
    const changed = change()
    changes.push(changed)
    await Promise.race([changed, until(isWaiting, 'the change waits')])
    return facts
  },
})

t.test('a payment that matches again meanwhile is not decided without a second person', async t => {
  const call = bulkCall({ config: { LEDGER_TIMEZONE: 'Asia/Kolkata' } })
  const wanted = { decision: 'payments.dismiss', filter: { reason: 'no_loan_named' } } as const
  for (const [id, amount] of [
    ['pay_small', 90_000],
    ['pay_great', 900_000],
  ] as const)
    await save(capturedA({ id, amount }))
  await transform()
  // Somebody may know these in advance.
  const items = matchingItems(wanted.decision, wanted.filter, 'Asia/Kolkata')
  const seen = await countItems(db, items)
  t.equal(seen.count, 2)
  await set('waiting', null)
  const request = { id: newId(), ...wanted, note: 'tests', ...seen }
  const back = between(call, () => set('suspense', 'no_loan_named'))
  const context = covering('payment.dismiss', '1000')
  await t.rejects(perform(context, back, { asker: as('asha'), request }), { code: 'CONFLICT' })
  await Promise.all(changes)
  t.same((await sql`select from loanops.bulk`.execute(db)).rows, [])
})

t.test('a pause that begins while a decision is approved waits for its end', async t => {
  const request = { reason: 'close of business', until: null }
  const id = await proposed(pauseCall, 'ledger.pause', request)
  const other = { reason: 'an audit', until: null }
  const calls = [between(pauseCall, () => pauseLedger(db, other, as('meera')))]
  await approve({ db, calls }, { id, asker: as('meera') })
  await Promise.all(changes)
  const { rows } = await sql`
    select actor from loanops.audit where action = 'ledger.pause' order by id`.execute(db)
  t.same(rows, [{ actor: 'asha' }, { actor: 'meera' }])
})

t.test('exactly those callbacks are sent again that the proposal was about', async t => {
  await fail()
  const request = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const id = await proposed(replayCall, 'callback.replay', request)
  const calls = [between(replayCall, fail)]
  t.match(await approve({ db, calls }, { id, asker: as('meera') }), { body: { callbacks: 1 } })
  await Promise.all(changes)
})

t.test('a proposal whose time runs out while its approval waits is not approved', async t => {
  const request = { from: '2026-01-03T00:00:00Z', to: '2026-01-04T00:00:00Z' }
  const id = await proposed(replayCall, 'callback.replay', request)
  const runOut = (trx: Database) =>
    sql`update loanops.approval set expires_at = clock_timestamp() where id = ${id}`.execute(trx)
  const facts = {
    ...replayCall,
    async factsOf(trx: Trx, asked: typeof request) {
      const facts = await replayCall.factsOf(trx, asked)
      await runOut(trx)
      return facts
    },
  }
  const expired = { code: 'EXPIRED' }
  const decision = { id, asker: as('meera') }
  await t.rejects(approve({ db, calls: [facts] }, decision), expired, 'for what it is about')
  for (const decide of [
    approve.bind(null, { db, calls: [replayCall] }),
    turnDown.bind(null, db, 'rejected'),
  ]) {
    const decided = await db.transaction().execute(async trx => {
      await sql`select from loanops.approval where id = ${id} for update`.execute(trx)
      const decided = Promise.allSettled([decide(decision)])
      await until(isWaiting, 'it waits')
      await runOut(trx)
      return () => decided
    })
    t.match(await decided(), [{ reason: expired }], 'for the proposal')
    await sql`
      update loanops.approval set expires_at = now() + interval '1 hour'
       where id = ${id}`.execute(db)
  }
})

t.test('administrators who ask at once to disable each other both propose it', async t => {
  await makeAccounts(db, { admin: { username: 'john', password } })
  const { disableCall } = accountCalls(async () => '')
  const both = Promise.withResolvers<void>()
  let locked = 0
  const call = {
    ...disableCall,
    async factsOf(trx: Trx, request: { username: string }) {
      const facts = await disableCall.factsOf(trx, request)
      if (++locked === 2) both.resolve()
      await both.promise
      return facts
    },
  }
  const ask = (actor: string, username: string) =>
    perform(covering('account.disable'), call, { asker: as(actor), request: { username } })
  const made = await Promise.all([ask('meera', 'john'), ask('john', 'meera')])
  for (const one of made) t.ok('proposal' in one)
  t.equal(locked, 3, 'one of them was begun again')
})

t.test('a proposal does not come back with the role of its proposer', async t => {
  const person = { issuer: 'https://issuer.example', subject: 'z', newName: () => 'zoe' }
  const enter = (role: 'operator' | 'viewer') => enterAccount(db, as('nobody'), { ...person, role })
  await enter('operator')
  const request = { from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z' }
  const id = await proposed(replayCall, 'callback.replay', request, 'zoe')
  await enter('viewer')
  await enter('operator')
  await t.rejects(approve({ db, calls: [replayCall] }, { id, asker: as('meera') }), {
    code: 'CONFLICT',
    message: 'The proposal is already withdrawn',
  })
})

async function proposed(call: ActCall<any, any, any>, act: Act, request: object, by = 'asha') {
  const made = await perform(covering(act), call, { asker: as(by), request })
  if (!('proposal' in made)) throw new Error('done without a second person')
  return made.proposal.approval_id
}

/** Sets the payment's state as whoever settles payments does. */
function set(state: string, reason: string | null) {
  return db.transaction().execute(async trx => {
    await lockSettling(trx)
    await sql`
      update core.transaction set state = ${state}, reason = ${reason}
       where gateway_payment_id = 'pay_great'`.execute(trx)
  })
}

/** One more callback that failed. */
function fail() {
  return db.transaction().execute(async trx => {
    await sql`select loanops.lock_callbacks()`.execute(trx)
    await sql`
      insert into loanops.callback (type, subject, about, occurred_at, state, sequence, body, created_at)
      values ('operation.succeeded', 'loan:L-1', ${newId()}, now(), 'failed',
              (select coalesce(max(sequence), 0) + 1 from loanops.callback), '{}', '2026-01-01 12:00:00Z')`.execute(
      trx,
    )
  })
}

async function isWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
     where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
  return rows.length > 0
}
