import { spawnSync } from 'node:child_process'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { MAIN } from '../support/main.ts'
import { processEnv } from '../support/process.ts'
import { caller, NO_LEDGER, testEnv } from '../support/service.ts'

const password = 'a pass phrase for tests'

t.test(
  'create-admin creates an administrator with the given name and the password on standard input',
  async t => {
    const { url } = await freshDatabase(t)
    const made = createAdmin(url, ['--username', 'root'], `${password}\n`)
    t.equal(made.status, 0)
    t.notMatch(made.output, password)
    const { call } = await start(t, url)
    t.equal((await call('POST', '/api/account/login', { username: 'root', password })).status, 200)

    const again = createAdmin(url, ['--username', 'ROOT'], 'another pass phrase')
    t.equal(again.status, 1)
    t.match(again.output, /^The account ROOT already exists$/m)
  },
)

t.test('create-admin says what is wrong with a name or a password', async t => {
  const { url, db } = await freshDatabase(t)
  t.match(createAdmin(url, [], password), { status: 1, output: /--username must be/ })
  t.match(createAdmin(url, ['--username', 'a b'], password), { status: 1, output: /--username/ })
  t.match(createAdmin(url, ['--username', 'root'], 'short'), {
    status: 1,
    output: /^The password must be a text of 12 to 256 characters$/m,
  })
  t.match(createAdmin(url, ['--username', 'root'], '1q2w3e4r5t6y'), {
    status: 1,
    output: /^The password must not be a common password$/m,
  })
  t.equal((await sql`select from loanops.account`.execute(db)).rows.length, 0)
})

t.test('concurrent starts create one first administrator, and later ones create none', async t => {
  const { url, db } = await freshDatabase(t)
  const first = { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: password }
  await Promise.all([start(t, url, first), start(t, url, first), start(t, url, first)])
  const { call } = await start(t, url, { ...first, ADMIN_PASSWORD: 'a changed pass phrase' })
  for (const table of [sql`loanops.account`, sql`ops.audit`])
    t.equal((await sql`select from ${table}`.execute(db)).rows.length, 1)
  t.equal((await call('POST', '/api/account/login', { username: 'admin', password })).status, 200)
})

t.test('a common password in ADMIN_PASSWORD stops the first start', async t => {
  const { url, db } = await freshDatabase(t)
  const common = { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: '1q2w3e4r5t6y' }
  await t.rejects(start(t, url, common), {
    message: 'ADMIN_PASSWORD must not be a common password',
  })
  t.equal((await sql`select from loanops.account`.execute(db)).rows.length, 0)
})

t.test('a start without the settings creates no administrator', async t => {
  const { url, db } = await freshDatabase(t)
  await start(t, url)
  t.equal((await sql`select from loanops.account`.execute(db)).rows.length, 0)
})

t.test('a name that no account could have stops the start', async t => {
  const env = testEnv('postgres://nobody@localhost/none', NO_LEDGER, { ADMIN_USERNAME: 'a b' })
  t.throws(() => readConfig(env), { message: /^ADMIN_USERNAME is invalid/ })
})

t.test('each secret in a list must be long enough', async t => {
  const [url, long] = ['postgres://nobody@localhost/none', 'x'.repeat(40)]
  const env = testEnv(url, NO_LEDGER, {
    INTERNAL_TOKEN: `${long},short`,
    JWT_SECRET: `short,${long}`,
  })
  t.throws(() => readConfig(env), {
    message: /^INTERNAL_TOKEN is invalid.*\nJWT_SECRET is invalid/,
  })
})

function createAdmin(url: string, flags: string[], input: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'create-admin', ...flags], {
    encoding: 'utf8',
    input,
    env: { ...processEnv, DATABASE_URL: url },
  })
  return { status, output: stdout + stderr }
}

async function start(t: Test, url: string, changes: NodeJS.ProcessEnv = {}) {
  const config = readConfig(testEnv(url, NO_LEDGER, { ROLE: 'api', ...changes }))
  const service = await startRole(config, logger('silent'))
  t.teardown(() => service.close())
  return { call: caller(service.url) }
}
