import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { ledgerPath } from '../../../src/ledger/calls/path.ts'
import { NO_DATABASE, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** A key for the tests alone, and its certificate for 127.0.0.1. */
const PEM = fileURLToPath(new URL('../../support/loopback.pem', import.meta.url))
/** More than the circuit takes to open. */
const FAILING_WRITES = 6
const HOUR_MS = 3_600_000

const post = {
  method: 'POST',
  path: ledgerPath(['clients']),
  body: {},
  promisedId: 'clientId',
} as const

t.test('each of several calls has a connection of its own, even if HTTP/2 is offered', async t => {
  const pem = readFileSync(PEM)
  const versions: string[] = []
  const connections = new Set<unknown>()
  const server = createSecureServer(
    { key: pem, cert: pem, allowHTTP1: true },
    (request, response) => {
      versions.push(request.httpVersion)
      connections.add(request.socket)
      response.end('[]')
    },
  )
  const ledger = await ledgerAt(t, server, 'https', { LEDGER_CA_FILE: PEM })
  await Promise.all(['a', 'b', 'c'].map(name => ledger.read(ledgerPath([name]))))
  t.same(versions, ['1.1', '1.1', '1.1'])
  t.equal(connections.size, 3)
})

t.test('a write was never sent if its connection ends before TLS is agreed', async t => {
  let ends = 0
  const server = createTcpServer(socket => {
    // A load balancer without a ledger behind it does either.
    if (ends++ % 2 === 0) socket.end()
    else socket.resetAndDestroy()
  })
  const ledger = await ledgerAt(t, server, 'https', { LEDGER_CA_FILE: PEM })
  for (const key of ['closed', 'reset'])
    t.match(await ledger.write({ ...post, key }), { outcome: 'not_arrived', leftNothing: true })
})

t.test('a write was never sent if its time ends before TLS is agreed', async t => {
  const server = createTcpServer(() => {})
  const changes = { LEDGER_CA_FILE: PEM, LEDGER_TIMEOUT_MS: '100' }
  const ledger = await ledgerAt(t, server, 'https', changes)
  const answer = await ledger.write({ ...post, key: 'late' })
  t.match(answer, { outcome: 'not_arrived', leftNothing: true, message: /TimeoutError/ })
})

t.test('a write may have arrived if its time ends before the answer', async t => {
  const server = createServer(() => {})
  const ledger = await ledgerAt(t, server, 'http', { LEDGER_TIMEOUT_MS: '1000' })
  const answer = await ledger.write({ ...post, key: 'late' })
  t.match(answer, { outcome: 'unknown', leftNothing: false })
})

t.test('a write that was sent may have arrived although one that was not ends with it', async t => {
  let writes = 0
  const server = createServer(({ method }, response) => {
    if (method === 'GET') response.end('[]')
    else writes++
  })
  const ledger = await ledgerAt(t, server, 'http', { LEDGER_CONCURRENCY: '2' })
  await ledger.read(ledgerPath(['first']))
  const write = (key: string) => ledger.write({ ...post, key })
  const sent = [write('a'), write('b')]
  await until(async () => writes === sent.length)
  const unsent = write('c')
  await new Promise(setImmediate)
  await ledger.cutOff()
  for (const one of sent) t.match(await one, { outcome: 'unknown', leftNothing: false })
  t.match(await unsent, { outcome: 'not_arrived', leftNothing: true })
})

t.test('a write may have arrived if its connection ends before the answer', async t => {
  const pem = readFileSync(PEM)
  const server = createSecureServer({ key: pem, cert: pem, allowHTTP1: true }, request =>
    request.socket.destroy(),
  )
  const ledger = await ledgerAt(t, server, 'https', { LEDGER_CA_FILE: PEM })
  t.match(await ledger.write({ ...post, key: 'lost' }), { outcome: 'unknown', leftNothing: false })
})

t.test('a loan that is too large to be read does not look like a ledger that is down', async t => {
  const large = `"${'x'.repeat(16 * 1024 * 1024)}"`
  const server = createServer((_, response) => response.end(large))
  const ledger = await ledgerAt(t, server, 'http')
  for (let n = 0; n < FAILING_WRITES; n++)
    await t.rejects(ledger.read(ledgerPath(['loans', n])), { message: /larger than 16 MiB/ })
  t.equal(ledger.breaker.isOpen(), false)
})

t.test('a read gets no answer that a cache on its way has stored', async t => {
  let reads = 0
  const stored = new Map<string, string>()
  const cache = createServer(({ url = '', headers }, response) => {
    const isFresh = headers['cache-control'] === 'no-cache' || !stored.has(url)
    if (isFresh) stored.set(url, `[${++reads}]`)
    response.end(stored.get(url))
  })
  const ledger = await ledgerAt(t, cache, 'http')
  const read = async () => (await ledger.read(ledgerPath(['loans', 1]))).body
  t.same([await read(), await read()], [[1], [2]])
})

t.test('an answer that a proxy compresses unasked is read', async t => {
  const packers: [encoding: string, pack: (text: string) => string | Buffer][] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    // Unpacked on the way by another proxy.
    ['gzip', text => text],
  ]
  const server = createServer((request, response) => {
    const number = Number(request.url?.split('/').at(-1))
    const [encoding, pack] = packers[number] ?? ['gzip', () => 'cut off']
    response.setHeader('content-encoding', encoding)
    response.end(pack('[]'))
  })
  const ledger = await ledgerAt(t, server, 'http')
  for (const [number, [encoding]] of packers.entries())
    t.match(await ledger.read(ledgerPath([number])), { outcome: 'done', body: [] }, encoding)
  await t.rejects(ledger.read(ledgerPath(['broken'])), { message: /not the ledger’s/ })
})

t.test('no write waits for the first call of a half-open circuit', async t => {
  let isDown = true
  const firstCalls: (() => void)[] = []
  const written: string[] = []
  const server = createServer((request, response) => {
    if (request.method === 'POST') written.push(String(request.headers['idempotency-key']))
    if (isDown) response.writeHead(503).end()
    else firstCalls.push(() => response.end('[]'))
  })
  const ledger = await ledgerAt(t, server, 'http')
  for (let n = 0; n < FAILING_WRITES; n++) await ledger.write({ ...post, key: 'before' })
  t.equal(ledger.breaker.isOpen(), true)
  isDown = false
  const probing = until(async () => {
    await ledger.probe()
    return firstCalls.length > 0
  })
  await until(async () => firstCalls.length > 0, 'the first call arrives')
  t.match(await ledger.write({ ...post, key: 'paused meanwhile' }), { outcome: 'not_arrived' })
  for (const answer of firstCalls) answer()
  await probing
  t.notOk(written.includes('paused meanwhile'))
})

t.test('a clock that is set back keeps nobody from a ledger that answers again', async t => {
  let isDown = true
  const server = createServer((_, response) => response.writeHead(isDown ? 503 : 200).end('[]'))
  const ledger = await ledgerAt(t, server, 'http')
  for (let n = 0; n < FAILING_WRITES; n++) await ledger.write({ ...post, key: 'before' })
  t.equal(ledger.breaker.isOpen(), true)
  isDown = false
  const { now } = Date
  t.teardown(() => Object.assign(Date, { now }))
  Date.now = () => now() - HOUR_MS
  await until(() => ledger.probe(), 'the ledger is called')
  t.equal(ledger.breaker.isOpen(), false)
})

t.test('a read that still waits for a connection ends with its caller', async t => {
  const hanging: unknown[] = []
  const server = createServer(request => void hanging.push(request))
  const ledger = await ledgerAt(t, server, 'http')
  const leaving = new AbortController()
  const read = (signal: AbortSignal) => ledger.forCaller(signal).read(ledgerPath(['loans']))
  const others = ['first', 'second'].map(() => t.rejects(read(leaving.signal)))
  await until(async () => hanging.length === 2, 'all connections are taken')
  await t.rejects(read(AbortSignal.timeout(1)), { message: 'no answer (TimeoutError)' })
  leaving.abort()
  await Promise.all(others)
  t.equal(hanging.length, 2, 'it was never sent')
})

async function ledgerAt(
  t: Test,
  server: Server,
  scheme: 'http' | 'https',
  changes: NodeJS.ProcessEnv = {},
) {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url, changes)))
  t.teardown(async () => {
    await ledger.cutOff()
    server.close()
  })
  return ledger
}
