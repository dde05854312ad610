import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { openGatewayCaller } from '../../src/books/apis/gateway-call.ts'
import { proxyOf } from '../../src/config/proxy.ts'
import { openMetrics } from '../../src/ops/metrics.ts'
import { openPath } from '../support/path.ts'
import { until } from '../support/until.ts'

const PATIENCE = { retryAfterMs: [10, 10, 10], timeoutMs: 300, atOnce: 1 }
const ASK = { method: 'GET', path: '/payments' } as const

t.test('a gateway whose connection died silently is asked again on another one', async t => {
  const { path, gateway, shown } = await callerThrough(t)
  t.same(await gateway.call(ASK), {})
  path.inflict('silent', 'existing')
  t.same(await gateway.call(ASK), {})
  t.equal(await shown(), 0)
})

t.test('a gateway that does not answer shows in the metrics, through all tries', async t => {
  const { path, gateway, shown } = await callerThrough(t)
  path.inflict('silent', 'both')
  const asked = gateway.call(ASK)
  await until(async () => (await shown()) > PATIENCE.timeoutMs / 1_000)
  path.heal()
  t.same(await asked, {})
})

t.test('a response beyond the limit ends the call at once, and the next one is made', async t => {
  const beyond = `"${'x'.repeat(16 * 1024 * 1024)}"`
  const { gateway, answers, shown } = await callerThrough(t, { timeoutMs: 10_000 })
  answers.push(beyond, '{"the": "next"}')
  await t.rejects(gateway.call(ASK), /the response is too large/)
  t.equal(await shown(), 0, 'it has answered')
  t.same(await gateway.call(ASK), { the: 'next' })
})

/** A caller of a gateway, the path between them, and the metric that shows its unanswered calls. */
async function callerThrough(t: Test, patience = {}) {
  const answers: string[] = []
  const server = createServer((_, response) => response.end(answers.shift() ?? '{}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const path = await openPath({ host: '127.0.0.1', port })
  const { unanswered, registry } = openMetrics()
  const follower = {
    trace: undefined,
    during: <T>(call: () => Promise<T>) => unanswered.during('gateway_a', call),
  }
  const url = `http://127.0.0.1:${path.port}`
  const gateway = openGatewayCaller({ url, headers: {}, proxy: proxyOf({}) }, follower, {
    ...PATIENCE,
    ...patience,
  })
  t.teardown(async () => {
    await gateway.close()
    path.close()
    server.close()
  })
  const shown = async () => {
    const text = await registry.metrics()
    return Number(/^loanops_unanswered_seconds\{of="gateway_a"\} (\S+)/m.exec(text)?.[1])
  }
  return { path, gateway, shown, answers }
}
