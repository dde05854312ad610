import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { ADMIN, bearer } from '../support/accounts/admin.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { endSessions } from '../support/database/sessions.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { MAIN } from '../support/main.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { type Call, caller, TOKEN, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The values that must not appear where they do not belong. */
const MARK = 'mrkd'
const secrets = {
  JWT_SECRET: `${MARK}-jwt-secret-of-32-characters-for-tests`,
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: `${MARK} admin pass phrase`,
  GATEWAY_A_WEBHOOK_SECRET: `${MARK}-webhook-secret`,
}
const person = {
  firstname: `${MARK}-first`,
  lastname: `${MARK}-last`,
  mobileNo: `+91${MARK}98`,
  emailAddress: `${MARK}@example.org`,
}
const client = { ...person, externalId: 'C-1', activationDate: '05 January 2026' }
const payer = {
  email: `${MARK}@payer.org`,
  contact: `+91${MARK}99`,
  vpa: `${MARK}@upi`,
  amount: 'x',
}

t.test(
  'after a journey, logs, errors, metrics and job output contain no secrets or personal data',
  async t => {
    const { url, call, db, log } = await start(t)
    const errors: unknown[] = []
    const tokens = [TOKEN, secrets.JWT_SECRET, ...(await accounts(call, errors))]
    await operations(call, errors)
    await webhooks(url, errors)
    await call('POST', '/api/payments/batch')
    await until(async () => (await call('GET', '/api/payments')).body.payments.length > 0)

    // The database disappears, so that its errors are logged.
    await endSessions(db)
    await until(async () => log().includes('terminat'))
    const metrics = (await call('GET', '/metrics')).body
    const { rows } = await sql`select output from pgboss.job where output is not null`.execute(db)

    const places = { log: log(), errors, metrics, 'job output': rows }
    for (const [place, content] of Object.entries(places)) {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      t.notMatch(text, MARK, place)
      for (const token of tokens) t.notOk(text.includes(token), `a token in ${place}`)
      t.notMatch(text, /bWlmb3M6cGFzc3dvcmQ|loanops_service:test|argon2id/, place)
    }
    t.ok(log().length > 0 && metrics.length > 0 && errors.length > 10, 'there was output to search')
  },
)

/** @returns the access tokens that were issued */
async function accounts(call: Call, errors: unknown[]): Promise<string[]> {
  const admin = { username: ADMIN.username, password: secrets.ADMIN_PASSWORD }
  const token = await bearer(call, admin)
  const refused = async (path: string, body: object, headers = token) => {
    const answer = await call('POST', `/api/account/${path}`, body, headers)
    errors.push({ ...answer.body, of: answer.status })
  }
  await call(
    'POST',
    '/api/account/register',
    { username: 'ravi', password: `${MARK} his phrase`, role: 'operator' },
    token,
  )
  const his = await bearer(call, { username: 'ravi', password: `${MARK} his phrase` })
  await refused('login', { ...admin, password: `${MARK} wrong` })
  await refused('login', { username: `${MARK}-nobody`, password: `${MARK} wrong` })
  await refused('login', { username: [MARK], password: { a: MARK } })
  await refused('register', { username: 'x', password: MARK, role: MARK })
  await refused('register', { username: 'ravi', password: `${MARK} his phrase`, role: 'admin' })
  await refused('password', {
    current_password: `${MARK} wrong`,
    new_password: `${MARK} his new one`,
  })
  await refused('register', {}, his)
  await refused('register', {}, { authorization: `${his.authorization}${MARK}` })
  return [token, his].map(({ authorization }) => authorization.slice('Bearer '.length))
}

async function operations(call: Call, errors: unknown[]): Promise<void> {
  await ending(call, await submit(call, 'CLIENT_CREATE', client))
  await ending(
    call,
    await submit(call, 'CLIENT_UPDATE', { externalId: 'C-1', lastname: `${MARK}-new` }),
  )
  await ending(call, await submit(call, 'CLIENT_CREATE', client))
  for (const body of [
    { status: 'CLIENT_CREATE', data: { ...client, firstname: MARK.repeat(20) } },
    { status: 'CLIENT_CREATE', data: { ...client, lastname: `${MARK}\n` } },
    { status: 'CLIENT_CREATE', data: { ...client, activationDate: MARK } },
    { status: MARK, data: client },
    `{"status":"CLIENT_CREATE","data":{"firstname":"${MARK}" oops`,
    `{"status":"CLIENT_CREATE","data":{"firstname":"${MARK}","firstname":"${MARK}"}}`,
    `{"status":"CLIENT_CREATE","data":{"firstname":"${MARK}\\u0000"}}`,
  ])
    errors.push((await call('POST', '/api/ledger/operate', body)).body)
}

async function webhooks(url: string, errors: unknown[]): Promise<void> {
  const events = [
    capturedA({ loan: 'L-1', payment: payer }),
    capturedA({ loan: 'L-1', id: 'pay_2', payment: payer, amount: 'x' }),
  ]
  for (const event of events) {
    const body = JSON.stringify(event)
    const signature = createHmac('sha256', secrets.GATEWAY_A_WEBHOOK_SECRET)
      .update(body)
      .digest('hex')
    for (const [text, given] of [
      [body, signature],
      [body, `${MARK}${signature}`],
      [`${body}${MARK}`, signature],
    ]) {
      const response = await fetch(`${url}/api/webhooks/gateway_a?lender=LENDER_02`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gatewaya-signature': given as string },
        body: text as string,
      })
      if (!response.ok) errors.push(await response.json())
    }
  }
}

/** Runs the service as a separate process, so that everything it prints is captured. */
async function start(t: Test) {
  const { url: databaseUrl, db } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  const env = testEnv(databaseUrl, ledger.url, { ...secrets, LOG_LEVEL: 'trace' })
  const service = spawn(process.execPath, [MAIN], { env })
  let log = ''
  for (const stream of [service.stdout, service.stderr]) stream.on('data', chunk => (log += chunk))
  t.teardown(async () => {
    service.kill('SIGTERM')
    await once(service, 'exit')
    await ledger.close()
  })
  const url = await until(async () => /listening at (http:[^"]+)"/.exec(log)?.[1])
  return { url, db, call: caller(url), log: () => log }
}
