import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { type Database, poolUse } from '../../../src/database/database.ts'
import { health } from '../../../src/ops/health.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

const SESSIONS = 3
const ofCallback = sql`update loanops.callback_receiver set failures = 0`

/** Makes all sessions of the pool read-only, as if their server were no longer the primary; new ones reach another. */
async function demote(db: Database): Promise<void> {
  await each(db, sql`set default_transaction_read_only = on`)
}

/** Runs a statement in several sessions at once. */
async function each(db: Database, statement: RawBuilder<unknown>): Promise<void> {
  let begun = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const one = () =>
    db.connection().execute(async connection => {
      if (++begun === SESSIONS) resolve()
      await promise
      await statement.execute(connection)
    })
  await Promise.all(Array.from({ length: SESSIONS }, one))
}

t.test('a refused write gives up the sessions of a server that is read-only', async t => {
  const { db } = await freshDatabase(t)
  // PostgreSQL sends the refusal before it says that the session is ready: sometimes apart, sometimes together.
  for (let round = 0; round < 20; round++) {
    await demote(db)
    await t.rejects(ofCallback.execute(db), { code: '25006' })
    await t.resolves(each(db, ofCallback))
  }
  t.ok(poolUse(db).idle <= SESSIONS)
})

t.test('a transaction ends with the refusal of its write, and the next one succeeds', async t => {
  const { db } = await freshDatabase(t)
  await demote(db)
  const write = () =>
    db.transaction().execute(async trx => {
      await sql`select 1`.execute(trx)
      await ofCallback.execute(trx)
    })
  await t.rejects(write(), { code: '25006' })
  await write()
})

t.test('a session on a standby is given up only after the statement that it works on', async t => {
  const { db } = await freshDatabase(t)
  await demote(db)
  const slow = sql<{ one: number }>`select 1 as one from pg_sleep(0.5)`.execute(db)
  await t.rejects(ofCallback.execute(db), { code: '25006' })
  t.match(await slow, { rows: [{ one: 1 }] })
  await each(db, ofCallback)
})

t.test('readiness recovers though nobody writes', async t => {
  const { db } = await freshDatabase(t)
  await demote(db)
  const ready = health(db, {
    isMigrated: async () => true,
    watch: { stuck: () => [] },
    ledger: async () => ({}),
    reports: [],
  } as unknown as Parameters<typeof health>[1])
  t.match(await ready(), { database: 'is read-only' })
  t.match(await ready(), { database: 'ok' })
})
