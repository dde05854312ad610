import { sql } from 'kysely'
import t from 'tap'
import { audit } from '../../src/accounts/audit.ts'
import { ADMIN, bearer, OPERATOR, startWithAccounts } from '../support/accounts/admin.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { matchEach } from '../support/match-each.ts'
import { startTestService } from '../support/service.ts'

const asker = { actor: 'asha', caller: null, address: '10.0.0.7', requestId: 'r-1' }

t.test('the audit records account actions with actor, subject, address and request', async t => {
  const first = { ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password }
  const { call, db } = await startTestService(t, { ROLE: 'api', ...first })
  const admin = await bearer(call, ADMIN)
  await call('POST', '/api/account/register', { ...OPERATOR, role: 'operator' }, admin)
  const operator = await bearer(call, OPERATOR)
  const change = { current_password: OPERATOR.password, new_password: 'a new pass phrase' }
  await call('POST', '/api/account/password', change, operator)
  await call('POST', `/api/account/${OPERATOR.username}/disable`, undefined, admin)

  const { rows } = await sql<{ address: string; request_id: string; at: Date }>`
    select actor, action, subject, address, request_id, detail, at from ops.audit
     order by id`.execute(db)
  matchEach(t, rows, [
    { actor: 'setting ADMIN_USERNAME', action: 'account.register', subject: ADMIN.username },
    { actor: 'admin', action: 'account.login', subject: ADMIN.username },
    { actor: 'admin', action: 'account.register', subject: OPERATOR.username },
    { actor: OPERATOR.username, action: 'account.login', subject: OPERATOR.username },
    { actor: OPERATOR.username, action: 'account.password', subject: OPERATOR.username },
    { actor: 'admin', action: 'account.disable', subject: OPERATOR.username },
  ])
  t.equal(rows.length, 6)
  for (const { address, request_id, at } of rows.slice(1)) {
    t.equal(address, '127.0.0.1')
    t.match(request_id, /^[0-9a-f-]{36}$/)
    t.ok(Date.now() - at.getTime() < 60_000)
  }
  t.notMatch(JSON.stringify(rows), /pass phrase|argon2/)
})

t.test('the audit records a failed login without anything that was typed', async t => {
  const { call, db, admin, operator } = await startWithAccounts(t)
  await call('POST', `/api/account/${OPERATOR.username}/disable`, undefined, admin)
  const typed = 'typed in the wrong field'
  await call('POST', '/api/account/login', { username: 'ADMIN', password: typed })
  await call('POST', '/api/account/login', { username: typed, password: typed }, admin)
  await call('POST', '/api/account/login', OPERATOR, operator)
  const change = { current_password: typed, new_password: `${typed} again` }
  await call('POST', '/api/account/password', change, admin)

  const { rows } = await sql`
    select actor, subject, host(address) as address, request_id, detail from ops.audit
     where action = 'account.login_failed' order by id`.execute(db)
  const from = { address: '127.0.0.1', request_id: /^[0-9a-f-]{36}$/, detail: {} }
  matchEach(t, rows, [
    { actor: 'internal-token', subject: ADMIN.username, ...from },
    { actor: 'internal-token', subject: 'no account', ...from },
    { actor: 'internal-token', subject: OPERATOR.username, ...from },
    { actor: ADMIN.username, subject: ADMIN.username, ...from },
  ])
  t.notMatch(JSON.stringify(rows), typed)
})

t.test('throttled attempts add nothing to the audit', async t => {
  const { call, db } = await startWithAccounts(t)
  const wrong = { username: ADMIN.username, password: 'wrong' }
  const answers = []
  for (let i = 0; i < 7; i++) answers.push(await call('POST', '/api/account/login', wrong))
  t.same(
    answers.map(({ status }) => status),
    [401, 401, 401, 401, 401, 429, 429],
  )
  const { rows } = await sql`
    select from ops.audit where action = 'account.login_failed'`.execute(db)
  t.equal(rows.length, 5)
})

t.test('a login that cannot be recorded gets no token, and a wrong one still counts', async t => {
  const { call, db } = await startWithAccounts(t)
  await sql`revoke insert on loanops.audit from loanops_runtime`.execute(db)
  for (const password of [ADMIN.password, 'wrong']) {
    const { status, body } = await call('POST', '/api/account/login', { ...ADMIN, password })
    t.same([status, body.code, body.access_token], [500, 'INTERNAL', undefined])
  }
  const { rows } =
    await sql`select points from loanops.login_attempt where key like 'pair:%'`.execute(db)
  t.same(rows, [{ points: 1 }])
})

t.test('a refused action leaves no audit entry', async t => {
  const { call, db, admin, operator } = await startWithAccounts(t)
  const count = async () =>
    (await sql<{ n: string }>`select count(*) as n from ops.audit`.execute(db)).rows[0]?.n
  const before = await count()
  const wanted = { ...OPERATOR, role: 'operator' }
  t.equal((await call('POST', '/api/account/register', wanted, admin)).status, 409)
  t.equal((await call('POST', '/api/account/register', wanted, operator)).status, 403)
  t.equal(await count(), before)
})

t.test('an audit entry is rolled back with the action that it records', async t => {
  const { db } = await freshDatabase(t)
  const attempt = db.transaction().execute(async trx => {
    await audit(trx, { ...asker, action: 'payment.assign', subject: 'gateway_a/pay_1' })
    throw new Error('the fact fails')
  })
  await t.rejects(attempt, { message: 'the fact fails' })
  const { rows } = await sql`select from ops.audit`.execute(db)
  t.equal(rows.length, 0)
})

t.test('the database refuses to update, delete or truncate the audit', async t => {
  const { db } = await freshDatabase(t)
  await db
    .transaction()
    .execute(trx => audit(trx, { ...asker, action: 'batch.run', subject: 'b-1', detail: { n: 1 } }))
  for (const statement of [
    sql`update loanops.audit set actor = 'nobody'`,
    sql`delete from loanops.audit`,
    sql`truncate loanops.audit`,
    sql`update ops.audit set actor = 'nobody'`,
  ])
    await t.rejects(statement.execute(db), { message: /append-only/ })
  const { rows } = await sql`select actor, detail from ops.audit`.execute(db)
  t.same(rows, [{ actor: 'asha', detail: { n: 1 } }])
})
