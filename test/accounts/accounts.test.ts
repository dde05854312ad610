import { sql } from 'kysely'
import t from 'tap'
import { type Account, findAccount } from '../../src/accounts/account.ts'
import { disableAccount } from '../../src/accounts/change-account.ts'
import {
  ADMIN,
  type Bearer,
  bearer,
  OPERATOR,
  startWithAccounts,
} from '../support/accounts/admin.ts'

const wanted = { username: 'ravi', password: 'yet another phrase', role: 'operator' }

/** All tests but those that change these accounts share this service. */
const { call, admin, operator } = await startWithAccounts(t)

t.test('an administrator creates an account, which can log in', async t => {
  const { status, body } = await call('POST', '/api/account/register', wanted, admin)
  t.equal(status, 201)
  t.match(body, { id: /^[0-9a-f-]{36}$/, username: 'ravi', role: 'operator', created_at: /Z$/ })
  t.equal(Object.keys(body).length, 4)
  t.equal((await call('POST', '/api/account/login', wantedLogin)).status, 200)
})

const { role: _, ...wantedLogin } = wanted

t.test('a username with blanks around it, as a phone leaves them, is the same name', async t => {
  const spaced = { ...wanted, username: ' spaced ' }
  const { status, body } = await call('POST', '/api/account/register', spaced, admin)
  t.match({ status, body }, { status: 201, body: { username: 'spaced' } })
  const login = { ...wantedLogin, username: '\u00a0spaced ' }
  t.equal((await call('POST', '/api/account/login', login)).status, 200)
})

t.test('a username is taken regardless of case', async t => {
  for (const username of [OPERATOR.username, 'Asha.RAO', 'internal-token']) {
    const body = { ...wanted, username }
    const answer = await call('POST', '/api/account/register', body, admin)
    t.equal(answer.status, 409)
    t.equal(answer.body.code, 'USERNAME_TAKEN')
  }
})

t.test('of two concurrent equal registrations, one succeeds', async t => {
  const twin = { ...wanted, username: 'twin' }
  const register = () => call('POST', '/api/account/register', twin, admin)
  const answers = await Promise.all([register(), register()])
  t.same(answers.map(({ status }) => status).sort(), [201, 409])
})

t.test('disabling an account ends its tokens at once, and nobody can log in to it', async t => {
  const { call, admin, operator } = await startWithAccounts(t)
  const change = { current_password: OPERATOR.password, new_password: 'a new pass phrase' }
  const path = `/api/account/${OPERATOR.username}/disable`
  t.equal((await call('POST', path, undefined, admin)).status, 204)
  const { status, body } = await call('POST', '/api/account/password', change, operator)
  t.equal(status, 401)
  t.equal(body.code, 'UNAUTHORIZED')
  const login = await call('POST', '/api/account/login', OPERATOR)
  t.equal(login.body.code, 'INVALID_CREDENTIALS')
  t.equal((await call('POST', path, undefined, admin)).status, 204, 'again')
})

t.test('the last enabled administrator cannot be disabled', async t => {
  const { call, db, admin } = await startWithAccounts(t)
  const disable = (username: string) =>
    call('POST', `/api/account/${username}/disable`, undefined, admin)
  const { status, body } = await disable(ADMIN.username)
  t.equal(status, 409)
  t.match(body, { code: 'CONFLICT', detail: /last enabled administrator/ })
  t.equal((await disable(OPERATOR.username)).status, 204, 'an operator can be')

  const other = { username: 'meera', password: 'one more pass phrase', role: 'admin' }
  t.equal((await call('POST', '/api/account/register', other, admin)).status, 201)
  const asker = { actor: 'both', caller: null, address: null, requestId: null }
  const both = await Promise.allSettled(
    [ADMIN.username, other.username].map(async username =>
      disableAccount(db, asker, (await findAccount(db, username)) as Account),
    ),
  )
  t.same(both.map(one => one.status).sort(), ['fulfilled', 'rejected'], 'of two at once, one')
})

t.test('an unknown account cannot be disabled', async t => {
  for (const name of ['nobody', '%00', '..%2fadmin']) {
    const { status, body } = await call('POST', `/api/account/${name}/disable`, undefined, admin)
    t.equal(status, 404)
    t.equal(body.code, 'NOT_FOUND')
  }
})

t.test('a new password applies from then on, and ends the other tokens', async t => {
  const { call, operator } = await startWithAccounts(t)
  const other = await bearer(call, OPERATOR)
  const change = { current_password: OPERATOR.password, new_password: 'a new pass phrase' }
  t.equal((await call('POST', '/api/account/password', change, operator)).status, 204)
  t.equal((await call('POST', '/api/account/login', OPERATOR)).status, 401)
  const login = { ...OPERATOR, password: change.new_password }
  t.equal((await call('POST', '/api/account/login', login)).status, 200)

  const back = { current_password: change.new_password, new_password: OPERATOR.password }
  t.equal((await call('POST', '/api/account/password', back, other)).status, 401)
  t.equal((await call('POST', '/api/account/password', back, operator)).status, 204)
})

t.test('the password cannot be changed without the current one', async t => {
  const change = { current_password: 'wrong', new_password: 'a new pass phrase' }
  const { status, body } = await call('POST', '/api/account/password', change, operator)
  t.equal(status, 401)
  t.equal(body.code, 'INVALID_CREDENTIALS')
  t.equal((await call('POST', '/api/account/login', OPERATOR)).status, 200)
})

t.test('a password that everybody would try is refused, wherever one is chosen', async t => {
  for (const [username, password, reason] of [
    ['meera', '1Q2w3e4r5t6y', /common/],
    ['meera.krishnan', 'Meera.Krishnan', /username/],
    ['meera', 'aaaaaaaaaaaaaaaa', /one character/],
  ] as const) {
    const body = { username, password, role: 'viewer' }
    const answer = await call('POST', '/api/account/register', body, admin)
    t.equal(answer.status, 400, password)
    t.match(answer.body.errors, [{ path: '/password', message: reason }])
  }
  for (const [new_password, reason] of [
    [OPERATOR.password, /old password/],
    ['1q2w3e4r5t6y', /common/],
  ] as const) {
    const change = { current_password: OPERATOR.password, new_password }
    const answer = await call('POST', '/api/account/password', change, operator)
    t.equal(answer.status, 400, new_password)
    t.match(answer.body.errors, [{ path: '/new_password', message: reason }])
  }
})

t.test('a reset password opens nothing but its own change', async t => {
  const { call, db, admin, operator } = await startWithAccounts(t)
  const reset = (username: string, by: Bearer) =>
    call('POST', `/api/account/${username}/reset`, undefined, by)
  t.equal((await reset(ADMIN.username, operator)).status, 403, 'an operator resets none')
  const { status, body } = await reset(OPERATOR.username, admin)
  t.equal(status, 200)
  t.match(body.password, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
  const pause = (by: Bearer) => call('POST', '/api/ledger/pause', { reason: 'test' }, by)
  t.equal((await pause(operator)).status, 401, 'the old tokens have ended')
  t.equal((await call('POST', '/api/account/login', OPERATOR)).status, 401, 'the old password too')

  const once = await bearer(call, { ...OPERATOR, password: body.password })
  t.match((await pause(once)).body, { status: 401, detail: /can only change it/ })
  const change = { current_password: body.password, new_password: 'chosen after the reset' }
  t.equal((await call('POST', '/api/account/password', change, once)).status, 204)
  t.equal((await pause(once)).status, 200)
  const { rows } = await sql`
    select actor, subject, detail from ops.audit where action = 'account.reset'`.execute(db)
  t.same(rows, [{ actor: ADMIN.username, subject: OPERATOR.username, detail: {} }])
})

t.test('no password of an unknown or disabled account is reset', async t => {
  const { call, admin } = await startWithAccounts(t)
  const reset = (username: string) =>
    call('POST', `/api/account/${username}/reset`, undefined, admin)
  t.equal((await reset('nobody')).status, 404)
  await call('POST', `/api/account/${OPERATOR.username}/disable`, undefined, admin)
  t.equal((await reset(OPERATOR.username)).status, 409)
})

t.test('a new account needs a valid name, a long password and a known role', async t => {
  const bad = { username: '../admin', password: 'short', role: 'root' }
  const { status, body } = await call('POST', '/api/account/register', bad, admin)
  t.equal(status, 400)
  t.same(body.errors.map((error: { path: string }) => error.path).sort(), [
    '/password',
    '/role',
    '/username',
  ])
  t.notMatch(JSON.stringify(body), 'short')
  t.equal((await call('POST', '/api/account/login', ADMIN)).status, 200)
})
