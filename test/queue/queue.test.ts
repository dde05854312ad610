import { sql } from 'kysely'
import t from 'tap'
import { liveQueue, wakesOf } from '../../src/engine/queue.ts'
import { insertJobs, openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

t.test('a job exists only if the transaction that inserted it commits', async t => {
  const { db, url } = await freshDatabase(t)
  const boss = openQueue(url, { isWorker: false, name: 'test', onError: error => t.fail(error) })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  const insert = (subject: string, fails: boolean) =>
    db.transaction().execute(async trx => {
      await insertJobs(boss, trx, liveQueue, wakesOf([subject]))
      if (fails) throw new Error('the fact behind the job failed')
    })
  await t.rejects(insert('loan:ROLLED-BACK', true))
  await insert('loan:COMMITTED', false)
  const { rows } = await sql`
    select data -> 'subjects' ->> 0 as subject from pgboss.job
     where name = ${liveQueue.name}`.execute(db)
  t.same(rows, [{ subject: 'loan:COMMITTED' }])
})

t.test('the log gets an error that the queue repeats once', t => {
  const said: string[] = []
  const url = 'postgres://127.0.0.1/none'
  const boss = openQueue(url, { isWorker: false, name: 'test', onError: e => said.push(e.message) })
  for (const message of ['no connection', 'no room', 'no connection'])
    boss.emit('error', new Error(message))
  t.same(said, ['no connection', 'no room'])
  t.end()
})
