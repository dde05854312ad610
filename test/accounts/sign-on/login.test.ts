import { sql } from 'kysely'
import t from 'tap'
import { ADMIN, OPERATOR, startWithAccounts } from '../../support/accounts/admin.ts'

/** All tests share this service but those that count wrong passwords, which slow down later ones. */
const service = await startWithAccounts(t)

t.test('a username and its password get an access token', async t => {
  const { call } = service
  const { status, body } = await call('POST', '/api/account/login', OPERATOR)
  t.equal(status, 200)
  t.match(body, { token_type: 'Bearer', expires_in: 3_600, access_token: /^ey/ })
  t.equal(Object.keys(body).length, 3)
})

t.test('the case of a username does not matter', async t => {
  const { call } = service
  const { status } = await call('POST', '/api/account/login', { ...ADMIN, username: 'ADMIN' })
  t.equal(status, 200)
})

t.test('an unknown user and a wrong password get the same answer', async t => {
  const { call } = await startWithAccounts(t)
  for (const username of [ADMIN.username, 'nobody', "' or 1=1 --", 'no\u0001body']) {
    const { status, body } = await call('POST', '/api/account/login', { username, password: 'no' })
    t.equal(status, 401)
    t.match(body, { code: 'INVALID_CREDENTIALS', detail: 'Wrong username or password' })
  }
})

t.test('an unknown user takes as long as a wrong password', async t => {
  const { call } = await startWithAccounts(t)
  // This process hashes: unlike the time that passes, its CPU time hardly grows on a busy machine.
  const cpuTimeOf = async (username: string) => {
    const start = process.cpuUsage()
    await call('POST', '/api/account/login', { username, password: 'no' })
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  const wrong: number[] = []
  const unknown: number[] = []
  for (let i = 0; i < 4; i++) {
    wrong.push(await cpuTimeOf(ADMIN.username))
    unknown.push(await cpuTimeOf(`nobody-${i}`))
  }
  const ratio = Math.min(...unknown) / Math.min(...wrong)
  // A lookup alone takes a tenth of a hash.
  t.ok(ratio > 1 / 3 && ratio < 3, `${unknown} µs against ${wrong} µs`)
})

t.test('a password is stored as argon2id with OWASP’s parameters', async t => {
  const { db } = service
  const { rows } = await sql<{ password_hash: string }>`
    select password_hash from loanops.account`.execute(db)
  for (const { password_hash } of rows)
    t.match(
      password_hash,
      /^\$argon2id\$v=19\$m=19456,p=1,t=2\$|^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
    )
})

t.test('a hash with older parameters is replaced when its owner logs in', async t => {
  const { call, db } = service
  const { hash } = await import('argon2')
  const old = await hash(OPERATOR.password, { memoryCost: 1_024, timeCost: 2, parallelism: 1 })
  await sql`update loanops.account set password_hash = ${old}
    where username = ${OPERATOR.username}`.execute(db)
  t.equal((await call('POST', '/api/account/login', OPERATOR)).status, 200)
  const { rows } = await sql<{ password_hash: string }>`
    select password_hash from loanops.account where username = ${OPERATOR.username}`.execute(db)
  t.match(rows[0]?.password_hash, /m=19456/)
  t.equal((await call('POST', '/api/account/login', OPERATOR)).status, 200)
})

t.test('an invalid body is reported field by field', async t => {
  const { call } = service
  const { status, body } = await call('POST', '/api/account/login', { username: 7, extra: true })
  t.equal(status, 400)
  t.equal(body.code, 'INVALID_PAYLOAD')
  t.same(body.errors.map((error: { path: string }) => error.path).sort(), [
    '/extra',
    '/password',
    '/username',
  ])
})
