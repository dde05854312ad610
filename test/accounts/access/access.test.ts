import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { sql } from 'kysely'
import t from 'tap'
import { auditAlone, programAsker } from '../../../src/accounts/audit.ts'
import { verifyAudit } from '../../../src/accounts/audit-chain/verify-audit.ts'
import { ACTS } from '../../../src/config/acts.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { gateways } from '../../../src/payments/gateways/gateways.ts'
import { accessTables } from '../../support/accounts/access-table.ts'
import { ADMIN, bearer, OPERATOR } from '../../support/accounts/admin.ts'
import { collectRoutes } from '../../support/accounts/collect-routes.ts'
import { loggedIn, startWithConsole, VIEWER } from '../../support/console/console.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { exampleRequest, examplesOf } from '../../support/http/contract-examples.ts'
import { BEHIND_PROXY, elsewhere } from '../../support/http/elsewhere.ts'
import { endpointsOf } from '../../support/http/openapi-requests.ts'
import { startTestService, TOKEN } from '../../support/service.ts'

const TOKENS = {
  all: TOKEN,
  submit: 'token-of-the-loan-system',
  read: 'token-of-the-reports',
  operate: 'token-of-the-loan-desk',
}
const SETTINGS = {
  ...BEHIND_PROXY,
  INTERNAL_TOKEN: `${TOKENS.all},los/submit:${TOKENS.submit},reports/read:${TOKENS.read},desk/operate:${TOKENS.operate}`,
}
const ACCOUNTS = { viewer: VIEWER, operator: OPERATOR, admin: ADMIN }
const PARAMETERS: Record<string, string> = {
  tracking_id: 'LOAN_CREATE%7C019a0000-0000-7000-8000-000000000000',
  gateway: 'gateway_a',
  gateway_payment_id: 'pay_nobody',
  kind: 'order',
  value: 'order_1',
  username: 'nobody',
  type: 'loans',
}
const filled = ({ url }: RouteOptions) =>
  url.replace(/:(\w+)/g, (_, name) => PARAMETERS[name] ?? '019a0000-0000-7000-8000-000000000000')

type Role = keyof typeof TOKENS
type Holder = keyof typeof ACCOUNTS | 'nobody'

/** An account adds nothing to what its token may do. */
const COMBINATIONS = [
  ...(['nobody', 'viewer', 'operator', 'admin'] as const).map(holder => ['all', holder] as const),
  ...(['submit', 'read', 'operate'] as const).flatMap(role =>
    (['nobody', 'admin'] as const).map(holder => [role, holder] as const),
  ),
]

/** What section 16 of the design says. */
function mayCall(role: Role, { method, url }: RouteOptions): boolean {
  if (/^\/api\/account\/(login|password)$/.test(url) || role === 'all') return true
  const isRead = method === 'GET' || method === 'HEAD'
  if (role === 'submit')
    return url === '/api/ledger/operate' || (isRead && url.startsWith('/api/ledger/'))
  if (role === 'read') return isRead
  return !url.startsWith('/api/account/')
}

function expected(role: Role, holder: Holder, route: RouteOptions): 401 | 403 | undefined {
  const { method, url } = route
  if (!mayCall(role, route)) return 403
  if (url === '/api/account/login') return undefined
  if (url === '/api/account/password') return holder === 'nobody' ? 401 : undefined
  if (url.startsWith('/api/account/'))
    return holder === 'nobody' ? 401 : holder === 'admin' ? undefined : 403
  return holder === 'viewer' && method !== 'GET' && method !== 'HEAD' ? 403 : undefined
}

const routes = collectRoutes()

t.test('each call and page is open to the roles that may make it, and to no other', async t => {
  const ofOthers = routes.length
  const service = await startWithConsole(t, SETTINGS)
  const { url, call } = service
  const all = routes.slice(ofOthers)
  const bearers: Record<Holder, object> = { nobody: {}, viewer: {}, operator: {}, admin: {} }
  for (const [role, account] of Object.entries(ACCOUNTS))
    bearers[role as Holder] = await bearer(call, account)

  // Before the pages, because a logout ends the account's other tokens, too.
  await t.test('each call of the API refuses tokens and accounts that may not make it', async t => {
    const ofApi = all.filter(one => one.url.startsWith('/api/') && !isWebhook(one))
    t.ok(ofApi.length > 90)
    for (const route of ofApi)
      await Promise.all(
        COMBINATIONS.map(async ([role, holder]) => {
          const headers = { 'x-internal-token': TOKENS[role], ...bearers[holder] }
          const answer = await asked(route, headers)
          const refusal = expected(role, holder, route)
          const status = [401, 403].includes(answer.status) ? answer.status : undefined
          t.equal(status, refusal, `${role} ${holder} ${route.method} ${route.url}`)
          if (refusal === undefined || route.method === 'HEAD') return
          const forbidden = { code: 'FORBIDDEN', detail: /^This needs .*role/ }
          t.match(JSON.parse(answer.text), refusal === 403 ? forbidden : { code: 'UNAUTHORIZED' })
        }),
      )
  })

  t.test('each webhook is taken without a token', async t => {
    const webhooks = all.filter(isWebhook)
    t.equal(webhooks.length, gateways.length)
    for (const route of webhooks) t.equal((await asked(route, {})).status, 400)
  })

  t.test('each page refuses the accounts that may not open it', async t => {
    const ofConsole = all.filter(one => one.url.startsWith('/console'))
    t.ok(ofConsole.length > 100)
    for (const route of ofConsole)
      await Promise.all(
        (['nobody', 'viewer', 'operator', 'admin'] as const).map(async holder => {
          const { status, headers } = await asked(route, { cookie: await cookieOf(holder, route) })
          const name = `${holder} ${route.method} ${route.url}`
          const isLogin = /^\/console\/(login|assets)/.test(route.url)
          const isTurnedAway = String(headers.get('location')).startsWith('/console/login')
          const isLogout = route.url === '/console/logout'
          t.equal(isTurnedAway, isLogout || (holder === 'nobody' && !isLogin), name)
          t.equal(status === 403, isForbidden(holder, route), name)
        }),
      )
  })

  async function cookieOf(holder: Holder, { url: path }: RouteOptions): Promise<string> {
    if (holder === 'nobody') return ''
    // Its session ends there.
    if (path === '/console/logout') return (await loggedIn(url, ACCOUNTS[holder])).cookie
    return service[holder].cookie
  }

  async function asked(route: RouteOptions, headers: object) {
    const method = String(route.method)
    const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE'
    const type = route.url.startsWith('/api') ? 'json' : 'x-www-form-urlencoded'
    const answer = await fetch(url + filled(route), {
      signal: AbortSignal.timeout(20_000),
      method,
      redirect: 'manual',
      headers: {
        ...elsewhere(),
        ...headers,
        ...(hasBody ? { 'content-type': `application/${type}` } : {}),
      },
      ...(hasBody ? { body: type === 'json' ? '[]' : '' } : {}),
    }).catch(cause => {
      throw new Error(`${method} ${route.url}`, { cause })
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
})

const isWebhook = ({ method, url }: RouteOptions) =>
  method === 'POST' && url.startsWith('/api/webhooks/')

function isForbidden(holder: Holder, { method, url }: RouteOptions): boolean {
  if (holder === 'nobody' || /^\/console\/(login|logout|password)/.test(url)) return false
  if (url.startsWith('/console/accounts')) return holder !== 'admin'
  return holder === 'viewer' && method === 'POST'
}

t.test('the tables of docs/security.md are what the routes declare', async t => {
  const ofOthers = routes.length
  await startTestService(t, { ROLE: 'api', CONSOLE_ENABLED: 'true' })
  const file = new URL('../../../docs/security.md', import.meta.url)
  const docs = readFileSync(file, 'utf8')
  const [before = '', , after = ''] = docs.split(/<!-- (?:end of )?the routes -->/)
  const tables = `\n\n${accessTables(routes.slice(ofOthers))}\n\n`
  const current = `${before}<!-- the routes -->${tables}<!-- end of the routes -->${after}`
  // TAP_SNAPSHOT=1 npm test -- test/accounts/access/access.test.ts
  if (process.env.TAP_SNAPSHOT === '1') writeFileSync(file, current)
  else t.equal(docs, current)
})

t.test('a call or page that declares nothing does not start', async t => {
  const refused = new Set<string>()
  const addUndeclared = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRegister', scope => {
      if (scope.prefix !== '/api' && scope.prefix !== '/console') return
      const add = () => scope.get('/undeclared', async () => 'open to everybody')
      t.throws(add, { message: `GET ${scope.prefix}/undeclared does not declare what it needs` })
      refused.add(scope.prefix)
    })
  }
  subscribe('fastify.initialization', addUndeclared)
  t.teardown(() => unsubscribe('fastify.initialization', addUndeclared))
  await startTestService(t, { ROLE: 'api', CONSOLE_ENABLED: 'true' })
  t.same([...refused].sort(), ['/api', '/console'])
})

t.test('no other spelling of a call evades the role of its token', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', ...SETTINGS, DOCS_ENABLED: 'true' })
  const submit = { 'x-internal-token': TOKENS.submit }
  for (const [method, path, status] of [
    ['GET', '/api/%70ayments', 403],
    ['HEAD', '/api/payments', 403],
    ['HEAD', '/api/ledger/operations', 200],
    ['OPTIONS', '/api/payments', 405],
    ['DELETE', '/api/payments', 405],
    ['GET', '/api/payments?limit=1&limit=2', 403],
    ['POST', '/api/payments/%62atch', 403],
    ['GET', '/api/ledger/../payments', 403],
    ['GET', '/api/PAYMENTS', 404],
    ['GET', '/api//payments', 404],
    ['GET', '/api/ledger/operations/', 400],
    ['POST', '/api/ledger/operate/', 400],
    ['POST', '/api/payments/batch/', 404],
    ['GET', '/openapi.json', 200],
    ['GET', '/docs/', 200],
  ] as const)
    t.equal(
      (await call(method, path, undefined, { ...submit, ...elsewhere() })).status,
      status,
      path,
    )
})

t.test('an act reserved for people is refused to the token alone, and to no person', async t => {
  const service = await startWithConsole(t, {
    ...SETTINGS,
    PERSON_REQUIRED: ACTS.join(),
    DOCS_ENABLED: 'true',
  })
  const { url, call } = service
  const acts = new Map(routes.map(one => [`${one.method} ${one.url}`, one.config?.acts ?? []]))
  t.same(new Set([...acts.values()].flat()), new Set(ACTS))
  const admin = await bearer(call, ADMIN)
  const changes = endpointsOf((await call('GET', '/openapi.json')).body).filter(
    ({ method, path }) => method !== 'GET' && path.startsWith('/api/') && !/webhooks/.test(path),
  )
  for (const endpoint of changes) {
    const name = `${endpoint.method} ${endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    const isKept = (acts.get(name) ?? []).length > 0
    if (!/account\/(login|password)$/.test(name)) t.ok(endpoint.responses['403'], name)
    if (isKept) t.ok(endpoint.responses['403']?.['x-codes']?.includes('PERSON_REQUIRED'), name)
    for (const example of examplesOf(endpoint)) {
      const { path, init } = exampleRequest(endpoint, example)
      const send = async (headers: object) => {
        const answer = await fetch(url + path, {
          ...init,
          headers: { ...init.headers, ...elsewhere(), ...headers },
        })
        return (await answer.text()).includes('PERSON_REQUIRED')
      }
      t.equal(await send({}), isKept, name)
      t.notOk(await send(admin), name)
    }
  }
})

t.test('which act is asked for depends on the body, or the query', async t => {
  const { call } = await startTestService(t, {
    ROLE: 'api',
    ...SETTINGS,
    PERSON_REQUIRED: 'payment.dismiss,reference.write,portfolio.run,callback.replay',
  })
  const isKept = async (path: string, body: object) => {
    const method = path.startsWith('references') ? 'PUT' : 'POST'
    const answer = await call(method, `/api/${path}`, body, elsewhere())
    return answer.body.code === 'PERSON_REQUIRED'
  }
  const payment = 'payments/gateway_a/pay_1'
  const loan = { external_loan_id: 'L-1' }
  const item = { gateway: 'gateway_a', gateway_payment_id: 'pay_1', ...loan }
  const run = { migration_id: '019a0000-0000-7000-8000-000000000000' }
  const replay = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  for (const [path, body, kept] of [
    [`${payment}/resolve`, { outcome: 'dismiss', note: 'seen' }, true],
    [`${payment}/resolve`, { outcome: 'handled', note: 'seen' }, false],
    [`${payment}/resolve`, { outcome: ['dismiss'], note: 'seen' }, true],
    [`${payment}/assign`, loan, false],
    [`${payment}/assign`, { ...loan, remember: [] }, false],
    [`${payment}/assign`, { ...loan, remember: ['order'] }, true],
    ['payments/assign', { assignments: [item] }, false],
    ['payments/assign', { assignments: [item, { ...item, remember: ['order'] }] }, true],
    ['migration/run', run, true],
    ['migration/run', { ...run, dry_run: false }, true],
    ['migration/run', { ...run, dry_run: true }, false],
    ['callbacks/replay', replay, true],
    ['callbacks/replay', { ...replay, dry_run: true }, false],
    ['references/gateway_a/order/order_1', loan, true],
    ['references/gateway_a/order/order_1?dry_run=false&replace=true', loan, true],
    ['references/gateway_a/order/order_1?dry_run=true', loan, false],
  ] as const)
    t.equal(await isKept(path, body), kept, `${path} ${JSON.stringify(body)}`)
})

/** All that can post money to a loan of one's choice, or take money from a loan. */
const MOVING_MONEY = [
  'payment.assign',
  'payment.post',
  'payment.reverse',
  'payment.restore',
  'reference.write',
  'portfolio.run',
  'bulk',
]

/** The blocks of the set-up in docs/security.md, in this language, without their indent. */
function setUp(language: string): string[] {
  const docs = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const [, section = ''] = docs.split('## Five operators, two approvers and an auditor')
  const [own = ''] = section.split('\n## ')
  const blocks = own.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))
  return [...blocks].map(([, block = '']) => block.replaceAll(/^ {3}/gm, ''))
}

t.test('the set-up for a lender with approvers and an auditor runs as printed', async t => {
  const [settings, ...commands] = setUp('sh')
  const cwd = t.testdir()
  const run = async (script = '') => {
    const env = {
      PATH: process.env.PATH,
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
    }
    return (await promisify(execFile)('bash', ['-euc', script], { cwd, env })).stdout
  }
  await run(settings)
  const lines = readFileSync(`${cwd}/lender.env`, 'utf8').trim().split('\n')
  const service = await startTestService(t, {
    ROLE: 'api',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    ...Object.fromEntries(lines.map(line => line.split(/=(.*)/s, 2))),
  })
  const covered = new Set<string>(service.config.APPROVALS.map(({ act }) => act))
  for (const act of MOVING_MONEY) t.ok(covered.has(act), act)
  const printed = await run(commands.join('').replace('http://127.0.0.1:3000', service.url))
  t.match(
    printed,
    /^(201 [a-z]+ operator \{"password":".+"\}\n){7}201 audit.house viewer \{"password":".+"\}\n$/,
  )
  const { rows } = await sql`
    select role, count(*)::integer as accounts from loanops.account group by role
     order by role`.execute(service.db)
  t.same(rows, [
    { role: 'admin', accounts: 1 },
    { role: 'operator', accounts: 7 },
    { role: 'viewer', accounts: 1 },
  ])
})

t.test('the auditor’s login of the set-up reads what it must, and can do nothing else', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const [statements = ''] = setUp('sql')
  await sql.raw(statements).execute(db)
  t.teardown(() => sql`drop owned by loanops_auditor; drop role loanops_auditor`.execute(db))
  const login = Object.assign(new URL(ownerUrl), { username: 'loanops_auditor', password: '…' })
  const auditor = openDatabase(login.href, { max: 1, name: 'auditor', onError() {} })
  t.teardown(() => auditor.destroy())
  for (const view of ['ops.audit', 'ops.approval'])
    await t.resolves(sql`select * from ${sql.raw(view)}`.execute(auditor), view)
  const { rows: allowed } = await sql`
    select c.oid::regclass::text as name, privilege
      from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as privilege
     where c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
       and c.relkind in ('r', 'v', 'm', 'p') and has_table_privilege('loanops_auditor', c.oid, privilege)
     order by 1`.execute(db)
  const chained = ['audit', 'audit_seal', 'audit_unsealed']
  t.same(
    allowed,
    [...chained, 'ops.approval', 'ops.audit'].map(name => ({ name, privilege: 'select' })),
  )
  await auditAlone(db, { ...programAsker('test'), action: 'note', subject: 'pay_1' })
  await sql`select loanops.seal_audit(1)`.execute(db)
  await auditAlone(db, { ...programAsker('test'), action: 'note', subject: 'pay_2' })
  t.match(await verifyAudit(auditor), { sealed: 1, unsealed: 1 }, 'and can verify the audit')
  for (const statement of [
    sql`select ops.redrive('payment-event-dead')`,
    sql`select ops.reread('lender_02_gateway_a', now())`,
    sql`select loanops.purge_approvals(1, 1)`,
    sql`create table ops.mine (x text)`,
    sql`set role loanops_runtime`,
  ])
    await t.rejects(statement.execute(auditor), { code: '42501' })
})

t.test('nobody but the service may call a function that runs as the owner or locks', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ name: string }>`
    select p.oid::regproc::text as name
      from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
     where (p.prosecdef or p.prosrc ~ 'advisory') and a.grantee = 0
       and p.pronamespace::regnamespace::text <> 'pg_catalog'`.execute(db)
  t.same(rows, [])
})
