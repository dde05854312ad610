import dns from 'node:dns'
import { connect } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { Unavailable } from '../../src/database/unavailable.ts'
import { logFailure } from '../../src/http/log-failure.ts'
import { errorSerializer } from '../../src/log/log.ts'
import { publicError } from '../../src/log/public-error.ts'
import { openQueue, type Queue, work } from '../../src/queue/queue.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { matchEach } from '../support/match-each.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { webhooks } from '../support/payments/payments.ts'
import { NO_DATABASE, NO_LEDGER, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const queue: Queue<object> = {
  name: 'test-failing',
  options: { retryLimit: 0 },
  work: { pollingIntervalSeconds: 0.5 },
}

t.test('a PostgreSQL error is logged without the values that it quotes', async t => {
  const { db } = await freshDatabase(t)
  for (const error of await errorsThatRepeat(db, 'mrkdvalue')) {
    t.match(JSON.stringify({ ...error, message: error.message }), 'mrkdvalue')
    const logged = JSON.stringify(publicError(error))
    t.notMatch(logged, 'mrkdvalue')
    t.match(logged, /"code":"\d/)
    t.match(logged, /"stack":".*node_modules/, 'where it happened')
  }
})

t.test(
  'events beyond what may wait are logged once, and each that the database refused',
  async t => {
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => lines.push(line) })
    const fail = (cause: Error) =>
      logFailure({ log }, new Unavailable('the event could not be stored', { cause }))
    for (const cause of [new Unavailable('too many wait'), new Error('disk full')])
      for (const _ of [1, 2, 3]) fail(cause)
    t.equal(lines.length, 1 + 3)
  },
)

t.test('an outage of the database is logged shortly for each call, and once in full', async t => {
  const lines: string[] = []
  const log = pino({ serializers: { err: publicError } }, { write: line => lines.push(line) })
  const db = openDatabase(NO_DATABASE, { max: 1, name: 'test', onError() {} })
  t.teardown(() => db.destroy())
  const calls = [1, 2, 3].map(() => sql`select`.execute(db).catch(cause => cause))
  for (const cause of await Promise.all(calls))
    logFailure({ log }, new Unavailable('the event could not be stored', { cause }))
  const [whole, ...others] = lines
  t.match(whole, /"stack":/)
  t.equal(others.length, 2)
  for (const line of others) {
    t.match(line, /"reason":"connect ECONNREFUSED/)
    t.ok(line.length < 250, line)
  }
})

t.test('a failure that repeats is logged each time, and with its stack once a minute', async t => {
  const lines: string[] = []
  const log = pino({ serializers: { err: errorSerializer() } }, { write: line => lines.push(line) })
  const failed = (of: string) => new Error(`${of} failed`, { cause: new Error('no connection') })
  const [sweep, seal] = [failed('sweep'), failed('seal')]
  for (const err of [sweep, seal, sweep, seal, sweep]) log.error({ err }, 'retrying')
  t.same(
    lines.map(line => line.split('"stack"').length - 1),
    [2, 2, 0, 0, 0],
  )
  for (const line of lines) t.match(line, /(sweep|seal) failed.*no connection/)
})

t.test('a repeated failure with another message has no stack, a new cause has its own', t => {
  const causeOf = (job: string) =>
    job === 'three' ? new TypeError('not a function') : new Error('no connection')
  const serialize = errorSerializer()
  const [first, second, third] = ['one', 'two', 'three'].map(job =>
    serialize(new Error(`job ${job} failed`, { cause: causeOf(job) })),
  )
  t.type(first?.stack, 'string')
  t.same(second, {
    type: 'Error',
    message: 'job two failed',
    code: undefined,
    cause: { type: 'Error', message: 'no connection', code: undefined },
  })
  t.equal(third?.stack, undefined)
  t.match(third?.cause?.stack, /not a function/)
  t.end()
})

t.test(
  'the failure of a host with several addresses names each, in logs and elsewhere',
  async t => {
    const found = ['127.0.0.1', '127.0.0.2'].map(address => ({ address, family: 4 }))
    type Listener = (error: null, addresses: object[]) => void
    const value = (_: string, __: object, listener: Listener) => listener(null, found)
    t.intercept(dns, 'lookup', { value })
    const url = NO_DATABASE.replace('127.0.0.1', 'db.test')
    const db = openDatabase(url, { max: 1, name: 'test', onError() {} })
    t.teardown(() => db.destroy())
    const cause = await sql`select`.execute(db).catch(error => error)
    const each = 'connect ECONNREFUSED 127.0.0.1:9, connect ECONNREFUSED 127.0.0.2:9'
    t.match(cause, { message: each, code: 'ECONNREFUSED' })
    t.match(publicError(new AggregateError([new Error('one'), new Error('other')])), {
      message: 'one, other',
    })
    const reasons: unknown[] = []
    const log = { error: (line: object) => void reasons.push(line) } as unknown as FastifyBaseLogger
    for (const _ of [1, 2]) logFailure({ log }, cause)
    t.match(reasons, [{ err: cause }, { reason: each }])
  },
)

t.test('a failed job’s error is stored without the values in it', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const boss = openQueue(ownerUrl, { isWorker: true, name: 'test', onError() {} })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  await boss.createQueue(queue.name, queue.options)
  const errors = await errorsThatRepeat(db, 'mrkdvalue')
  await work(boss, queue, async () => {
    throw errors.pop()
  })
  for (const _ of [...errors]) await boss.send(queue.name, {})
  const outputs = await until(async () => {
    const { rows } = await sql<{ error: object }>`
      select error from ops.job_failed where queue = ${queue.name}`.execute(db)
    return errors.length === 0 && rows
  })
  t.ok(outputs.length > 0)
  t.notMatch(JSON.stringify(outputs), 'mrkdvalue')
  t.match(JSON.stringify(outputs), /invalid input syntax|violates|too long/)
})

t.test('a webhook that cannot be stored is one line in the log, with the cause', async t => {
  const { url, db, errors } = await startLogged(t)
  await sql`alter schema pgboss rename to elsewhere`.execute(db)
  const { status } = await webhooks(url)('gateway_a', capturedA())
  t.equal(status, 503)
  matchEach(t, errors, [{ err: { cause: { message: /pgboss/ } } }])
})

t.test('a form whose browser leaves without a session is no error of ours', async t => {
  const { url, errors } = await startLogged(t)
  const type = 'content-type: application/x-www-form-urlencoded'
  const head = `POST /console/payments/gateway_a/pay_1/note HTTP/1.1\r\nhost: x\r\n${type}`
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(`${head}\r\ncontent-length: 100\r\n\r\nnote=`)
  // Answered later than the form has begun to be read.
  await fetch(`${url}/readyz`)
  socket.destroy()
  await fetch(`${url}/readyz`)
  t.same(errors, [])
})

/** A service of role api, and what it logs as errors. */
async function startLogged(t: Test) {
  const { url: databaseUrl, db } = await freshDatabase(t)
  const errors: object[] = []
  const log = pino(
    { level: 'error', serializers: { err: publicError } },
    { write: line => errors.push(JSON.parse(line)) },
  )
  const changes = { ROLE: 'api', CONSOLE_ENABLED: 'true' }
  const config = readConfig(testEnv(databaseUrl, NO_LEDGER, changes))
  const service = await startRole(config, log)
  t.teardown(() => service.close())
  return { url: service.url, db, errors }
}

/** PostgreSQL's errors about invalid values: some quote them in the message, some in the detail. */
async function errorsThatRepeat(db: Database, value: string): Promise<Error[]> {
  const statements = [
    sql`select ${value}::uuid`,
    sql`select ${`{"a": ${value}}`}::json`,
    sql`select ${value}::integer`,
    sql`insert into loanops.login_attempt (key) values (${value}), (${value})`,
    sql`insert into loanops.account (id, username, password_hash, role)
        values (gen_random_uuid(), ${value}, ${value}, ${value})`,
  ]
  return Promise.all(
    statements.map(statement =>
      statement.execute(db).then(
        () => new Error('the value was accepted'),
        error => error as Error,
      ),
    ),
  )
}
