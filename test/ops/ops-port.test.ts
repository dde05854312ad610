import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { startWithConsole } from '../support/console/console.ts'
import { startTestService } from '../support/service.ts'

const FOR_OPERATORS = ['/metrics', '/openapi.json', '/docs', '/docs/static/index.css']
const FOR_CALLERS = ['/api/ledger/operations', '/api/no/such/path', '/console', '/console/login']

t.test('the routes for operators alone are served on OPS_PORT, and no others are', async t => {
  const port = await freePort(0)
  const settings = { ROLE: 'api', DOCS_ENABLED: 'true', OPS_PORT: String(port) }
  const { url } = await startWithConsole(t, settings)
  const ops = `http://127.0.0.1:${port}`
  const get = (base: string, path: string) => fetch(base + path, { redirect: 'manual' })
  for (const path of FOR_OPERATORS) {
    t.equal((await get(url, path)).status, 404, `${path} on PORT`)
    t.equal((await get(ops, path)).status, 200, `${path} on OPS_PORT`)
  }
  for (const path of FOR_CALLERS) t.equal((await get(ops, path)).status, 404, `${path} on OPS_PORT`)
  for (const base of [url, ops]) t.equal((await get(base, '/healthz')).status, 200)
  t.same(await (await get(url, '/readyz')).json(), { status: 'ready' })
  t.match(await (await get(ops, '/readyz')).json(), { status: 'ready', database: 'ok', stuck: [] })
})

t.test('without OPS_PORT, everything is served on PORT', async t => {
  const { call } = await startTestService(t, { ROLE: 'worker' })
  t.equal((await call('GET', '/metrics')).status, 200)
  t.match((await call('GET', '/readyz')).body, { status: 'ready', database: 'ok' })
})
