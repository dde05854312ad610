import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { MAIN } from '../support/main.ts'
import { caller, NO_LEDGER, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const SECRET = 'marked-secret'
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

t.test('--version prints the version alone', t => {
  const printed = execFileSync(process.execPath, [MAIN, '--version'], { encoding: 'utf8' })
  t.equal(printed, `${version}\n`)
  t.end()
})

t.test('a process says what it runs at its start and stop, in readyz and its metrics', async t => {
  const { url } = await freshDatabase(t)
  const password = new URL(url).password
  const env = testEnv(url, NO_LEDGER, {
    ROLE: 'api',
    LOG_LEVEL: 'info',
    LEDGER_TIMEZONE: 'UTC',
    LEDGER_TIMEZON: 'Asia/Kolkata',
    JWT_SECRET: `${SECRET}-of-32-characters-for-the-tokens`,
    ADMIN_USERNAME: `${SECRET}.name`,
    ADMIN_PASSWORD: `${SECRET} pass phrase`,
    GATEWAY_A_WEBHOOK_SECRET: SECRET,
    GATEWAY_A_API_URL: 'https://a.example/v1',
    GATEWAY_A_API_KEY: `${SECRET}-key`,
    GATEWAY_A_API_SECRET: `${SECRET}-of-a`,
    CALLBACK_URL: `https://los.example/${SECRET}?token=${SECRET}`,
    CALLBACK_SECRET: callbackSecret(),
  })
  const child = spawn(process.execPath, [MAIN], {
    env: { ...env, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  child.stdout.on('data', text => {
    log += text
  })
  const lines = () =>
    log
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  const at = await until(async () => /listening at (http:[^"]+)"/.exec(log)?.[1])

  const [first, ...others] = lines()
  t.match(first, { msg: 'LoanOps starts', role: 'api', version, node: process.versions.node })
  t.match(first.settings, {
    DATABASE_URL: /^loanops_service@127\.0\.0\.1:\d+\/\w+$/,
    LEDGER_URL: NO_LEDGER,
    LEDGER_TIMEZONE: 'UTC',
    LEDGER_PASSWORD: 'set',
    CALLBACK_URL: 'https://los.example',
  })
  t.notOk('LEDGER_OFFICE_ID' in first.settings, 'what has its default is not repeated')
  t.notMatch(log, SECRET)
  t.notOk(JSON.stringify(first).includes(`:${password}@`))
  t.notOk(log.includes(env.CALLBACK_SECRET as string))
  t.ok(others.some(({ msg }) => /^LEDGER_TIMEZON is not a setting/.test(msg)))

  const call = caller(at as string)
  t.match((await call('GET', '/readyz')).body, { version })
  t.match(
    (await call('GET', '/metrics')).body,
    `loanops_build_info{version="${version}",node="${process.versions.node}"} 1`,
  )

  child.kill('SIGTERM')
  t.same(await once(child, 'close'), [0, null])
  const messages = lines().map(({ msg }) => msg)
  t.ok(messages.indexOf('stopping') > 0, 'when the stop begins')
  t.equal(messages.at(-1), 'stopped', 'and when it has ended')
})
