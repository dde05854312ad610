import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { httpLimits } from '../../src/http/limits.ts'
import { newId } from '../../src/ids.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { answerOn, connected, startLimited as start } from '../support/http/limited-api.ts'
import { problemIn, rawHttp } from '../support/http/raw-http.ts'
import { clientData, newName } from '../support/ledger/loans.ts'
import { startProcessFor } from '../support/process.ts'
import { type Call, caller, NO_LEDGER, TOKEN, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const HEAD = `POST /api/ledger/operate HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n`
const UNFINISHED = `${HEAD}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"status":`
/** On a busy machine, an upload's first bytes are read later than those of `soon` would have to be. */
const UPLOAD_TIMEOUT_MS = 1_000
const DRIBBLE_MS = 20
/** The service's limits, with shorter times. */
const soon = {
  ...httpLimits,
  requestTimeout: 300,
  http: { ...httpLimits.http, headersTimeout: 200, connectionsCheckingInterval: 50 },
}

t.test('a client that does not finish its headers is cut off', async t => {
  const url = await start(t, soon)
  const answer = await rawHttp(url, `${HEAD}x-slow: `)
  t.match(answer, /^HTTP\/1.1 408 /)
  t.match(problemIn(answer), { status: 408, code: 'INVALID_PAYLOAD' })
})

t.test('a client that does not finish its body is cut off', async t => {
  const url = await start(t, soon)
  t.match(await rawHttp(url, UNFINISHED), /^HTTP\/1.1 408 /)
})

t.test('an upload may take longer than any other request as long as data keeps coming', async t => {
  const url = await start(t, { ...soon, requestTimeout: UPLOAD_TIMEOUT_MS })
  const csv =
    'loan_external_id,transaction_date,amount,payment_reference\nL-1,2026-01-05,1.00,p-1\n'
  const form = new FormData()
  form.set('type', 'repayments')
  form.set('file', new Blob([csv]), 'repayments.csv')
  const whole = new Response(form)
  const bytes = Buffer.from(await whole.arrayBuffer())
  let cutOff = ''
  const another = async () => {
    cutOff = await rawHttp(url, UNFINISHED)
  }
  const response = await fetch(`${url}/api/migration/upload`, {
    method: 'POST',
    headers: { 'x-internal-token': TOKEN, 'content-type': whole.headers.get('content-type') ?? '' },
    body: ReadableStream.from(dribbled(bytes, another)),
    duplex: 'half',
  })
  t.match(await response.json(), { rows: 1, valid_rows: 1 })
  t.match(cutOff, /^HTTP\/1.1 408 /, 'another request, which began later')
})

t.test('the default limits for headers and for a whole request are at most 30 s', async t => {
  t.ok(httpLimits.requestTimeout <= 30_000)
  t.ok(httpLimits.http.headersTimeout <= httpLimits.requestTimeout)
})

t.test('a connection beyond the limit is closed at once, and the others stay open', async t => {
  const url = await start(t, { ...httpLimits, connections: 3 })
  const { port } = new URL(url)
  const open = await Promise.all([1, 2, 3].map(() => connected(Number(port))))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
  })
  t.equal(await answerOn(await connected(Number(port))), '')
  for (const socket of open) t.match(await answerOn(socket), /^HTTP\/1.1 200 /)
})

t.test('callers awaiting results leave room for operate, webhooks and health checks', async t => {
  const connections = 16
  const waiting = 4
  const url = await start(t, { ...httpLimits, connections, keptAlive: 8, waiting })
  const port = Number(new URL(url).port)
  const call: Call = (method, path, body) =>
    caller(url)(method, path, body, { connection: 'close' })
  const operation = () => ({ status: 'CLIENT_CREATE', data: clientData(newName('C')) })
  const { body: accepted } = await call('POST', '/api/ledger/operate', operation())
  const path = `/api/ledger/track/${encodeURIComponent(accepted.tracking_id)}?wait=30`
  const callers = await Promise.all(Array.from({ length: connections }, () => connected(port)))
  t.teardown(() => {
    for (const socket of callers) socket.destroy()
  })
  const answers: string[] = []
  for (const socket of callers) void answerOn(socket, path).then(answer => answers.push(answer))
  await until(async () => answers.length === connections - waiting, 'the rest are answered')
  for (const answer of answers) t.match(answer, /^HTTP\/1.1 200 .*"processing"/s)

  t.match(await call('POST', '/api/ledger/operate', operation()), { status: 202 })
  t.match(await call('POST', '/api/webhooks/gateway_a', { event: 'x' }), { status: 200 })
  t.match(await call('GET', '/healthz'), { status: 200 })
  t.match(await call('GET', '/readyz'), { status: 200 })
  t.equal(answers.length, connections - waiting, 'the first ones are still waiting')
})

t.test('a waiting caller that disconnects makes room for another one', async t => {
  const url = await start(t, { ...httpLimits, waiting: 1 })
  const data = clientData(newName('C'))
  const call = caller(url)
  const { body } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  const path = `/api/ledger/track/${encodeURIComponent(body.tracking_id)}`
  const waitsASecond = async () => {
    const from = performance.now()
    await call('GET', `${path}?wait=1`)
    return performance.now() - from > 900
  }
  const port = Number(new URL(url).port)
  const gone: Socket[] = []
  await until(async () => {
    const socket = await connected(port)
    void answerOn(socket, `${path}?wait=30`)
    gone.push(socket)
    // A new connection's request takes longer to arrive than one on a connection that is open.
    await answerOn(await connected(port))
    return !(await waitsASecond())
  }, 'the only place is taken')
  for (const socket of gone) socket.destroy()
  t.ok(await until(waitsASecond))
})

t.test('an upload beyond the limit of concurrent ones is refused until one ends', async t => {
  const url = await start(t, { ...httpLimits, longCalls: 1 })
  const port = Number(new URL(url).port)
  const upload = () => caller(url)('POST', '/api/migration/upload', {})
  const slow = await connected(port)
  slow.write(
    `POST /api/migration/upload HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n` +
      'content-type: multipart/form-data; boundary=x\r\ntransfer-encoding: chunked\r\n\r\n',
  )
  t.ok(await until(async () => (await upload()).status === 503, 'one is refused'))
  const download = `/api/migration/${newId()}/errors.csv`
  t.equal((await caller(url)('GET', download)).status, 404, 'downloads have places of their own')
  slow.destroy()
  t.ok(await until(async () => (await upload()).status === 415, 'one is read again'))
})

t.test('a thousand callers that connect while the process is busy all get an answer', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const port = await freePort(0)
  const api = startProcessFor(t, 'api', testEnv(databaseUrl, NO_LEDGER, { PORT: String(port) }))
  await until(() => fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))
  api.child.kill('SIGSTOP')
  const open = await Promise.all(Array.from({ length: 1_000 }, () => connected(port)))
  api.child.kill('SIGCONT')
  const answers = await Promise.all(open.map(socket => answerOn(socket)))
  for (const socket of open) socket.destroy()
  t.equal(answers.filter(answer => answer.startsWith('HTTP/1.1 200 ')).length, open.length)
})

t.test('a client that disconnects in the middle of its body affects nobody else', async t => {
  const url = await start(t, httpLimits)
  const { port } = new URL(url)
  for (let i = 0; i < 20; i++) {
    const socket = await connected(Number(port))
    socket.write(`${HEAD}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"status":`)
    socket.resetAndDestroy()
  }
  t.equal((await caller(url)('GET', '/healthz')).status, 200)
})

t.test('a request during a stop gets a 503 problem that asks the caller to retry', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const env = testEnv(databaseUrl, NO_LEDGER, { ROLE: 'api' })
  const service = await startRole(readConfig(env), logger('silent'))
  const { hostname, port } = new URL(service.url)
  // Half a request, so that its connection is not idle and the stop leaves it open.
  const socket = connect(Number(port), hostname)
  const answer = new Promise<string>(resolve => {
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
  socket.write(`GET /api/ledger/operations HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n`)
  await fetch(`${service.url}/healthz`)
  const closed = service.close()
  await until(async () => (await fetch(`${service.url}/healthz`).catch(() => null)) === null)
  socket.write('\r\n')
  const whole = await answer
  await closed
  t.match(whole, /^HTTP\/1.1 503 /)
  t.match(whole, /^retry-after: 1\r$/im)
  t.match(problemIn(whole), { status: 503, code: 'UNAVAILABLE' })
})

t.test('an answer that a stop finds under way is the last on its connection', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const env = testEnv(databaseUrl, NO_LEDGER, { ROLE: 'api' })
  const service = await startRole(readConfig(env), logger('silent'))
  const call = caller(service.url)
  const wanted = { status: 'CLIENT_CREATE', data: clientData(newName('C')) }
  const { body } = await call('POST', '/api/ledger/operate', wanted)
  const track = `/api/ledger/track/${encodeURIComponent(body.tracking_id)}`
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const head = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n\r\n`
  socket.write(head('/healthz'))
  t.match(String((await once(socket, 'data'))[0]), /^connection: keep-alive\r$/im)
  socket.write(head(`${track}?wait=30`))
  await call('GET', track)
  const answer = text(socket)
  await service.close()
  t.match(await answer, /^HTTP\/1.1 200 .*^connection: close\r$/ims)
})

/** Sends a little at a time, as over a slow line, until another request has come to its end. */
async function* dribbled(bytes: Buffer, another: () => Promise<void>): AsyncGenerator<Uint8Array> {
  let at = 1
  yield bytes.subarray(0, at)
  let isOver = false
  void another().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await setTimeout(DRIBBLE_MS)
    if (at < bytes.length - 1) yield bytes.subarray(at, ++at)
  }
  yield bytes.subarray(at)
}
