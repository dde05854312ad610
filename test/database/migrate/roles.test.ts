import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { allQueues } from '../../../src/worker.ts'
import { connected, startServer } from '../../support/database/separate-postgres.ts'
import { MAIN } from '../../support/main.ts'
import { processEnv } from '../../support/process.ts'

t.test('an owner with createrole creates the runtime role at the first migrate', async t => {
  const { superuser, at } = await startServer(t)
  await superuser.query("create role loanops_owner login createrole password 'test'")
  await superuser.query('create database loanops owner loanops_owner')
  const url = at({ DATABASE_URL: 'postgres://loanops_owner:test@postgres/loanops' })
  await migrate(url, allQueues)
  const db = await connected(t, url)
  await db.query("create role loanops_service login password 'test' in role loanops_runtime")
  const service = await connected(t, url.replace('loanops_owner', 'loanops_service'))
  t.same((await service.query('select from loanops.operation')).rows, [])
})

t.test(
  'before the runtime role exists, npm run migrate exits with 1 and prints what makes the service start',
  async t => {
    const { superuser, at } = await startServer(t)
    await superuser.query("create role loanops_owner login password 'test'")
    await superuser.query('create database loanops owner loanops_owner')
    const url = at({ DATABASE_URL: 'postgres://loanops_owner:test@postgres/loanops' })
    const first = await runMigrate(url)
    t.equal(first.code, 1)
    t.match(first.printed, /^Applied 01-/m)
    t.match(first.printed, 'Warning: there is no role loanops_runtime')
    t.match(await runMigrate(url, '--one-login'), { code: 0 }, 'the owner can run the service')

    const [statements = ''] = /(^ {2}create role .*;\n)+/m.exec(first.printed) ?? []
    await superuser.query(statements.replace('…', 'test'))
    const second = await runMigrate(url)
    t.match(second, { code: 0, printed: /^The tables were up to date/ })
    t.notMatch(second.printed, 'create role')
    const service = await connected(t, url.replace('loanops_owner', 'loanops_service'))
    t.same((await service.query('select from loanops.operation')).rows, [])
  },
)

async function runMigrate(url: string, ...flags: string[]) {
  const env = { ...processEnv, DATABASE_URL: url }
  return promisify(execFile)(process.execPath, [MAIN, 'migrate', ...flags], { env }).then(
    ({ stdout: printed }) => ({ code: 0, printed }),
    ({ code, stdout: printed }) => ({ code, printed }),
  )
}
