import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { letTakeLong } from '../../src/http/client-error.ts'

const SILENCE_MS = 100
const STALL_MS = 3 * SILENCE_MS
/** From more than the buffers in front of us hold, down to so few bytes that all of them have arrived. */
const SIZES = [8_000_000, 100_000, 1_000]

t.test('a caller whose bytes we have not read is not considered silent', async t => {
  for (const size of SIZES) {
    const { socket, request } = await startRequest(t, size)
    socket.write(Buffer.alloc(size))
    await setTimeout(STALL_MS)
    t.notOk(request.destroyed, `${size} bytes`)
    let read = 0
    for await (const chunk of request) read += chunk.length
    t.equal(read, size)
  }
})

t.test('a caller that falls silent is cut off, even after we kept it waiting', async t => {
  const { socket, request } = await startRequest(t, 100_000)
  socket.write(Buffer.alloc(50_000))
  await setTimeout(STALL_MS)
  request.resume()
  await once(request, 'close')
  t.notOk(request.complete)
})

t.test('a request answered before its end is watched no longer than its caller stays', async t => {
  const { socket, request, response } = await startRequest(t, 100_000)
  response.end()
  await once(response, 'finish')
  socket.destroy()
  await setTimeout(STALL_MS)
  t.notOk(request.destroyed, 'nobody has cut it off')
})

/** Starts a request with this many bytes. */
async function startRequest(t: Test, size: number) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  socket.write(`POST / HTTP/1.1\r\nhost: loanops\r\ncontent-length: ${size}\r\n\r\n`)
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  request.on('error', () => undefined)
  letTakeLong(request, SILENCE_MS)
  return { socket, request, response }
}
