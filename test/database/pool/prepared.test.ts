import { sql } from 'kysely'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import t from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { poolConfig } from '../../../src/database/pool/pool-config.ts'
import { prepared } from '../../../src/database/pool/prepared.ts'
import { FETCH } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

for (const keepsPlans of [true, false])
  t.test(
    `a marked statement is ${keepsPlans ? '' : 'not '}prepared by a pool that ${keepsPlans ? 'keeps' : 'keeps no'} plans`,
    async t => {
      const { url } = await freshDatabase(t)
      const db = openDatabase(url, { max: 1, name: 'test', keepsPlans, onError: t.fail })
      t.teardown(() => db.destroy())
      for (const value of [1, 2]) {
        const { rows } = await sql<{ sum: number }>`${prepared('add_one')}
          select ${value}::integer + 1 as sum`.execute(db)
        t.same(rows, [{ sum: value + 1 }])
      }
      const { rows } = await sql`
        select name, (generic_plans + custom_plans)::integer as runs
         from pg_prepared_statements`.execute(db)
      t.same(rows, keepsPlans ? [{ name: 'add_one', runs: 2 }] : [])
    },
  )

t.test('a loop plans its fetch from the queue once per session', async t => {
  const { url } = await freshDatabase(t)
  const pool = new pg.Pool(poolConfig(url, { max: 1, name: 'test', keepsPlans: FETCH }))
  const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) }
  const boss = new PgBoss({ db, migrate: false, supervise: false, schedule: false })
  t.teardown(() => pool.end())
  t.teardown(() => boss.stop({ graceful: false }))
  await boss.start()
  for (const _ of ['once', 'again']) t.same(await boss.fetch('operation'), [])
  const { rows } = await pool.query(
    'select (generic_plans + custom_plans)::integer as runs from pg_prepared_statements',
  )
  t.same(rows, [{ runs: 2 }])
})
