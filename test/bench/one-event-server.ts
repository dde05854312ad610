// The baseline for webhooks: a server that hands each body to `boss.send()` before it answers. With BENCH_NOTIFIES=true its
// queue wakes a worker at each commit, as our own intake wakes one; without it, a worker finds the event when it next polls.
import { fastify } from 'fastify'
import { readConfig } from '../../src/config/config.ts'
import { eventQueue } from '../../src/payments/queue.ts'
import { openQueue } from '../../src/queue/queue.ts'

const config = readConfig(process.env)
const notify = process.env.BENCH_NOTIFIES === 'true'
const queue = notify ? 'bench-event-notifying' : 'bench-event'
const boss = openQueue(config.DATABASE_URL, {
  isWorker: false,
  name: 'bench',
  onError: console.error,
})
await boss.start()
await boss.createQueue(queue, { ...eventQueue.options, notify })
const app = fastify()
app.get('/healthz', async () => ({ status: 'ok' }))
app.post('/', async request => {
  await boss.send(queue, { events: [request.body] })
  return { received: true }
})
await app.listen({ port: config.PORT })
