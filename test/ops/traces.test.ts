import { execFile } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { fetchAll, gatewaySandbox } from '../support/books/gateways.ts'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { otlpReceiver } from '../support/ops/otlp-receiver.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { caller, operate, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Only after five seconds is a collector that hangs given up. */
const HELD_UP_MS = 4_000
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`
const CLIENT = {
  externalId: 'C-1',
  firstname: 'Zebedee',
  lastname: 'Quux',
  mobileNo: '+919812345678',
  activationDate: '05 January 2026',
}

/** A ledger that passes everything on, and remembers what it was asked with. */
async function listeningLedger(t: Test) {
  const sandbox = await startSandbox({ port: 0 })
  const heard: IncomingHttpHeaders[] = []
  const server = createServer(async (request, response) => {
    heard.push(request.headers)
    const body = Buffer.concat(await request.toArray())
    const { host: _, ...headers } = request.headers
    const answer = await fetch(new URL(request.url ?? '', sandbox.url), {
      method: request.method ?? 'GET',
      headers: Object.entries(headers).filter(
        ([name]) => !['connection', 'content-length'].includes(name),
      ) as [string, string][],
      ...(body.length > 0 ? { body } : {}),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await until(async () => server.listening)
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await sandbox.close()
  })
  const { pathname } = new URL(sandbox.url)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`, heard }
}

async function startTraced(t: Test, changes: NodeJS.ProcessEnv = {}) {
  const ledger = await listeningLedger(t)
  const los = await callbackReceiver(t)
  const { url, db } = await freshDatabase(t)
  const config = readConfig(testEnv(url, ledger.url, { ...los.settings, ...changes }))
  const service = await startRole(config, logger('silent'))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= service.close()
    return closing
  }
  t.teardown(close)
  return { ledger, los, db, call: caller(service.url), close }
}

const tracesOf = (list: IncomingHttpHeaders[]) =>
  new Set(list.map(({ traceparent }) => String(traceparent).split('-')[1]))

// Spans are sent every few seconds: each test waits for that.
t.jobs = 3

t.test('the caller’s trace goes on to the ledger and to the LOS, without a collector', async t => {
  const { ledger, los, call } = await startTraced(t)
  ledger.heard.length = 0
  await operate(call, 'CLIENT_CREATE', CLIENT, { traceparent: CALLER })
  await los.attempts(1)
  t.ok(ledger.heard.length > 0)
  t.same([...new Set(ledger.heard.map(({ traceparent }) => traceparent))], [CALLER])
  t.equal(los.received[0]?.headers.traceparent, CALLER)
})

t.test('an invalid traceparent starts a new trace, and a missing one starts none', async t => {
  const { ledger, los, call } = await startTraced(t)
  const wrong = [
    'x',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-00f067aa0ba902b7-01`,
    `${CALLER}-more`,
    CALLER.toUpperCase(),
  ]
  const seen = new Set<string | undefined>()
  for (const [i, traceparent] of wrong.entries()) {
    ledger.heard.length = 0
    await operate(call, 'CLIENT_CREATE', { ...CLIENT, externalId: `C-${i}` }, { traceparent })
    const traces = tracesOf(ledger.heard)
    t.equal(traces.size, 1)
    const [trace] = traces
    t.match(trace, /^(?!0{32})[0-9a-f]{32}$/)
    t.not(trace, TRACE)
    seen.add(trace)
  }
  t.equal(seen.size, wrong.length, 'each has its own')
  ledger.heard.length = 0
  await operate(call, 'CLIENT_CREATE', { ...CLIENT, externalId: 'C-9' })
  t.same([...new Set(ledger.heard.map(({ traceparent }) => traceparent))], [undefined])
  // Callbacks about different clients may arrive in any order.
  const callbacks = await los.attempts(wrong.length + 1)
  t.equal(callbacks.filter(({ headers }) => headers.traceparent === undefined).length, 1)
})

t.test('request, wait, attempt, ledger call and callback are in the caller’s trace', async t => {
  const otlp = await otlpReceiver(t)
  const { ledger, los, call, close } = await startTraced(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint,
  })
  await operate(call, 'CLIENT_CREATE', CLIENT, { traceparent: CALLER })
  await los.attempts(1)
  await close()
  const [request, wait, attempt, write, callback] = await otlp.named(
    'POST /api/ledger/operate',
    'wait CLIENT_CREATE',
    'attempt CLIENT_CREATE',
    'ledger POST clients',
    'callback operation.succeeded',
  )
  t.match(request, { traceId: TRACE, parentSpanId: '00f067aa0ba902b7' })
  for (const part of [wait, attempt, callback])
    t.match(part, { traceId: TRACE, parentSpanId: request?.spanId })
  t.match(write, { traceId: TRACE, parentSpanId: attempt?.spanId })
  t.ok(ledger.heard.some(({ traceparent }) => traceparent === `00-${TRACE}-${write?.spanId}-01`))
  t.equal(los.received[0]?.headers.traceparent, `00-${TRACE}-${callback?.spanId}-01`)
  t.ok(Number(wait?.endTimeUnixNano) >= Number(wait?.startTimeUnixNano))
})

t.test('traces are sent to a path under that of the collector, with its query', async t => {
  const otlp = await otlpReceiver(t)
  const endpoint = `${otlp.endpoint}/otlp/?token=of-ours`
  const { call, close } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  await operate(call, 'CLIENT_CREATE', CLIENT)
  await close()
  await otlp.named('attempt CLIENT_CREATE')
  t.same([...new Set(otlp.paths)], ['/otlp/v1/traces?token=of-ours'])
})

t.test('no span contains a name, a number or a path', async t => {
  const otlp = await otlpReceiver(t)
  const { call, close } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint })
  // No path of the ledger takes this id.
  const externalId = 'C/1 ज्ञ'
  await operate(call, 'CLIENT_CREATE', { ...CLIENT, externalId })
  await operate(call, 'CLIENT_CREATE', { ...CLIENT, externalId })
  await operate(call, 'CLIENT_UPDATE', { externalId, firstname: 'Florence' })
  await call('GET', `/api/ledger/operations?external_id=${encodeURIComponent(externalId)}`)
  await call('GET', '/api/nowhere/Zebedee')
  await close()
  await otlp.named('attempt CLIENT_UPDATE', 'GET none')
  const text = JSON.stringify(otlp.spans)
  const ids = [externalId, 'C%2F1', 'ज्ञ', encodeURIComponent('ज्ञ')]
  for (const secret of ['Zebedee', 'Quux', 'Florence', '9812345678', ...ids, 'token-for-tests'])
    t.notOk(text.includes(secret), secret)
})

t.test('a payment’s trace is linked to that of the batch that sent it', async t => {
  const otlp = await otlpReceiver(t)
  const service = await paymentService(t, { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint })
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-1' }), {
    lender: 'LENDER_02',
  })
  await service.batch()
  await otlp.named('batch', 'attempt REPAYMENT')
  const payment = otlp.spans.find(({ name }) => name === 'attempt REPAYMENT')
  const [link] = payment?.links ?? []
  t.ok(otlp.spans.some(({ name, traceId }) => name === 'batch' && traceId === link?.traceId))
  t.not(payment?.traceId, link?.traceId)
})

t.test('each call to a gateway is a part of its fetch', async t => {
  const otlp = await otlpReceiver(t)
  const gateways = await gatewaySandbox(t)
  const settings = { ...gateways.settings, OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint }
  const service = await paymentService(t, settings)
  await fetchAll(service.call, 'gateway_a')
  const [fetched, call] = await otlp.named('backfill', 'gateway GET payments')
  t.match(call, { traceId: fetched?.traceId, parentSpanId: fetched?.spanId })
})

t.test('a collector that hangs holds up neither requests nor a stop', async t => {
  const otlp = await otlpReceiver(t, () => undefined)
  const { call, close } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint })
  await operate(call, 'CLIENT_CREATE', CLIENT)
  await until(async () => otlp.paths.length > 0)
  for (let i = 0; i < 20; i++) {
    const since = performance.now()
    t.equal((await call('GET', '/healthz')).status, 200)
    t.ok(performance.now() - since < HELD_UP_MS)
  }
  const { status } = await operate(call, 'CLIENT_UPDATE', { externalId: 'C-1', firstname: 'Mira' })
  t.equal(status, 'success')
  const since = performance.now()
  await close()
  t.ok(performance.now() - since < 10_000, 'the flush is cut off')
})

t.test('the SDK is loaded only where traces are sent somewhere', async t => {
  const told = `import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) { if (url.includes('/sdk-trace/')) console.log(url); return next(url, context) } })`
  const opening = (endpoint: string) => `
    const { openTraces } = await import('./src/ops/traces/open-traces.ts')
    const traces = await openTraces({ ROLE: 'api', OTEL_EXPORTER_OTLP_ENDPOINT: ${endpoint} }, console)
    await traces.stop()`
  const loaded = async (endpoint: string) => {
    const hooks = `--import=data:text/javascript,${encodeURIComponent(told)}`
    const code = ['--input-type=module', '-e', opening(endpoint)]
    const env = { PATH: process.env.PATH }
    const { stdout } = await promisify(execFile)(process.execPath, [hooks, ...code], { env })
    return stdout
  }
  t.equal(await loaded('undefined'), '')
  t.match(await loaded('"http://127.0.0.1:9"'), /sdk-trace/)
})
