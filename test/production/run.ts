// npm run production-check: runs what docs/installing.md prints, and the proxy of docs/replacing.md, with the PostgreSQL of npm and with
// the systemd, nginx, Prometheus, psql and PgBouncer of this machine. What is not installed is named and left out.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../src/embedded/free-port.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { NO_LEDGER, testEnv } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PEM = resolve(ROOT, 'test/support/loopback.pem')
const PASSWORD = 'test'
const ENDS_WITHIN_MS = 60_000
const STARTS_WITHIN_MS = 10_000
const WEBHOOK = '/api/webhooks/gateway_a?lender=LENDER_02'
const WEBHOOKS = /^\/api\/webhooks\/gateway_[ab]$/
/** nginx decides by the path that it has decoded and shortened. */
const NOT_PUBLIC = [
  '/api/webhooks/check',
  '/api/webhooks/%63heck?gateway=gateway_a',
  '/api/webhooks/gateway_a/../check',
  '/api/webhooks/..%2fpayments',
  '/api/payments/..%2fwebhooks/gateway_a',
  '/console/loans/..%2f..%2fapi%2fwebhooks%2fgateway_b',
  '/api/payments',
  '/api/migration/templates/loans.csv',
  '/console/login',
  '//metrics',
  '/api/webhooks/../../readyz',
  '/%64ocs/',
]
/** nginx refuses bodies of more than 1 MiB by default. */
const PORTFOLIO = 'x'.repeat(2 * 1024 * 1024)
const page = readFileSync(resolve(ROOT, 'docs/installing.md'), 'utf8')
const replacing = readFileSync(resolve(ROOT, 'docs/replacing.md'), 'utf8')

const poolers: ChildProcess[] = []
const hosts = new Set<unknown>()
const folder = mkdtempSync(join(tmpdir(), 'loanops-production-'))
// If we are root, PostgreSQL and PgBouncer run as other users.
chmodSync(folder, 0o755)
const postgres = await startPostgres({ folder: join(folder, 'postgres'), password: PASSWORD })
try {
  await check('systemd-analyze', verifyUnit)
  await check('nginx', tryNginx)
  await check('nginx', tryOtherPaths)
  await check('promtool', verifyPrometheus)
  await check('psql', setUpDatabase)
  await check('pgbouncer', tryPoolers)
} finally {
  for (const pooler of poolers) pooler.kill('SIGKILL')
  await postgres.close()
  rmSync(folder, { recursive: true, force: true })
}

async function check(tool: string, run: () => Promise<string> | string): Promise<void> {
  if (spawnSync('which', [tool]).status !== 0)
    return console.log(`left out  ${tool} is not installed`)
  try {
    console.log(`ok        ${await run()}`)
  } catch (error) {
    console.log(`FAILED    ${tool}: ${(error as Error).message}`)
    process.exitCode = 1
  }
}

function verifyUnit(): string {
  const unit = block('ini').replaceAll('/opt/loanops', ROOT).replace('User=loanops', 'User=daemon')
  write('loanops@.service', unit)
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', 'loanops@api-1.service'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
  })
  // It also speaks of other units of this machine.
  const ours = stderr.split('\n').filter(line => /loanops/.test(line))
  if (status !== 0 || ours.length > 0) throw new Error(stderr)
  return 'systemd-analyze accepts the unit'
}

/** The site in front of a server. This machine's address is none of the LOS's. */
async function tryNginx(): Promise<string> {
  const site = block('nginx')
    .replace(/\/etc\/ssl\/\S+(?=;)/g, PEM)
    .replace('listen 443', 'listen 127.0.0.1:PORT')
  await behindNginx(site, async port => {
    await until(async () => (await passedOn(port, WEBHOOK)) === WEBHOOK)
    if (!hosts.has(`127.0.0.1:${port}`)) throw new Error(`LoanOps takes its host for ${[...hosts]}`)
    for (const path of NOT_PUBLIC) {
      const passed = await passedOn(port, path)
      if (passed !== null && !WEBHOOKS.test(passed)) throw new Error(`the public reaches ${path}`)
    }
  })
  return 'nginx accepts the site, and lets the public reach nothing but the webhooks'
}

/** A LOS that cannot change its paths also uploads portfolios under them. */
async function tryOtherPaths(): Promise<string> {
  const site = `server {\nlisten 127.0.0.1:PORT;\n${block('nginx', replacing)}}\n`
  await behindNginx(site, async port => {
    const call = async (path: string, body?: string) => {
      const url = `http://127.0.0.1:${port}/services/loans/v2/${path}`
      const init = body === undefined ? {} : { method: 'POST', body }
      return (await fetch(url, init)).text()
    }
    const track = 'ledger/track/LOAN_CREATE%7C1?wait=5'
    await until(async () =>
      /^\/api\/ledger\/track\/LOAN_CREATE(\||%7C)1\?wait=5$/.test(await call(track)),
    )
    const uploaded = await call('migration/upload', PORTFOLIO)
    if (uploaded !== '/api/migration/upload') throw new Error(`it answers an upload: ${uploaded}`)
  })
  return 'nginx lets a LOS with other paths track operations and upload portfolios'
}

/** The server answers with the path that it got. */
async function behindNginx(site: string, run: (port: number) => Promise<void>): Promise<void> {
  const port = await freePort(0)
  const server = createServer((request, response) => {
    hosts.add(request.headers['x-forwarded-host'])
    request.resume().on('end', () => response.end(request.url))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: behind } = server.address() as AddressInfo
  const served = site
    .replace(/127\.0\.0\.1:300\d/g, `127.0.0.1:${behind}`)
    .replace('127.0.0.1:PORT', `127.0.0.1:${port}`)
  const path = write(
    'nginx.conf',
    `pid ${folder}/nginx.pid;\nerror_log stderr;\ndaemon off;\nevents {}\nhttp {\naccess_log off;\n${served}}\n`,
  )
  const nginx = spawn('nginx', ['-c', path, '-p', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  const said = text(nginx.stderr)
  try {
    await run(port).catch(async error => {
      throw nginx.exitCode === null ? error : new Error(await said)
    })
  } finally {
    nginx.kill()
    server.close()
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > end) throw new Error('nginx does not pass on what it should')
    await sleep(100)
  }
}

/** @returns the path that arrives behind nginx, null where nginx refuses it */
async function passedOn(port: number, path: string): Promise<string | null> {
  const request = get({ port, path, host: '127.0.0.1', rejectUnauthorized: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const body = await text(response)
  return response.statusCode === 200 ? body : null
}

function verifyPrometheus(): string {
  const path = write('prometheus.yml', block('yaml').replaceAll('/opt/loanops', ROOT))
  const { status, stderr } = spawnSync('promtool', ['check', 'config', path], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return 'promtool accepts the targets and the rules'
}

async function setUpDatabase(): Promise<string> {
  psql(postgres.url, statements('create role loanops_owner'))
  await migrated(at('loanops_owner'))
  psql(databaseOf(postgres.url), statements('create role loanops_reader'))
  const reader = new pg.Client(at('asha'))
  await reader.connect()
  try {
    const { rows } = await reader.query("select viewname from pg_views where schemaname = 'ops'")
    const closed: string[] = []
    for (const { viewname } of rows)
      await reader.query(`select * from ops.${viewname} limit 1`).catch(({ code }) => {
        // What looks into the gateways' events themselves.
        if (code !== '42501') throw new Error(`ops.${viewname} cannot be read: ${code}`)
        closed.push(viewname)
      })
    for (const forbidden of ['select from loanops.account', 'create table mine ()'])
      if (await reader.query(forbidden).then(Boolean, () => false))
        throw new Error(`a reader may run: ${forbidden}`)
    return `a login for people reads ${rows.length - closed.length} views of ops, and not ${closed}; it changes nothing`
  } finally {
    await reader.end()
  }
}

async function tryPoolers(): Promise<string> {
  const transaction = await startPooler('transaction')
  for (const args of [['migrate'], ['--role', 'worker'], ['--role', 'api']]) {
    const user = args[0] === 'migrate' ? 'loanops_owner' : 'loanops_service'
    const { code, said } = await ran(args, at(user, transaction))
    if (code !== 1 || !said.includes('pooler in session mode'))
      throw new Error(`${args.join(' ')} ended with ${code} in transaction mode: ${said}`)
  }
  await migrated(at('loanops_owner', await startPooler('session')))
  return 'PgBouncer: migrate and both roles refuse transaction mode, and session mode works'
}

/** @returns its port */
async function startPooler(mode: 'transaction' | 'session'): Promise<number> {
  const port = await freePort(0)
  const { port: server } = new URL(postgres.url)
  const users = ['loanops_owner', 'loanops_service'].map(user => `"${user}" "${PASSWORD}"\n`)
  const path = write(
    `${mode}.ini`,
    `[databases]\nloanops = host=127.0.0.1 port=${server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\npool_mode = ${mode}\ndefault_pool_size = 60\nmax_client_conn = 200\nauth_type = plain\nauth_file = ${write('users.txt', users.join(''))}\nunix_socket_dir =\n`,
  )
  // It refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  poolers.push(spawn('pgbouncer', ['-q', ...asUser, path], { stdio: 'ignore' }))
  const until = Date.now() + STARTS_WITHIN_MS
  while (!(await accepts(at('loanops_service', port)))) {
    if (Date.now() > until) throw new Error(`PgBouncer in ${mode} mode does not start`)
    await sleep(100)
  }
  return port
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

async function migrated(url: string): Promise<void> {
  const { code, said } = await ran(['migrate'], url)
  if (code !== 0) throw new Error(said)
}

async function ran(args: string[], url: string): Promise<{ code: number; said: string }> {
  const options = {
    cwd: ROOT,
    env: { ...testEnv(url, NO_LEDGER), PATH: process.env.PATH },
    timeout: ENDS_WITHIN_MS,
  }
  return promisify(execFile)(process.execPath, ['src/main.ts', ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }),
  )
}

function psql(url: string, sql: string): void {
  const args = ['-q', '-v', 'ON_ERROR_STOP=1', '-f', '-', url]
  const { status, stderr } = spawnSync('psql', args, {
    input: sql.replaceAll('…', PASSWORD),
    encoding: 'utf8',
    env: { ...process.env, PGPASSWORD: PASSWORD },
  })
  if (status !== 0) throw new Error(stderr)
}

/** The login's URL, directly or through a pooler. */
function at(user: string, port = Number(new URL(postgres.url).port)): string {
  return `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/loanops`
}

function databaseOf(url: string): string {
  const database = new URL(url)
  database.pathname = '/loanops'
  return database.href
}

function block(language: string, text = page): string {
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text)?.[1]
  if (found === undefined) throw new Error(`the page has no block in ${language}`)
  return found
}

/** The block of the page that begins with this statement. */
function statements(beginning: string): string {
  const found = page.split(/^```\w*\n/m).find(text => text.startsWith(beginning))
  if (found === undefined) throw new Error(`docs/installing.md has no block with ${beginning}`)
  return found
}

function write(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
