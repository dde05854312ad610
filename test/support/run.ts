// Starts a PostgreSQL for the suite, then the suite: npm test [-- file …] [-- --quick] [-- --shuffle [seed]]
import { spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { ownFolder } from '../../src/embedded/own-folder.ts'
import { removePostgres, startPostgres } from '../../src/embedded/postgres.ts'
import { bundle } from './bundle.ts'
import { makeTemplate } from './database/template.ts'
import { alone, runFolder } from './run-folders.ts'
import { QUICK_FILES, writeSuite } from './suite.ts'

const MEMORY = '/dev/shm'
/** Databases of 11 MB, at most some twenty at a time, and what their tests write: that, and room for the tests' processes. */
const ROOM_BYTES = 6 * 2 ** 30

const SEMI_SPACE_MB = 64

const tap = resolve('node_modules/.bin/tap')
const BUILT_TAP = 'node_modules/@tapjs/test/test-built/dist/esm/index.js'
const MAX_SEED = 1_000_000
const SUITES = '.data/suite'
const isShown = process.stdout.isTTY
const { files, options, seed, isQuick } = commandLine(process.argv.slice(2))
if (seed !== undefined) console.log(`shuffled; to repeat this order: npm test -- --shuffle ${seed}`)
// Two processes that build tap, or unpack the browser, at the same time would each run what the other still writes.
const prepared = alone(join(tmpdir(), `loanops-test-${process.getuid?.()}.lock`), prepare)
const suite = await runFolder(SUITES)
const main = bundle(resolve(suite))
await runFolder(join('.tap/test-results', SUITES))
// A file that is asked for by name is run as it is.
const isAsked = files.length > 0 && seed === undefined && !isQuick
const entries = isAsked ? files : writeSuite(suite, files, seed)
const folder = await postgresFolder()
const postgres = await startPostgres({
  folder,
  password: 'test',
  // Tests kill processes, never the machine, so nothing needs to reach the disk.
  flags: [
    'fsync=off',
    'full_page_writes=off',
    'autovacuum=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_connections=400',
    'scram_iterations=1',
    // Copies a file within the kernel.
    'file_copy_method=clone',
  ].flatMap(setting => ['-c', setting]),
})
try {
  await makeTemplate(postgres.url)
  await prepared
  const checks = isQuick ? [check('tsc'), check('biome', 'check', '.')] : []
  const { status, report } = await run(entries, options)
  if (status !== 0) console.log(failures(report))
  process.exitCode = [status, ...(await Promise.all(checks))].find(code => code !== 0) ?? 0
} finally {
  await postgres.close()
  for (const own of [join(folder, '..'), suite]) rmSync(own, { recursive: true, force: true })
}

async function prepare() {
  const browser = [process.execPath, resolve('test/support/console/browser.ts')]
  for (const [program = '', ...rest] of isBuilt() ? [browser] : [[tap, 'build'], browser])
    await once(spawn(program, rest, { stdio: 'ignore' }), 'exit')
}

async function run(files: string[], options: string[]) {
  const child = spawn(process.execPath, [tap, ...options, ...files], {
    // On a terminal, tap's own report ends with the failures.
    stdio: ['inherit', isShown ? 'inherit' : 'pipe', 'inherit'],
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres.url,
      // Where tap and its fixtures write: runs beside each other would remove each other's files.
      TEST_RUN_FOLDER: resolve(suite),
      TEST_MAIN: await main,
      _TAPJS_PROCESSINFO_CWD_: resolve(suite),
      // Compiling our sources takes half of a process's start; with the cache, only the first process does it.
      NODE_COMPILE_CACHE: resolve('.data/compile-cache'),
      // With room for what a test leaves behind, the collector runs a fraction as often.
      NODE_OPTIONS: `--max-semi-space-size=${SEMI_SPACE_MB} --import=${resolve('test/support/lean-tap.ts')}`,
    },
  })
  let report = ''
  child.stdout?.setEncoding('utf8').on('data', chunk => {
    report += chunk
    process.stdout.write(chunk)
  })
  const [status] = await once(child, 'close')
  return { status: status ?? 1, report }
}

/** Runs the program beside the tests. Its output comes when it has ended. */
async function check(program: string, ...args: string[]): Promise<number> {
  const child = spawn(resolve('node_modules/.bin', program), args)
  const [output, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  console.log(`# ${program}: ${status === 0 ? 'passed' : `failed\n${output}${errors}`}`)
  return status ?? 1
}

/** Once more at the end, where they are seen: each failed assertion with what it says. */
function failures(report: string): string {
  const details = String.raw`(?:\n *---\n[^]*?\n *\.\.\.)?`
  return (report.match(RegExp(`^ +not ok .*${details}`, 'gm')) ?? []).join('\n')
}

/** What to run, tap's options, and the seed of the order if shuffling is requested. */
function commandLine(given: string[]) {
  const at = given.indexOf('--shuffle')
  const next = given[at + 1] ?? ''
  const isSeed = at !== -1 && /^\d+$/.test(next)
  const rest = at === -1 ? given : given.toSpliced(at, isSeed ? 2 : 1)
  const isQuick = rest.includes('--quick')
  const files = rest.filter(one => !one.startsWith('-'))
  return {
    isQuick,
    files: isQuick ? QUICK_FILES : files,
    options: rest.filter(one => one.startsWith('-') && one !== '--quick'),
    seed: at === -1 ? undefined : isSeed ? next : String(randomInt(MAX_SEED)),
  }
}

/**
 * After a fresh install, tap is built with its default plugins, whose TypeScript loader cannot load our files. Building it
 * takes seconds.
 */
function isBuilt(): boolean {
  if (!existsSync(BUILT_TAP)) return false
  const { tap } = JSON.parse(readFileSync('package.json', 'utf8')) as { tap: { plugin: string[] } }
  const program = readFileSync(BUILT_TAP, 'utf8')
  return tap.plugin.every(name => name.startsWith('!') && !program.includes(`"${name.slice(1)}"`))
}

/** The folder is in memory if there is enough: copying databases on disk takes an eighth of the suite's time. */
async function postgresFolder(): Promise<string> {
  const { bavail, bsize } = existsSync(MEMORY) ? statfsSync(MEMORY) : { bavail: 0, bsize: 0 }
  const isInMemory = bavail * bsize >= ROOM_BYTES && freemem() >= ROOM_BYTES
  // The same for every run in this folder, so that the next run removes what a killed one left behind.
  const name = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 12)
  const parent = isInMemory ? `${MEMORY}/loanops-test-${name}` : resolve('.data/test-postgres')
  if (isInMemory) ownFolder(parent, process.getuid?.() ?? 0)
  const own = await runFolder(parent, async left => {
    await removePostgres(join(left, 'postgres'))
    rmSync(left, { recursive: true })
  })
  return join(own, 'postgres')
}
