// The baseline for webhooks: a server that hands each body to `boss.send()` before it answers.
import { fastify } from 'fastify'
import { readConfig } from '../../src/config/config.ts'
import { eventQueue } from '../../src/payments/queue.ts'
import { openQueue } from '../../src/queue/queue.ts'

const config = readConfig(process.env)
const boss = openQueue(config.DATABASE_URL, {
  isWorker: false,
  name: 'bench',
  onError: console.error,
})
await boss.start()
const app = fastify()
app.get('/healthz', async () => ({ status: 'ok' }))
app.post('/', async request => {
  await boss.send(eventQueue.name, { events: [request.body] })
  return { received: true }
})
await app.listen({ port: config.PORT })
