import { connect } from 'node:net'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { startRole } from '../../../src/role.ts'
import { ADMIN, bearer, OPERATOR } from '../../support/accounts/admin.ts'
import { browser } from '../../support/console/console.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { matchEach } from '../../support/match-each.ts'
import { type Call, caller, NO_LEDGER, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const times = (n: number) => Array.from({ length: n }, (_, i) => i)
const guess = (call: Call, n: number) =>
  call('GET', '/api/ledger/operations', undefined, { 'x-internal-token': `a wrong token ${n}` })

t.test('a refused call is one line in the log, without what it sent', async t => {
  const { call, refusals, metrics } = await startLogged(t)
  const headers = await bearer(call, ADMIN)
  await call('POST', '/api/account/register', { ...OPERATOR, role: 'viewer' }, headers)
  const viewer = await bearer(call, OPERATOR)
  await guess(call, 1)
  await call('POST', '/api/ledger/pause', { reason: 'mrkd' }, viewer)
  for (const _ of times(6))
    await call('POST', '/api/account/login', { username: 'mrkd', password: 'mrkd' })
  const from = { address: '127.0.0.1', reqId: /^[0-9a-f-]{36}$/, level: 40 }
  matchEach(t, refusals, [
    { ...from, reason: 'unauthorized', route: '/api/ledger/operations' },
    { ...from, reason: 'forbidden', route: '/api/ledger/pause' },
    { ...from, reason: 'throttled', route: '/api/account/login' },
  ])
  t.notMatch(JSON.stringify(refusals), /wrong token|mrkd|Bearer/)
  const shown = await metrics()
  for (const [reason, calls] of Object.entries({ unauthorized: 6, forbidden: 1, throttled: 1 }))
    t.match(shown, `loanops_refused_calls_total{reason="${reason}"} ${calls}`)
})

t.test('guessing tokens becomes slow, and calls with the right one do not', async t => {
  const { call, refusals } = await startLogged(t)
  for (const i of times(20)) t.equal((await guess(call, i)).status, 401)
  const started = performance.now()
  const slow = guess(call, 20)
  t.equal((await call('GET', '/api/ledger/operations')).status, 200)
  t.equal(await Promise.race([slow.then(() => 'answered'), 'held back']), 'held back')
  t.equal((await slow).status, 401)
  t.ok(performance.now() - started > 900)
  t.equal(refusals.length, 1, 'a flood is one line a minute')
})

t.test('whoever keeps failing is answered late, however they fail', async t => {
  const { url, call } = await startLogged(t)
  const admin = await bearer(call, ADMIN)
  await call('POST', '/api/account/register', { ...OPERATOR, role: 'viewer' }, admin)
  const viewer = await bearer(call, OPERATOR)
  for (const i of times(20)) await guess(call, i)
  const wrong = { 'x-internal-token': 'wrong' }
  const failures = {
    'a token in a path that cannot be read': call('GET', '/api/payments/%zz', undefined, wrong),
    'an access token': call('GET', '/api/payments', undefined, { authorization: 'Bearer x' }),
    'a role': call('POST', '/api/ledger/pause', { reason: 'x' }, viewer),
    'a password': call('POST', '/api/account/login', { username: 'x', password: 'x' }),
    'a password on the console': browser(url)('/console/login', { username: 'x', password: 'x' }),
  }
  const held = new Set(Object.keys(failures))
  for (const [name, failure] of Object.entries(failures)) failure.then(() => held.delete(name))
  const right = times(3).map(() => call('GET', '/api/ledger/operations', undefined, admin))
  for (const { status } of await Promise.all(right)) t.equal(status, 200)
  t.equal(held.size, 5, 'those that succeed are not delayed')
  for (const [name, failure] of Object.entries(failures))
    t.ok([401, 403].includes((await failure).status), name)
})

t.test('a flood of guesses on one connection costs the connection', async t => {
  const { url, call } = await startLogged(t)
  const guesses = 1_200
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /api/x HTTP/1.1\r\nhost: x\r\nx-internal-token: wrong\r\n\r\n'.repeat(guesses))
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  // It may end by a reset, which is what is wanted.
  await new Promise(resolve => socket.on('error', resolve).on('close', resolve))
  const answers = received.split('HTTP/1.1 401').length - 1
  t.ok(answers < guesses / 2, `${answers} answers`)
  t.equal((await call('GET', '/api/ledger/operations')).status, 200)
})

t.test('a wrong token in a path that cannot be read is counted and logged too', async t => {
  const { call, refusals, metrics } = await startLogged(t)
  const wrong = { 'x-internal-token': 'wrong' }
  t.equal((await call('GET', '/api/payments/%zz', undefined, wrong)).status, 401)
  t.equal(refusals.length, 1)
  t.match(await metrics(), 'loanops_refused_calls_total{reason="unauthorized"} 1')
})

t.test('a caller that hangs up before it is refused is counted too', async t => {
  const { url, call, refusals, metrics } = await startLogged(t)
  for (const i of times(20)) await guess(call, i)
  const gone = new AbortController()
  const headers = { 'x-internal-token': 'a wrong token' }
  const refused = fetch(`${url}/api/ledger/operations`, { headers, signal: gone.signal })
  // Held back: a later call is answered first.
  t.equal((await call('GET', '/api/ledger/operations')).status, 200)
  gone.abort()
  await t.rejects(refused)
  await until(async () =>
    (await metrics()).includes('loanops_refused_calls_total{reason="unauthorized"} 21'),
  )
  t.equal(refusals.length, 1)
})

async function startLogged(t: Test) {
  const { url } = await freshDatabase(t)
  const refusals: object[] = []
  const write = (line: string) => {
    const entry = JSON.parse(line)
    if (entry.msg === 'call refused') refusals.push(entry)
  }
  const settings = {
    ROLE: 'api',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    CONSOLE_ENABLED: 'true',
  }
  const config = readConfig(testEnv(url, NO_LEDGER, settings))
  const service = await startRole(config, pino({ level: 'warn' }, { write }))
  t.teardown(() => service.close())
  const metrics = async () => (await fetch(`${service.url}/metrics`)).text()
  return { url: service.url, call: caller(service.url), refusals, metrics }
}
