import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { httpLimits } from '../../src/http/limits.ts'
import { QUIET_MS } from '../../src/http/log-failure.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { answerOn, connected, startLimited } from '../support/http/limited-api.ts'
import { caller, NO_LEDGER, TOKEN, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('an address may hold only so many connections, and others keep theirs', async t => {
  const url = await startLimited(t, httpLimits, { CONNECTIONS_PER_ADDRESS: '2' })
  const { port } = new URL(url)
  const held = [await connected(Number(port)), await connected(Number(port))]
  t.teardown(() => held.map(socket => socket.destroy()))
  t.equal(await answerOn(await connected(Number(port))), '', 'its third is closed')
  t.match(await answerOn(await connected(Number(port), '127.0.0.2')), /^HTTP\/1.1 200 /)
  held.pop()?.destroy()
  await until(async () => /^HTTP\/1.1 200 /.test(await answerOn(await connected(Number(port)))))
})

t.test('our own proxies may hold any number of connections', async t => {
  const settings = { CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.1' }
  const url = await startLimited(t, httpLimits, settings)
  const { port } = new URL(url)
  const held = [await connected(Number(port)), await connected(Number(port))]
  t.teardown(() => held.map(socket => socket.destroy()))
  t.match(await answerOn(await connected(Number(port))), /^HTTP\/1.1 200 /)
})

t.test(
  'the log names an address that holds half of the connections once, however it goes on',
  async t => {
    const addresses: string[] = []
    const warn = (line: { address?: string }) => {
      if (line.address !== undefined) addresses.push(line.address)
    }
    const log = Object.assign(logger('silent'), { warn })
    const url = await startLimited(t, { ...httpLimits, connections: 6 }, {}, log)
    const { port } = new URL(url)
    const held: Socket[] = []
    for (let i = 0; i < 5; i++) held.push(await connected(Number(port)))
    t.teardown(() => held.map(socket => socket.destroy()))
    await until(async () => addresses.length > 0)
    for (let again = 0; again < 5; again++) {
      for (const socket of held.splice(2)) socket.destroy()
      while (held.length < 5) held.push(await connected(Number(port)))
      for (const socket of held) t.match(await answerOn(socket), /^HTTP\/1.1 200 /)
    }
    t.same(addresses, ['127.0.0.1'])
  },
)

t.test('a call beyond a limit is logged once, however often it comes', async t => {
  // What other tests of this process were refused for is news again.
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + QUIET_MS })
  const failures: string[] = []
  const error = ({ err }: { err: Error }) => failures.push(err.message)
  const log = Object.assign(logger('silent'), { error, child: () => log })
  const url = await startLimited(t, { ...httpLimits, largeBodies: 1 }, {}, log)
  const { port } = new URL(url)
  const held = await connected(Number(port))
  t.teardown(() => held.destroy())
  held.write(
    'POST /api/webhooks/gateway_b HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n',
  )
  const body = 'x'.repeat(100_000)
  const send = async () =>
    (await fetch(`${url}/api/webhooks/gateway_b`, { method: 'POST', body })).status
  await until(async () => (await send()) === 503)
  for (let again = 0; again < 5; again++) t.equal(await send(), 503)
  t.same(failures, ['The service is unavailable: too many large events are arriving'])
})

t.test('health answers on OPS_PORT although every connection of PORT is taken', async t => {
  const opsPort = await freePort(0)
  const settings = { OPS_PORT: String(opsPort) }
  const url = await startLimited(t, { ...httpLimits, connections: 1 }, settings)
  const { port } = new URL(url)
  const held = await connected(Number(port))
  t.teardown(() => held.destroy())
  t.equal(await answerOn(await connected(Number(port))), '', 'PORT takes no other')
  t.equal((await fetch(`http://127.0.0.1:${opsPort}/healthz`)).status, 200)
})

t.test('a stop does not wait for connections that never sent anything', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const config = readConfig(testEnv(databaseUrl, NO_LEDGER, { ROLE: 'api' }))
  const service = await startRole(config, logger('silent'))
  const silent = await connected(Number(new URL(service.url).port))
  const ended = once(silent.resume(), 'close')
  await fetch(`${service.url}/healthz`)
  await service.close()
  await ended
  t.pass()
})

t.test('a few requests sent ahead on one connection are answered in their order', async t => {
  const url = await startLimited(t, httpLimits)
  const socket = await connected(Number(new URL(url).port))
  socket.write(get('/healthz') + get('/nowhere') + get('/healthz', 'connection: close\r\n'))
  const statuses = (await text(socket)).matchAll(/HTTP\/1.1 (\d+) /g)
  t.same(
    [...statuses].map(([, status]) => status),
    ['200', '404', '200'],
  )
})

t.test('a connection with more requests under way than the limit is ended', async t => {
  const url = await startLimited(t, httpLimits)
  const socket = await connected(Number(new URL(url).port))
  socket.write(get('/healthz').repeat(httpLimits.pipelined + 1))
  const answers = await text(socket).catch(() => '')
  t.notMatch(answers, /\r\n\r\n.*HTTP.*\r\n\r\n/s)
  for (let i = 0; i <= httpLimits.pipelined; i++)
    t.equal((await fetch(`${url}/healthz`)).status, 200, 'one after the other')
})

t.test('a caller that reads none of its answers gives its connection to others', async t => {
  const limits = { ...httpLimits, connections: 1, unreadMs: 200, pipelined: 100 }
  const url = await startLimited(t, limits, { DOCS_ENABLED: 'true' })
  const port = Number(new URL(url).port)
  const silent = await connected(port)
  t.teardown(() => silent.destroy())
  // More than the buffers in front of a caller hold.
  silent.write(get('/openapi.json').repeat(limits.pipelined))
  await until(async () => /^HTTP\/1.1 200 /.test(await answerOn(await connected(port))))
  t.pass()
})

t.test('the docs serve only so many readers at once, those who read nothing included', async t => {
  const url = await startLimited(t, { ...httpLimits, longCalls: 1 }, { DOCS_ENABLED: 'true' })
  const { body } = await caller(url)('POST', '/api/ledger/operate', {
    status: 'LOAN_DELETE',
    data: { external_loan_id: 'L-1' },
  })
  const silent = await connected(Number(new URL(url).port))
  t.teardown(() => silent.destroy())
  const slow = `/api/ledger/track/${encodeURIComponent(body.tracking_id)}?wait=30`
  // The second answer is not sent before the first.
  silent.write(get(slow, `x-internal-token: ${TOKEN}\r\n`) + get('/docs/static/index.css'))
  // When this is answered, what was sent before has been read.
  await fetch(`${url}/healthz`)
  const refused = await fetch(`${url}/docs/static/index.css`)
  t.equal(refused.status, 503)
  t.ok(refused.headers.get('retry-after'))
  t.equal((await fetch(`${url}/openapi.json`)).status, 200)
  silent.destroy()
  await until(async () => (await fetch(`${url}/docs/static/index.css`)).status === 200)
})

t.test('large webhooks are accepted in limited numbers, small ones always', async t => {
  const url = await startLimited(t, { ...httpLimits, largeBodies: 1 })
  const post = (length: number) =>
    caller(url)('POST', '/api/webhooks/gateway_b', { event: 'x'.repeat(length) })
  const slow = await connected(Number(new URL(url).port))
  slow.write('POST /api/webhooks/gateway_b HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n{')
  // When this is answered, what was sent before has been read.
  await fetch(`${url}/healthz`)
  const refused = await post(100_000)
  t.match(refused, { status: 503, body: { code: 'UNAVAILABLE' } })
  t.ok(refused.headers.get('retry-after'))
  t.equal((await post(50_000)).status, 200)
  slow.destroy()
  await until(async () => (await post(100_000)).status === 200)
})

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
