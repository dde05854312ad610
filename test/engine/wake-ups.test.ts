import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { insertOperations, newOperation } from '../../src/engine/accept.ts'
import { liveQueue } from '../../src/engine/queue.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { clientData, newName } from '../support/loans.ts'
import { ending, submit } from '../support/operations.ts'
import { startTestService } from '../support/service.ts'

t.test(
  'forty subjects accepted in one commit leave three wake-ups, which name each once',
  async t => {
    const { db, ownerUrl } = await freshDatabase(t)
    const boss = openQueue(ownerUrl, {
      isWorker: false,
      name: 'test',
      onError: error => t.fail(error),
    })
    await boss.start()
    t.teardown(() => boss.stop({ graceful: false }))
    const subjects = Array.from({ length: 40 }, (_, n) => `client:C-${n}`)
    const operations = [...subjects, ...subjects].map(subject =>
      newOperation({ name: 'TEST', subject: () => subject, externalId: () => subject }, {}, null),
    )
    await db.transaction().execute(trx => insertOperations(trx, boss, 'api', operations))
    const wakes = await wakesIn(db)
    t.equal(wakes.length, 3)
    t.same(wakes.flat().sort(), subjects.sort())
  },
)

t.test('an operation that ends leaves no further wake-up', async t => {
  const { call, db } = await startTestService(t)
  const client = newName('C')
  t.match(await ending(call, await submit(call, 'CLIENT_CREATE', clientData(client))), {
    status: 'success',
  })
  t.same(await wakesIn(db), [[`client:${client}`]])
})

async function wakesIn(db: Database): Promise<string[][]> {
  const { rows } = await sql<{ subjects: string[] }>`
    select data -> 'subjects' as subjects from pgboss.job where name = ${liveQueue.name}`.execute(
    db,
  )
  return rows.map(({ subjects }) => subjects)
}
