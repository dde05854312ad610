import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { ordinaryUser } from '../../src/embedded/ordinary-user.ts'
import { caller } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A folder in the system's temporary folder, which PostgreSQL's user can traverse. */
function folderOfItsOwn(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-embedded-'))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whatever runs on this machine. */
const ANY_PORTS = { PORT: '0', SANDBOX_PORT: '0' }
const USUAL_PORTS = { PORT: '', SANDBOX_PORT: '' }

type Options = { ports?: NodeJS.ProcessEnv; flags?: string[] }

/** Runs `npm start` in a folder. */
function launch(t: Test, folder: string, { ports = ANY_PORTS, flags = [] }: Options = {}) {
  const child = spawn(process.execPath, [resolve('src/main.ts'), '--embedded', ...flags], {
    cwd: folder,
    // PGSSLMODE is for the person's other databases.
    env: { ...process.env, ...ports, DATABASE_URL: '', LEDGER_URL: '', PGSSLMODE: 'require' },
  })
  t.teardown(() => stopped(child, 'SIGTERM'))
  return child
}

/** @returns what it printed, once it has ended or is ready for use */
async function start(
  t: Test,
  folder: string,
  options?: Options,
): Promise<{ child: ChildProcess; printed: string }> {
  const child = launch(t, folder, options)
  let printed = ''
  await new Promise<void>(done => {
    child.once('exit', () => done())
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        printed += chunk
        if (printed.includes('Ctrl-C')) done()
      })
    }
  })
  return { child, printed }
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise(done => child.once('exit', done))
  child.kill(signal)
  await exited
}

const filesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry => (entry.isFile() ? entry.name : []))

const apiOf = (printed: string) => /API +(\S+)\/api/.exec(printed)?.[1] ?? ''

function callsOf(folder: string, printed: string) {
  const token = readFileSync(join(folder, '.data/internal-token'), 'utf8')
  const call = caller(apiOf(printed))
  return (method: string, path: string, body?: object) =>
    call(method, path, body, { 'x-internal-token': token })
}

const client = {
  status: 'CLIENT_CREATE',
  data: { firstname: 'A', lastname: 'B', externalId: 'C-1', activationDate: '05 January 2026' },
}

// Making a database takes seconds, so these four share a folder, each as the one before left it.
const folder = folderOfItsOwn(t)
let running: Awaited<ReturnType<typeof start>>

await t.test(
  'a start after a kill continues with the database and the ledger’s books as they were',
  async () => {
    const first = await start(t, folder, { ports: USUAL_PORTS })
    t.match(first.printed, 'LoanOps is running')
    const before = callsOf(folder, first.printed)
    const { body } = await before('POST', '/api/ledger/operate', client)
    const track = `/api/ledger/track/${encodeURIComponent(body.tracking_id)}?wait=20`
    t.match((await before('GET', track)).body, { status: 'success' })
    await stopped(first.child, 'SIGKILL')

    running = await start(t, folder, { ports: USUAL_PORTS })
    const after = callsOf(folder, running.printed)
    t.match((await after('GET', track)).body, { status: 'success' })
    const again = await after('POST', '/api/ledger/operate', client)
    const retried = `/api/ledger/track/${encodeURIComponent(again.body.tracking_id)}?wait=20`
    t.match((await after('GET', retried)).body, {
      status: 'failed',
      failure_response: {
        errors: [{ userMessageGlobalisationCode: 'error.msg.client.duplicate.externalId' }],
      },
    })
  },
)

await t.test(
  'a second start in the same folder is refused, and one in another folder finds free ports',
  async t => {
    const second = await start(t, folder)
    t.match(second.printed, /already running in this folder/)
    t.equal(second.child.exitCode, 1)
    const elsewhere = await start(t, folderOfItsOwn(t), { ports: USUAL_PORTS })
    t.match(apiOf(elsewhere.printed), /^http/)
    t.not(apiOf(elsewhere.printed), apiOf(running.printed))
  },
)

await t.test('files in .data are private, even if an earlier start left them readable', async t => {
  await stopped(running.child, 'SIGTERM')
  const data = join(folder, '.data')
  writeFileSync(join(data, 'postgres.log'), '')
  writeFileSync(join(data, 'bench.json'), '{}')
  for (const path of [data, ...filesIn(data).map(name => join(data, name))])
    chmodSync(path, path === data ? 0o755 : 0o644)
  await start(t, folder)

  const { mode, gid } = lstatSync(data)
  const postgres = ordinaryUser()
  t.equal(mode & 0o777, postgres ? 0o710 : 0o700)
  if (postgres) t.equal(gid, postgres.gid, 'its group may traverse the folder')
  t.ok(lstatSync(join(data, 'postgres')).isDirectory())
  const files = filesIn(data)
  t.match(new Set(files), new Set(['internal-token', 'ledger-books.jsonl', 'loanops.pid']))
  for (const name of files) t.equal(lstatSync(join(data, name)).mode & 0o777, 0o600, name)
})

t.test('a start that is stopped before it is ready leaves no PostgreSQL running', async t => {
  const child = launch(t, folder)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += chunk))
  const pid = await until(async () => postmaster(folder), 'PostgreSQL runs')
  await stopped(child, 'SIGTERM')
  t.equal(child.exitCode, 0)
  t.notMatch(printed, /waiting for the database|Error/)
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

function postmaster(folder: string): number | undefined {
  const file = join(folder, '.data/postgres/postmaster.pid')
  const [pid = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  // PostgreSQL makes the file before it writes into it.
  return pid === '' ? undefined : Number(pid)
}

t.test('after a reset, a start has the old URLs, token and passwords, and empty books', async t => {
  const [cwd, port] = [folderOfItsOwn(t), await threeFreePorts()]
  const options = { ports: { PORT: '0', SANDBOX_PORT: String(port) }, flags: ['--data', 'trial'] }
  const first = await start(t, cwd, options)
  const urls = [`PostgreSQL .*:${port + 2}/`, `Ledger .*:${port}/`, `Gateways .*:${port + 1}/v1`]
  for (const url of urls) t.match(first.printed, RegExp(url))
  const secrets = readFileSync(join(cwd, 'trial/secrets.json'), 'utf8')
  const token = readFileSync(join(cwd, 'trial/internal-token'), 'utf8')
  const call = (printed: string, method: string, path: string, body?: object) =>
    caller(apiOf(printed))(method, path, body, { 'x-internal-token': token })
  const { tracking_id } = (await call(first.printed, 'POST', '/api/ledger/operate', client)).body
  const track = `/api/ledger/track/${encodeURIComponent(tracking_id)}?wait=20`
  t.match((await call(first.printed, 'GET', track)).body, { status: 'success' })
  t.match(reset(cwd).stderr, /already running in this folder/)
  await stopped(first.child, 'SIGTERM')
  t.match(reset(cwd), { status: 0, stdout: /^Emptied .*trial; its token and passwords stay/ })

  const second = await start(t, cwd, options)
  for (const url of urls) t.match(second.printed, RegExp(url))
  t.equal(readFileSync(join(cwd, 'trial/secrets.json'), 'utf8'), secrets)
  t.equal((await call(second.printed, 'GET', track)).status, 404)
  const controls = /Ledger.*?controls (\S+)/s.exec(second.printed)?.[1]
  t.match(await (await fetch(`${controls}/books`)).json(), { clients: [], loans: [] })
  t.same(readdirSync(cwd), ['trial'])
})

t.test('a port in use, or a folder with other files, is refused by name', async t => {
  const cwd = folderOfItsOwn(t)
  writeFileSync(join(cwd, 'letter.txt'), '')
  const foreign = await start(t, cwd, { flags: ['--data', '.'] })
  t.match(foreign, { child: { exitCode: 1 }, printed: '--data . holds other files' })
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const taken = await start(t, cwd, { ports: { PORT: '0', SANDBOX_PORT: String(port) } })
  t.match(taken, { child: { exitCode: 1 }, printed: `SANDBOX_PORT is invalid: port ${port}` })
})

function reset(cwd: string) {
  return spawnSync(process.execPath, [resolve('src/main.ts'), 'reset', '--data', 'trial'], {
    cwd,
    encoding: 'utf8',
  })
}

/** The first of three free ports in a row. */
async function threeFreePorts(): Promise<number> {
  const port = await freePort(0)
  const others = await Promise.allSettled([freePort(port + 1), freePort(port + 2)])
  return others.every(({ status }) => status === 'fulfilled') ? port : threeFreePorts()
}
