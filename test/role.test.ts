import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Config, ConfigError, readConfig } from '../src/config/config.ts'
import type { Database } from '../src/database/database.ts'
import { freePort } from '../src/embedded/free-port.ts'
import { logger } from '../src/log/log.ts'
import { startRole } from '../src/role.ts'
import { freshDatabase } from './support/database/fresh-database.ts'
import { endSessions, untilSessionsWait } from './support/database/sessions.ts'
import { MAIN } from './support/main.ts'
import { NO_LEDGER, testEnv } from './support/service.ts'
import { until } from './support/until.ts'

/** Many times what a process with nothing left to do takes to end. */
const ENDS_WITHIN_MS = 30_000

t.test('a worker of which one job fails to start stops the jobs already started', async t => {
  const { url } = await freshDatabase(t)
  const child = spawn(process.execPath, ['test/support/failed-worker.ts'], {
    env: { ...testEnv(url, NO_LEDGER), PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: ENDS_WITHIN_MS,
    killSignal: 'SIGKILL',
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.match(output, /already been registered/)
  t.equal(code, 0, 'it ends by itself, because no job keeps it running')
})

const BROKEN = {
  'whose database is behind': sql`delete from loanops.migration_applied`,
  'whose queue cannot be opened': sql`drop schema pgboss cascade`,
  'whose schedules cannot be set': sql`alter table pgboss.schedule add check (false) not valid`,
}

for (const [which, breakIt] of Object.entries(BROKEN)) {
  t.test(`a role ${which} refuses to start and closes its connections`, async t => {
    const { url, db } = await freshDatabase(t)
    await breakIt.execute(db)
    await db.destroy()
    await refusesToStart(t, readConfig(testEnv(url, NO_LEDGER)))
  })
}

t.test('a role that cannot listen names the setting that is wrong', async t => {
  const { url } = await freshDatabase(t)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const taken = String((other.address() as AddressInfo).port)
  for (const [settings, message] of [
    [{ PORT: taken }, `PORT is invalid: port ${taken} is in use. Example: PORT=`],
    [{ OPS_PORT: taken }, `OPS_PORT is invalid: port ${taken} is in use. Example: OPS_PORT=`],
    // Reserved for documentation: no machine has it.
    [{ HOST: '192.0.2.1' }, 'HOST is invalid: this machine has no address 192.0.2.1'],
  ] as const) {
    const config = readConfig(testEnv(url, NO_LEDGER, { ROLE: 'api', ...settings }))
    await t.rejects(startRole(config, logger('silent')), { constructor: ConfigError, message })
  }
})

t.test('a role that starts warns of settings that are not safe', async t => {
  const { url } = await freshDatabase(t)
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: line => void lines.push(JSON.parse(line).msg) })
  const secret = 'one-secret-for-everything-of-32-characters'
  const settings = { JWT_SECRET: secret, INTERNAL_TOKEN: secret, ROLE: 'worker' }
  const service = await startRole(readConfig(testEnv(url, NO_LEDGER, settings)), log)
  t.teardown(() => service.close())
  t.match(lines, [/^INTERNAL_TOKEN and JWT_SECRET hold the same secret/])
})

const STEPS = {
  'checks its tables': 'loanops.migration_applied',
  'opens its queue': 'pgboss.version',
}

for (const [step, table] of Object.entries(STEPS)) {
  t.test(`a role that loses its database while it ${step} starts again`, async t => {
    const { url, db } = await freshDatabase(t)
    const lock = await lockTable(db, table)
    const { starting, waitedFor } = start(url)
    await untilSessionsWait(db, { name: 'loanops-all' })
    await endSessions(db)
    await lock.release()
    await runs(t, starting)
    t.match(waitedFor, [/^terminating connection/])
  })
}

t.test('a role that loses its database after it took work starts again', async t => {
  const { url, db } = await freshDatabase(t)
  const first = await lockTable(db, 'pgboss.version')
  const { starting, waitedFor } = start(url)
  await untilSessionsWait(db, { name: 'loanops-all' })
  // Gets its lock after the queue has read the table, and before the housekeeping, which starts last, does.
  const second = lockTable(db, 'pgboss.version')
  await untilSessionsWait(db, { name: 'test' })
  await first.release()
  await untilSessionsWait(db, { name: 'loanops-all-housekeeping' })
  await endSessions(db)
  await (await second).release()
  await runs(t, starting)
  t.equal(waitedFor.length, 1, 'it began twice')
})

t.test('a role that is stopped while it waits for its database does not start', async t => {
  const { url } = await freshDatabase(t)
  const unreachable = new URL(url)
  unreachable.port = String(await freePort(0))
  const env = testEnv(unreachable.href, NO_LEDGER, { LOG_LEVEL: 'warn' })
  const child = spawn(process.execPath, [MAIN, '--role', 'worker'], {
    env: { ...env, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: ENDS_WITHIN_MS,
    killSignal: 'SIGKILL',
  })
  const ended = once(child, 'close')
  let output = ''
  for await (const text of child.stdout) {
    output += text
    if (output.includes('waiting for the database')) child.kill('SIGTERM')
  }
  t.same(await ended, [0, null], 'it ends by itself, and a stop is no failure')
  t.notMatch(output, 'killed by timeout')
})

function start(url: string) {
  const waitedFor: string[] = []
  const log = logger('silent')
  log.warn = ({ reason }: { reason?: string }, message?: string) => {
    if (message === 'waiting for the database') waitedFor.push(String(reason))
  }
  return { starting: startRole(readConfig(testEnv(url, NO_LEDGER)), log), waitedFor }
}

async function runs(t: Test, starting: ReturnType<typeof startRole>): Promise<void> {
  const service = await starting
  t.teardown(service.close)
  t.equal((await fetch(`${service.url}/healthz`)).status, 200)
}

/** Resolves once the table is locked. */
async function lockTable(db: Database, table: string) {
  const { promise: whenReleased, resolve } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const transaction = db.transaction().execute(async trx => {
    await sql`lock table ${sql.table(table)}`.execute(trx)
    locked.resolve()
    await whenReleased
  })
  await locked.promise
  return {
    release() {
      resolve()
      return transaction
    },
  }
}

t.test('a role whose API cannot be built refuses to start and closes its connections', async t => {
  const { url, db } = await freshDatabase(t)
  await db.destroy()
  const config = readConfig(testEnv(url, NO_LEDGER))
  await refusesToStart(t, { ...config, gateways: [...config.gateways, ...config.gateways] })
})

async function refusesToStart(t: Test, config: Config): Promise<void> {
  const before = openSockets()
  await t.rejects(startRole(config, logger('silent')))
  // A closed socket is counted until its handle is freed.
  t.ok(await until(async () => openSockets() <= before, 'its connections are closed'))
}

const openSockets = () =>
  process.getActiveResourcesInfo().filter(resource => /^(TCP|PipeWrap)/.test(resource)).length
