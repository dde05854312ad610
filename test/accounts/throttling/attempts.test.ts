import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { ADMIN, OPERATOR, startWithAccounts } from '../../support/accounts/admin.ts'
import { type Call, caller, testEnv } from '../../support/service.ts'

const login = (call: Call, username: string, password = 'wrong', address = '127.0.0.1') =>
  call('POST', '/api/account/login', { username, password }, { 'x-forwarded-for': address })
const times = (n: number) => Array.from({ length: n }, (_, i) => i)

t.test('after repeated failures, a username waits at that address, in every process', async t => {
  const first = await startWithAccounts(t)
  const config = readConfig(testEnv(first.databaseUrl, first.ledger.url, { ROLE: 'api' }))
  const second = await startRole(config, logger('silent'))
  t.teardown(() => second.close())

  for (const _ of times(5)) t.equal((await login(first.call, ADMIN.username)).status, 401)
  for (const call of [first.call, caller(second.url)]) {
    const { status, body, headers } = await login(call, ADMIN.username, ADMIN.password)
    t.equal(status, 429)
    t.equal(body.code, 'TOO_MANY_ATTEMPTS')
    const wait = Number(headers.get('retry-after'))
    t.ok(wait > 800 && wait <= 900, `Retry-After ${wait}`)
  }
  t.equal((await login(first.call, OPERATOR.username, OPERATOR.password)).status, 200)
})

t.test('simultaneous failures are counted one by one', async t => {
  const { call } = await startWithAccounts(t)
  const answers = await Promise.all(times(20).map(() => login(call, ADMIN.username)))
  t.equal(answers.filter(({ status }) => status === 401).length, 5)
  t.equal(answers.filter(({ status }) => status === 429).length, 15)
})

t.test('simultaneous correct logins all succeed', async t => {
  const { call } = await startWithAccounts(t)
  const answers = await Promise.all(
    times(20).map(() => login(call, ADMIN.username, ADMIN.password)),
  )
  for (const { status } of answers) t.equal(status, 200)
})

t.test('a success resets the failures of its username', async t => {
  const { call } = await startWithAccounts(t)
  for (const _ of times(4)) await login(call, ADMIN.username)
  t.equal((await login(call, ADMIN.username, ADMIN.password)).status, 200)
  for (const _ of times(4)) t.equal((await login(call, ADMIN.username)).status, 401)
})

t.test(
  'a login by a name that no account may have is refused, whatever the collation takes it for',
  async t => {
    const { call, db } = await startWithAccounts(t)
    // Some collations match admin with it, so that guesses would not be counted for admin; this one matches it exactly.
    await sql`
      update loanops.account set username = 'admİn' where username = ${ADMIN.username}`.execute(db)
    t.equal((await login(call, 'admİn', ADMIN.password)).status, 401)
  },
)

t.test('failures elsewhere do not keep an account out', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  for (const _ of times(5)) await login(call, ADMIN.username, 'wrong', '203.0.113.1')
  t.equal((await login(call, ADMIN.username, ADMIN.password, '203.0.113.1')).status, 429)
  t.equal((await login(call, ADMIN.username, ADMIN.password, '203.0.113.2')).status, 200)
})

t.test('an address that tries many usernames has to wait, but not those known there', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  const office = '203.0.113.1'
  const asOperator = () => login(call, OPERATOR.username, OPERATOR.password, office)
  t.equal((await asOperator()).status, 200)
  // Half of them at a time, which is as many as may wait.
  for (const half of ['a', 'b']) {
    const failures = times(25).map(i => login(call, `nobody-${half}${i}`, 'x', office))
    for (const { status } of await Promise.all(failures)) t.equal(status, 401)
  }
  t.equal((await login(call, ADMIN.username, ADMIN.password, office)).status, 429)
  t.equal((await asOperator()).status, 200)
  for (const _ of times(5))
    t.equal((await login(call, OPERATOR.username, 'wrong', office)).status, 401)
  t.equal((await asOperator()).status, 429, 'its own failures count')
})

t.test('a username that fails from many addresses is slowed down, not locked', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  const home = '198.51.100.1'
  const asAdmin = (address: string) => login(call, ADMIN.username, ADMIN.password, address)
  t.equal((await asAdmin(home)).status, 200)
  for (const i of times(20)) await login(call, ADMIN.username, 'wrong', `203.0.113.${i}`)
  const guesses = await Promise.all(
    times(8).map(i => login(call, ADMIN.username, 'wrong', `203.0.113.${100 + i}`)),
  )
  t.same(guesses.map(({ status }) => status).sort(), [401, 401, 401, 429, 429, 429, 429, 429])
  const started = performance.now()
  t.equal((await asAdmin('198.51.100.2')).status, 200, 'at an address of its own')
  t.ok(performance.now() - started > 900, 'after a second')
  const others = times(8).map(i => login(call, ADMIN.username, 'wrong', `203.0.113.${200 + i}`))
  t.equal((await asAdmin(home)).status, 200, 'at a known address, whatever others try')
  await Promise.all(others)
})

t.test('one address alone cannot fill the queue for logins', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  const burst = times(200).map(i => login(call, `nobody${i}`, 'wrong', '203.0.113.9'))
  const genuine = times(3).map(() =>
    login(call, OPERATOR.username, OPERATOR.password, '198.51.100.7'),
  )
  for (const { status } of await Promise.all(genuine)) t.equal(status, 200)
  for (const { status } of await Promise.all(burst)) t.ok([401, 429, 503].includes(status))
})

t.test('many addresses that fill the queue keep nobody out who is known', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  const asOperator = () => login(call, OPERATOR.username, OPERATOR.password, '198.51.100.7')
  t.equal((await asOperator()).status, 200)
  const burst = times(300).map(i => login(call, `nobody${i}`, 'wrong', `203.0.113.${i % 20}`))
  // The queue is full once one of them is refused.
  await Promise.any(burst.map(async one => (await one).status === 503 || Promise.reject()))
  for (const { status } of await Promise.all(times(6).map(asOperator))) t.equal(status, 200)
  await Promise.all(burst)
})

t.test('each caller behind an IPv6 translator is counted apart', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  for (const _ of times(5)) await login(call, ADMIN.username, 'wrong', '64:ff9b::c000:201')
  const statusAt = async (address: string) =>
    (await login(call, ADMIN.username, ADMIN.password, address)).status
  t.equal(await statusAt('64:ff9b::c000:201'), 429)
  t.equal(await statusAt('64:ff9b::c000:202'), 200)
})

t.test('throttled attempts take no place in the queue of others', async t => {
  const { call } = await startWithAccounts(t, { TRUST_PROXY: '127.0.0.1' })
  const attacker = '203.0.113.1'
  for (const _ of times(5)) await login(call, ADMIN.username, 'wrong', attacker)
  const flood = times(200).map(() => login(call, ADMIN.username, 'wrong', attacker))
  const genuine = times(6).map(() => login(call, OPERATOR.username, OPERATOR.password))
  for (const { status } of await Promise.all(genuine)) t.equal(status, 200)
  for (const { status } of await Promise.all(flood)) t.equal(status, 429)
})

t.test('an administrator can unlock a username', async t => {
  const { call, db, admin, operator } = await startWithAccounts(t)
  const unlock = (username: string, by = admin) =>
    call('POST', `/api/account/${username}/unlock`, undefined, by)
  for (const _ of times(5)) await login(call, OPERATOR.username)
  t.equal((await login(call, OPERATOR.username, OPERATOR.password)).status, 429)
  t.equal((await unlock(OPERATOR.username, operator)).status, 403, 'no operator')
  t.equal((await unlock(OPERATOR.username.toUpperCase())).status, 204)
  t.equal((await login(call, OPERATOR.username, OPERATOR.password)).status, 200)
  t.equal((await unlock('nobody')).status, 404)
  const { rows } = await sql`
    select actor, subject from ops.audit where action = 'account.unlock'`.execute(db)
  t.same(rows, [{ actor: ADMIN.username, subject: OPERATOR.username }])
})

t.test('the record of a failed login does not reveal the text that was typed', async t => {
  const { call, db } = await startWithAccounts(t)
  await login(call, 'a-password-in-the-wrong-field')
  const { rows } = await sql<{ key: string }>`
    select key from loanops.login_attempt where key !~ '^known:'`.execute(db)
  t.equal(rows.length, 3)
  t.notMatch(JSON.stringify(rows), 'wrong-field')
})
