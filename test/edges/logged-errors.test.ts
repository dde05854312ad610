import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { publicError } from '../../src/public-error.ts'
import { openQueue, type Queue, work } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'

const queue: Queue<object> = {
  name: 'test-failing',
  options: { retryLimit: 0 },
  work: { pollingIntervalSeconds: 0.5 },
}

t.test('a PostgreSQL error is logged without the values that it quotes', async t => {
  const { db } = await freshDatabase(t)
  for (const error of await errorsThatRepeat(db, 'mrkdvalue')) {
    t.match(JSON.stringify({ ...error, message: error.message }), 'mrkdvalue')
    const logged = JSON.stringify(publicError(error))
    t.notMatch(logged, 'mrkdvalue')
    t.match(logged, /"code":"\d/)
    t.match(logged, /"stack":".*node_modules/, 'where it happened')
  }
})

t.test('a failed job’s error is stored without the values in it', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const boss = openQueue(ownerUrl, { isWorker: true, name: 'test', onError() {} })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  await boss.createQueue(queue.name, queue.options)
  const errors = await errorsThatRepeat(db, 'mrkdvalue')
  await work(boss, queue, async () => {
    throw errors.pop()
  })
  for (const _ of [...errors]) await boss.send(queue.name, {})
  const outputs = await until(async () => {
    const { rows } = await sql<{ error: object }>`
      select error from ops.job_failed where queue = ${queue.name}`.execute(db)
    return errors.length === 0 && rows
  })
  t.ok(outputs.length > 0)
  t.notMatch(JSON.stringify(outputs), 'mrkdvalue')
  t.match(JSON.stringify(outputs), /invalid input syntax|violates|too long/)
})

/** PostgreSQL's errors about invalid values: some quote them in the message, some in the detail. */
async function errorsThatRepeat(db: Database, value: string): Promise<Error[]> {
  const statements = [
    sql`select ${value}::uuid`,
    sql`select ${`{"a": ${value}}`}::json`,
    sql`select ${value}::integer`,
    sql`insert into loanops.login_attempt (key) values (${value}), (${value})`,
    sql`insert into loanops.account (id, username, password_hash, role)
        values (gen_random_uuid(), ${value}, ${value}, ${value})`,
  ]
  return Promise.all(
    statements.map(statement =>
      statement.execute(db).then(
        () => new Error('the value was accepted'),
        error => error as Error,
      ),
    ),
  )
}
