// What a user might choose instead: the same endpoint and the same call to the ledger, over a job queue alone. PEER: pg-boss or
// graphile-worker, with what their README shows.
import { fastify } from 'fastify'
import { run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import { readConfig } from '../../src/config/config.ts'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { operateValidator } from '../../src/operations/validate.ts'
import { clientCreator } from './create-client.ts'

const QUEUE = 'peer'
/** Our worker looks as often. */
const POLL_SECONDS = 0.5
/** pg-boss fetches the next batch when the last one is done. */
const BATCH = 64

const config = readConfig(process.env)
const concurrency = config.LEDGER_CONCURRENCY
const ledger = clientCreator(config.LEDGER_URL, concurrency)
let done = 0

const send = process.env.PEER === 'pg-boss' ? await pgBoss() : await graphileWorker()
const validate = operateValidator(operationCatalogue(config.lenders), 'refuse')
const app = fastify()
app.get('/healthz', async () => ({ status: 'ok' }))
app.get('/done', async () => String(done))
app.post('/api/ledger/operate', async (request, reply) => {
  const { data } = validate(request.body)
  await send({ externalId: String((data as { externalId: string }).externalId) })
  return reply.code(202).send({ status: 'processing' })
})
await app.listen({ port: config.PORT })

type Payload = { externalId: string }

async function execute({ externalId }: Payload): Promise<void> {
  await ledger.create(externalId)
  done++
}

async function pgBoss(): Promise<(payload: Payload) => Promise<unknown>> {
  const boss = new PgBoss({
    connectionString: config.DATABASE_URL,
    max: config.DATABASE_POOL_MAX,
    schema: 'peer',
  })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue(QUEUE)
  const options = {
    batchSize: BATCH,
    pollingIntervalSeconds: POLL_SECONDS,
    burstWhenBatchFull: true,
  }
  await boss.work<Payload>(QUEUE, options, async jobs => {
    await Promise.all(jobs.map(({ data }) => execute(data)))
  })
  return payload => boss.send(QUEUE, payload)
}

async function graphileWorker(): Promise<(payload: Payload) => Promise<unknown>> {
  const runner = await run({
    connectionString: config.DATABASE_URL,
    maxPoolSize: config.DATABASE_POOL_MAX,
    concurrency,
    noHandleSignals: true,
    pollInterval: POLL_SECONDS * 1_000,
    taskList: { [QUEUE]: payload => execute(payload as Payload) },
  })
  return payload => runner.addJob(QUEUE, payload)
}
