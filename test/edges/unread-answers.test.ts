import { once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { endUnread } from '../../src/http/connections/connections.ts'
import { httpLimits } from '../../src/http/limits.ts'
import { openServer } from '../../src/http/server.ts'
import { logger } from '../../src/log/log.ts'
import { serve } from '../support/http/serve.ts'

const UNREAD_MS = 200
/** More than the buffers in front of a caller hold. */
const MANY_PIECES = 64
const PIECE = 'x'.repeat(1_000_000)

t.test('a download that its caller has paused is ended', async t => {
  const { response, received } = await startDownload(t)
  await ended(response)
  t.notOk(response.writableFinished)
  await t.rejects(text(received), { code: 'ECONNRESET' })
})

t.test('a download whose caller waits for us is not ended, however long that takes', async t => {
  const { response, received } = await startDownload(t)
  const another = await startDownload(t)
  await ended(another.response)
  response.end('the rest')
  t.equal(await text(received), 'begun, the rest')
})

t.test('a HEAD reads nothing of the list that a GET streams', async t => {
  const log = logger('silent')
  const app = openServer({ log, trustProxy: [], connectionsPerAddress: 0 }, httpLimits)
  let read = 0
  function* rows() {
    for (; read < MANY_PIECES; read++) yield 'row\n'
  }
  const stream = Readable.from(rows())
  app.get('/list.csv', async (_, reply) => reply.type('text/csv').send(stream))
  t.teardown(() => app.close())
  const closed = once(stream, 'close')
  t.match(await app.inject({ method: 'HEAD', url: '/list.csv' }), {
    statusCode: 200,
    headers: { 'content-type': 'text/csv', 'content-length': undefined },
    body: '',
  })
  await closed
  t.equal(read, 0)
})

/** Sends more than the caller reads, until the download is ended. */
async function ended(response: ServerResponse): Promise<void> {
  const closed = once(response, 'close')
  Readable.from(Array(MANY_PIECES).fill(PIECE)).pipe(response)
  await closed
}

async function startDownload(
  t: Test,
): Promise<{ response: ServerResponse; received: IncomingMessage }> {
  const begun = Promise.withResolvers<ServerResponse>()
  const url = await serve(t, (_, response) => {
    endUnread(response, UNREAD_MS)
    response.write('begun, ')
    begun.resolve(response)
  })
  const [received] = (await once(get(url), 'response')) as [IncomingMessage]
  return { response: await begun.promise, received }
}
