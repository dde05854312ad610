import { once } from 'node:events'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { limitConcurrent } from '../../src/http/connections/connections.ts'
import { whileAsked } from '../../src/http/while-asked.ts'
import { answerOn, connected } from '../support/http/limited-api.ts'

t.test('a caller that has left before it gets a place takes none', async t => {
  const { app, listen, leave } = openHeldUp(t)
  const calls: string[] = []
  app.get('/:caller', { onRequest: limitConcurrent(1, 'calls') }, async ({ params }) => {
    const { caller } = params as { caller: string }
    calls.push(caller)
    return caller
  })
  const port = await listen()
  await leave(port, '/first')
  t.match(await answerOn(await connected(port), '/second'), /^HTTP\/1.1 200 /)
  t.same(calls, ['second'])
})

t.test('the signal for a caller that has left already is aborted', async t => {
  const { app, listen, leave } = openHeldUp(t)
  const asked = Promise.withResolvers<boolean>()
  app.get('/', async (_, reply) => asked.resolve(whileAsked(reply).aborted))
  await leave(await listen(), '/')
  t.ok(await asked.promise)
})

/** A server that holds up a request until its caller has left, if the caller does. */
function openHeldUp(t: Test) {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  let hangUp: (() => void) | undefined
  const left = Promise.withResolvers<void>()
  app.addHook('onRequest', async (_, { raw }) => {
    if (hangUp === undefined) return
    const closed = once(raw, 'close')
    hangUp()
    hangUp = undefined
    await closed
    left.resolve()
  })
  return {
    app,
    async listen(): Promise<number> {
      return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
    },
    async leave(port: number, path: string): Promise<void> {
      const socket = await connected(port)
      hangUp = () => socket.destroy()
      void answerOn(socket, path)
      await left.promise
    },
  }
}
