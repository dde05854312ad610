// The baseline for intake: the same kind of server and checks, but one transaction per request with an insert and
// boss.send().

import { fastify } from 'fastify'
import { sql } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { newOperation } from '../../src/engine/accept.ts'
import { liveQueue } from '../../src/engine/queue.ts'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { operateValidator } from '../../src/operations/validate.ts'

const config = readConfig(process.env)
const onError = () => undefined
const db = openDatabase(config.DATABASE_URL, {
  max: config.DATABASE_POOL_MAX,
  name: 'baseline',
  onError,
})
const boss = new PgBoss({
  connectionString: config.DATABASE_URL,
  supervise: false,
  schedule: false,
  migrate: false,
})
boss.on('error', onError)
await boss.start()
const validate = operateValidator(operationCatalogue(config.lenders), 'refuse')
const app = fastify()

app.get('/healthz', async () => ({ status: 'ok' }))
app.post('/api/ledger/operate', async (request, reply) => {
  const { operation, data } = validate(request.body)
  const row = newOperation(operation, data, null)
  await db.transaction().execute(async trx => {
    await sql`insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data)
      values (${row.id}, ${row.operationType}, 'api', ${row.subject}, ${row.waitsFor}, ${row.externalId},
              ${JSON.stringify(row.data)})`.execute(trx)
    await boss.send(liveQueue.name, { subjects: [row.subject] }, { db: fromKysely(trx) })
  })
  return reply
    .code(202)
    .send({ tracking_id: `${row.operationType}|${row.id}`, status: 'processing' })
})
await app.listen({ port: config.PORT })
