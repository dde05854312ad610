import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { acceptOperations, insertOperations, newOperation } from '../../../src/engine/accept.ts'
import { liveQueue } from '../../../src/engine/queue.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { ending, submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { startTestService } from '../../support/service.ts'

t.test('40 subjects accepted in one commit leave three wake-ups that name each once', async t => {
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
})

t.test('operations whose wake-up cannot be stored are not stored either', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const boss = openQueue(ownerUrl, { isWorker: false, name: 'test', onError: t.fail })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  const operation = newOperation(
    { name: 'TEST', subject: () => 'client:C-1', externalId: () => 'C-1' },
    {},
    null,
  )
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$`.execute(
    db,
  )
  const { rows } = await sql<{ table: string }>`
    select table_name as "table" from pgboss.queue where name = ${liveQueue.name}`.execute(db)
  await sql`
    create trigger refuse before insert on ${sql.table(`pgboss.${rows[0]?.table}`)}
       for each row execute function refuse()`.execute(db)
  await t.rejects(acceptOperations(db, boss, [operation]), /no room/)
  t.same((await sql`select from loanops.operation`.execute(db)).rows, [])
  await sql`drop function refuse() cascade`.execute(db)
  await acceptOperations(db, boss, [operation])
  t.same(await wakesIn(db), [['client:C-1']])
  t.equal((await sql`select from loanops.operation`.execute(db)).rows.length, 1)
})

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
    select data -> 'subjects' as subjects from pgboss.job
     where name = ${liveQueue.name}`.execute(db)
  return rows.map(({ subjects }) => subjects)
}
