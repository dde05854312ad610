import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { readConfig } from '../src/config/config.ts'
import { Settings } from '../src/config/settings/settings.ts'
import { migrate } from '../src/database/migrate/migrate.ts'
import { logger } from '../src/log/log.ts'
import { startRole } from '../src/role.ts'
import { startSandbox } from '../src/sandbox/server.ts'
import { allQueues } from '../src/worker.ts'
import { connected, startServer } from './support/database/separate-postgres.ts'
import { databaseUrl } from './support/database/template.ts'
import { capturedA } from './support/payments/gateway-events.ts'
import { runBatch, webhooks } from './support/payments/payments.ts'
import { uploadCsv } from './support/portfolio/migrate.ts'
import { loansCsv } from './support/portfolio/rows.ts'
import { caller, operate, TOKEN, testEnv } from './support/service.ts'

type Container = {
  command?: string[]
  volumes?: string[]
  environment?: object
  ports?: string[]
  cap_drop?: string[]
  security_opt?: string[]
  pids_limit?: number
  mem_limit?: string
  stop_grace_period?: string
  init?: boolean
  extra_hosts?: string[]
  deploy?: { replicas: number }
}

/** What a stop may take, of 25 s, and a little more. */
const MIN_GRACE_SECONDS = 28
/** Beyond the pool, as docs/settings.md says. */
const MORE_SESSIONS = { api: 20, worker: 13 }
/** The sessions of superusers, of the migration and of a person. */
const OTHER_SESSIONS = 10

const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<'secrets' | 'postgres' | 'migrate' | 'api' | 'worker' | 'sandbox', Container>
}
const secretsOf = ({ volumes = [] }: Container) =>
  volumes.map(volume => volume.split(':', 1)[0]).filter(name => name?.startsWith('secrets'))
const made = makeSecrets(t)
const read = (file: string) => readFileSync(join(made.folder, file), 'utf8')
const owner = parseEnv(read('migrate/env'))
const api = parseEnv(read('api/env'))
const worker = parseEnv(read('worker/env'))

t.test('each container of compose.yaml can read its own secrets and no other’s', async t => {
  const { secrets, sandbox, ...users } = services
  t.same(secretsOf(sandbox), [])
  for (const [name, container] of Object.entries(users))
    t.same(secretsOf(container), [`secrets-${name}`])
  t.same(services.migrate.environment, {})

  for (const file of made.files)
    t.equal(statSync(join(made.folder, file)).mode & 0o777, 0o400, file)
  t.same(made.chowned.toSorted(), [
    '1000:1000 api/env',
    '1000:1000 migrate/env',
    '1000:1000 worker/env.new',
    'postgres:postgres postgres/bootstrap.sql',
    'postgres:postgres postgres/password',
  ])
  const holding = (secret: string) => made.files.filter(file => read(file).includes(secret))
  t.same(holding(read('postgres/password')), ['postgres/password'])
  t.same(holding(new URL(owner.DATABASE_URL ?? '').password), [
    'migrate/env',
    'postgres/bootstrap.sql',
  ])
  for (const name of ['INTERNAL_TOKEN', 'JWT_SECRET', 'ADMIN_PASSWORD'])
    t.same(holding(api[name] as string), ['api/env'], name)
})

t.test(
  'no container of compose.yaml may gain rights, exhaust the machine or be reached from others',
  t => {
    for (const [name, container] of Object.entries(services)) {
      t.same(container.cap_drop, ['ALL'], name)
      t.same(container.security_opt, ['no-new-privileges:true'], name)
      t.ok((container.pids_limit ?? 0) > 0, name)
      t.match(container.mem_limit, /^\d+[mg]$/, name)
      for (const port of container.ports ?? []) t.match(port, /^127\.0\.0\.1:/, name)
    }
    t.end()
  },
)

t.test('the image names its user by the number that owns the secrets, as Kubernetes needs', t => {
  t.match(readFileSync('Dockerfile', 'utf8'), /^USER 1000$/m)
  t.end()
})

t.test(
  'compose.yaml has no container in which Node is process 1, which ignores an early stop',
  t => {
    const { migrate, api, worker, sandbox } = services
    for (const [name, { init }] of Object.entries({ migrate, api, worker, sandbox }))
      t.equal(init, true, name)
    t.end()
  },
)

t.test('compose.yaml lets a stop end, and its processes fit into PostgreSQL', async t => {
  let sessions = OTHER_SESSIONS
  for (const [role, more] of Object.entries(MORE_SESSIONS)) {
    const container = services[role as 'api' | 'worker']
    t.ok(Number.parseInt(container.stop_grace_period ?? '0', 10) >= MIN_GRACE_SECONDS, role)
    t.same(container.extra_hosts, ['host.docker.internal:host-gateway'], role)
    const pool = Settings.properties.DATABASE_POOL_MAX.default
    sessions += (container.deploy?.replicas ?? 1) * (pool + more)
  }
  const [, most] = /max_connections=(\d+)/.exec(services.postgres.command?.join(' ') ?? '') ?? []
  t.ok(Number(most) >= sessions, `${sessions} sessions fit into ${most}`)
  const [, first = 0, last = 0] =
    /:-(\d+)-(\d+)\}:\$\{OPS_PORT:-3000\}$/.exec(services.worker.ports?.[0] ?? '') ?? []
  t.equal(Number(last) - Number(first) + 1, services.worker.deploy?.replicas, 'a port per worker')
})

t.test(
  'with the roles of compose.yaml, a plain owner migrates, and members of the runtime role run it',
  async t => {
    const { superuser, url: serverUrl, at } = await startServer(t)
    let session = superuser
    for (const statement of read('postgres/bootstrap.sql').split('\n').filter(Boolean)) {
      const [, database] = /^\\connect (\w+)$/.exec(statement) ?? []
      if (database === undefined) await session.query(statement)
      else session = await connected(t, databaseUrl(serverUrl, database))
    }
    // Run again, as in an upgrade.
    for (let i = 0; i < 2; i++) await migrate(at(owner), allQueues)
    const { rows: powerful } = await superuser.query(`
    select rolname from pg_roles
     where rolname like 'loanops_%' and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)`)
    t.same(powerful, [])

    const { url, call } = await startContainers(t, at)
    const client = {
      firstname: 'A',
      lastname: 'B',
      externalId: 'C-1',
      activationDate: '05 January 2026',
    }
    t.match(await operate(call, 'CLIENT_CREATE', client), { status: 'success' })
    const event = await webhooks(url)('gateway_a', capturedA(), { lender: 'LENDER_02' })
    t.equal(event.status, 200)
    t.match(await runBatch(call), { status: 'completed', discovered: 1, suspended: 1 })
    t.match((await uploadCsv({ url }, 'loans', loansCsv({}))).body, { valid_rows: 1 })

    const service = await connected(t, at(api))
    for (const statement of [
      'set role loanops_owner',
      'select from pg_authid',
      'create role more',
      'select lo_create(0)',
    ])
      await t.rejects(service.query(statement), { code: '42501' }, statement)
  },
)

/** An api and a worker with their own secrets, except for the token that test callers send. */
async function startContainers(t: Test, at: (settings: NodeJS.Dict<string>) => string) {
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const start = async (settings: NodeJS.Dict<string>) => {
    const changes = { ...settings, DATABASE_URL: at(settings) }
    const service = await startRole(readConfig(testEnv('', ledger.url, changes)), logger('silent'))
    t.teardown(() => service.close())
    return service
  }
  await start({ ...worker, ROLE: 'worker' })
  const { url } = await start({ ...api, ROLE: 'api', INTERNAL_TOKEN: TOKEN })
  return { url, call: caller(url) }
}

/** The files that the container `secrets` leaves, each with the owner it would get. */
function makeSecrets(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  for (const name of ['bin', 'postgres', 'migrate', 'api', 'worker']) mkdirSync(join(folder, name))
  const fake = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  fake('chown', 'to=$1; shift; for f; do echo "$to $f"; done')
  const script = (services.secrets.command?.[0] ?? '')
    .replaceAll('$$', () => '$')
    .replace('/run/loanops', () => folder)
  // Root could write its own read-only files, but it has no capability for that in the container.
  const asRoot = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []
  const [file = '', ...before] = [...asRoot, 'bash', '-ceu']
  const run = () =>
    execFileSync(file, [...before, script], {
      env: { PATH: `${bin}:${process.env.PATH}` },
      encoding: 'utf8',
      // Not a socket, which bash would take for a network connection, and then read its startup files.
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  fake('mv', 'exit 1')
  t.throws(run, 'interrupted before its end')
  rmSync(join(bin, 'mv'))
  const chowned = run()
  rmSync(bin, { recursive: true })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => statSync(join(folder, file)).isFile())
    .sort()
  return { folder, files, chowned: chowned.trim().split('\n') }
}
