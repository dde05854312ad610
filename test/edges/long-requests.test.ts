import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { letTakeLong } from '../../src/http/client-error.ts'
import { until } from '../support/until.ts'

const SILENCE_MS = 200
/** The silence of another caller: when it has been cut off, one that has been silent for as long is, too. */
const LONGER_SILENCE_MS = 1.5 * SILENCE_MS
/** The largest is more than the buffers in front of us hold; of the smallest, all bytes have arrived. */
const SIZES = [8_000_000, 100_000, 1_000]

t.test('a caller whose bytes we have not read is not considered silent', async t => {
  for (const size of SIZES) {
    const { request } = await startRequest(t, size, size)
    letTakeLong(request, SILENCE_MS)
    await anotherIsCutOff(t)
    t.notOk(request.destroyed, `${size} bytes`)
    let read = 0
    for await (const chunk of request) read += chunk.length
    t.equal(read, size)
  }
})

t.test('a caller that falls silent is cut off, even after we kept it waiting', async t => {
  const { request } = await startRequest(t, 100_000, 50_000)
  const closed = once(request, 'close')
  letTakeLong(request, SILENCE_MS)
  await anotherIsCutOff(t)
  t.notOk(request.destroyed, 'we keep it waiting')
  request.resume()
  await closed
  t.notOk(request.complete)
})

t.test('a request answered before its end is watched no longer than its caller stays', async t => {
  const { socket, request, response } = await startRequest(t, 100_000)
  response.end()
  await once(response, 'finish')
  letTakeLong(request, SILENCE_MS)
  socket.destroy()
  await anotherIsCutOff(t)
  t.notOk(request.destroyed, 'nobody has cut it off')
})

t.test('a request whose caller has left already is not watched', async t => {
  const { socket, request, response } = await startRequest(t, 100_000)
  response.end()
  await once(response, 'finish')
  socket.destroy()
  await until(async () => request.socket.closed)
  letTakeLong(request, SILENCE_MS)
  await anotherIsCutOff(t)
  t.notOk(request.destroyed, 'nobody has cut it off')
})

async function anotherIsCutOff(t: Test): Promise<void> {
  const { request } = await startRequest(t, 1)
  letTakeLong(request, LONGER_SILENCE_MS)
  await once(request, 'close')
}

/** Starts a request of this many bytes, of which `sent` are sent and have begun to arrive. */
async function startRequest(t: Test, size: number, sent = 0) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  socket.write(`POST / HTTP/1.1\r\nhost: loanops\r\ncontent-length: ${size}\r\n\r\n`)
  socket.write(Buffer.alloc(sent))
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  request.on('error', () => undefined)
  if (sent > 0) await until(async () => request.readableLength > 0)
  return { socket, request, response }
}
