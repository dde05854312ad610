import { type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import t from 'tap'
import { readCommandLine, usage } from '../src/config/command-line.ts'
import { freshDatabase } from './support/database/fresh-database.ts'
import { MAIN } from './support/main.ts'
import { processEnv } from './support/process.ts'
import { NO_LEDGER, testEnv } from './support/service.ts'

t.test('a command refuses what another one takes, and says what it takes itself', async t => {
  const mistaken: [string[], string][] = [
    [['migrate', '--dry-run'], 'migrate does not take --dry-run'],
    [['reset', '--dry-run'], 'reset does not take --dry-run'],
    [['create-admin', 'asha'], 'create-admin does not take asha'],
    [['--role', 'api', '--port', '3000'], 'A role does not take --port'],
    [['migrat'], 'There is no command migrat'],
    [['toString'], 'There is no command toString'],
    [['migrate-portfolio', 'loans.csv', '--dryrun'], "Unknown option '--dryrun'"],
  ]
  for (const [args, message] of mistaken)
    t.throws(() => readCommandLine(args), { message: `${message}.\n${usage()}` }, args.join(' '))
  const { given } = readCommandLine(['migrate-portfolio', 'a.csv', 'b.csv', '--skip-invalid'])
  t.same(given, ['a.csv', 'b.csv'])
})

t.test('--help, -h and help list the commands, and do nothing else', async t => {
  for (const args of [['--help'], ['migrate', '-h'], ['help'], ['reset', '--help']]) {
    const env = { PATH: process.env.PATH }
    const { status, stdout } = spawnSync(process.execPath, [MAIN, ...args], {
      env,
      encoding: 'utf8',
    })
    t.same([status, stdout], [0, `${usage()}\n`], args.join(' '))
  }
})

t.test('a command that an error ends says which one', async t => {
  const fails = 'process.stdin.once("data", () => { throw new Error("nobody caught this") })'
  const preload = `--import=data:text/javascript,${encodeURIComponent(fails)}`
  for (const args of [['receive-callbacks'], ['sandbox'], ['sandbox', '--gateway']]) {
    const command = spawn(process.execPath, [preload, MAIN, ...args], { env: processEnv })
    t.teardown(() => command.kill('SIGKILL'))
    await once(command.stdout, 'data')
    command.stdin.write('now')
    t.match(await text(command.stderr), /nobody caught this/, args.join(' '))
    if (command.exitCode === null) await once(command, 'exit')
    t.equal(command.exitCode, 1)
  }
})

t.test('a command whose output cannot be written says why, and exits with 1', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const stdio: StdioOptions = ['ignore', full, 'pipe']
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'help'], {
    stdio,
    encoding: 'utf8',
  })
  t.same(
    [status, stderr],
    [1, 'The output could not be written: ENOSPC: no space left on device, write\n'],
  )
})

t.test('a command that writes refuses a database that is behind, and says what to run', async t => {
  const { url, db } = await freshDatabase(t)
  await sql`drop table loanops.migration_applied`.execute(db)
  const env = { ...testEnv(url, NO_LEDGER), PATH: process.env.PATH }
  const since = new Date(Date.now() - 1_000).toISOString()
  for (const args of [
    ['create-admin', '--username', 'asha'],
    ['after-restore', '--since', since],
  ]) {
    const input = 'a pass phrase for tests\n'
    const ended = spawnSync(process.execPath, [MAIN, ...args], { env, input, encoding: 'utf8' })
    t.match(ended.stderr, /is behind this version: run "npm run migrate"/, args.join(' '))
    t.equal(ended.status, 1)
  }
  t.equal((await sql`select from loanops.audit`.execute(db)).rows.length, 0)
})
