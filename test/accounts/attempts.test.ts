import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log.ts'
import { startRole } from '../../src/role.ts'
import { ADMIN, OPERATOR, startWithAccounts } from '../support/admin.ts'
import { type Call, caller, testEnv } from '../support/service.ts'

const login = (call: Call, username: string, password = 'wrong') =>
  call('POST', '/api/account/login', { username, password })
const times = (n: number) => Array.from({ length: n }, (_, i) => i)

t.test('after repeated failures a username has to wait, in every process', async t => {
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

t.test('a name no account can have never matches one, whatever the collation', async t => {
  const { call, db } = await startWithAccounts(t)
  // Some collations match admin with it, so that guesses would not be counted for admin; this one matches it exactly.
  await sql`update loanops.account set username = 'admİn' where username = ${ADMIN.username}`.execute(
    db,
  )
  t.equal((await login(call, 'admİn', ADMIN.password)).status, 401)
})

t.test('an address that tries many usernames has to wait', async t => {
  const { call } = await startWithAccounts(t)
  for (const i of times(50)) t.equal((await login(call, `nobody-${i}`)).status, 401)
  t.equal((await login(call, ADMIN.username, ADMIN.password)).status, 429)
})

t.test('what is stored about a failed login does not reveal what was typed', async t => {
  const { call, db } = await startWithAccounts(t)
  await login(call, 'a-password-in-the-wrong-field')
  const { rows } = await sql<{ key: string }>`select key from loanops.login_attempt`.execute(db)
  t.equal(rows.length, 2)
  t.notMatch(JSON.stringify(rows), 'wrong-field')
})
