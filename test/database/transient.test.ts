import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { sql } from 'kysely'
import t from 'tap'
import { Pool } from 'undici'
import { openDatabase } from '../../src/database/database.ts'
import { Client, isLoginRefused, isTransient } from '../../src/database/transient.ts'
import { whenUp } from '../../src/database/when-up.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { GatewayRefused } from '../../src/payments/gateways/items/gateway-errors.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { endSessions } from '../support/database/sessions.ts'
import { clientData, newName } from '../support/ledger/loans.ts'
import { startTestService } from '../support/service.ts'

const nobody = async () => `127.0.0.1:${await freePort(0)}`
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    error => error,
  )

t.test('a database that refuses connections may take them later', async t => {
  const url = `postgres://${await nobody()}/x`
  const db = openDatabase(url, { max: 1, name: 'test', onError() {} })
  t.teardown(() => db.destroy())
  t.ok(isTransient(await errorOf(sql`select`.execute(db))))
})

t.test('a database whose host cannot be reached may be reached later', async t => {
  for (const code of ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNABORTED'])
    t.ok(
      isTransient(await errorOf(new Client({ stream: () => unreachable(code) }).connect())),
      code,
    )
})

/** Fails as a socket does whose host is switched off, or stands behind a firewall that rejects. */
function unreachable(code: string): Socket {
  const socket = new Socket()
  socket.connect = () => socket.destroy(Object.assign(new Error(`connect ${code}`), { code }))
  return socket
}

t.test('another server that refuses connections says nothing about the database', async t => {
  const other = new Pool(`http://${await nobody()}`)
  t.teardown(() => other.close())
  const error = await errorOf(other.request({ path: '/', method: 'GET' }))
  t.match(error, { code: 'ECONNREFUSED' })
  t.notOk(isTransient(error))
})

t.test('a gateway’s own error code is not taken for a code of a connection', async t => {
  t.notOk(isTransient(new GatewayRefused(400, 'ECONNRESET')))
})

t.test('a value that PostgreSQL refuses and quotes is no outage', async t => {
  const { db } = await freshDatabase(t)
  const error = await errorOf(sql`select ${'connection timeout'}::uuid`.execute(db))
  t.match(error, { message: /connection timeout/ })
  t.notOk(isTransient(error))
})

t.test('a login that PostgreSQL refuses is no caller’s fault, and no reason to wait', async t => {
  const { url } = await freshDatabase(t)
  const withoutRole = new URL(url)
  withoutRole.username = 'loanops_nobody'
  const withoutDatabase = new URL(url)
  withoutDatabase.pathname = '/loanops_nothing'
  for (const { href } of [withoutRole, withoutDatabase]) {
    const db = openDatabase(href, { max: 1, name: 'test', onError() {} })
    t.teardown(() => db.destroy())
    const error = await errorOf(sql`select`.execute(db))
    t.same([isLoginRefused(error), isTransient(error)], [true, false], String(error))
  }
})

t.test('a connection whose TLS we refuse is no caller’s fault, and named at a start', async t => {
  const PEM = readFileSync(new URL('../support/loopback.pem', import.meta.url))
  for (const [answer, reason] of [
    ['N', /does not support SSL/],
    ['S', /certificate/],
  ] as const) {
    const server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write(answer)
        if (answer === 'S') new TLSSocket(socket, { isServer: true, key: PEM, cert: PEM })
      })
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const db = openDatabase(`postgres://u:p@127.0.0.1:${port}/x?sslmode=verify-full`, {
      max: 1,
      name: 'test',
      onError() {},
    })
    t.teardown(() => db.destroy())
    const error = await errorOf(sql`select`.execute(db))
    t.match(error, { message: reason })
    t.same([isLoginRefused(error), isTransient(error)], [true, false])
    const started = whenUp(() => sql`select`.execute(db), { warn() {} })
    t.match(await errorOf(started), { message: /^PostgreSQL at DATABASE_URL: / })
  }
})

t.test('a call that the database has no room for says not only that it is unreachable', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  await sql`
    create function loanops.fill_disk() returns trigger language plpgsql as $$
    begin raise disk_full; end $$`.execute(db)
  await sql`
    create trigger fill_disk before insert on loanops.operation for each row
      execute function loanops.fill_disk()`.execute(db)
  const body = { status: 'CLIENT_CREATE', data: clientData(newName('C')) }
  t.match(await call('POST', '/api/ledger/operate', body), {
    status: 503,
    body: { code: 'UNAVAILABLE', detail: /or has no room/ },
  })
})

t.test('a call whose new session ends while it starts is to be repeated: 503', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  const url = new URL(process.env.TEST_DATABASE_URL as string)
  url.pathname = `/${rows[0]?.name}`
  const server = openDatabase(url.href, { max: 1, name: 'test', onError() {} })
  // The error of a server whose full disk has no room for the list of the catalogue's tables.
  await sql`
    create function pg_temp.refuse() returns event_trigger language plpgsql as $$
    begin raise internal_error using message = 'could not write init file'; end $$`.execute(server)
  await sql`create event trigger refuse on login execute function pg_temp.refuse()`.execute(server)
  await endSessions(db)
  t.match(await call('GET', '/api/payments'), { status: 503, body: { code: 'UNAVAILABLE' } })
  await sql`drop event trigger refuse`.execute(server)
  await server.destroy()
  t.match(await call('GET', '/api/payments'), { status: 200 })
})

t.test('a call to a service whose login is refused is to be repeated: 503', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  const name = sql.id(rows[0]?.name ?? '')
  const url = process.env.TEST_DATABASE_URL as string
  const server = openDatabase(url, { max: 1, name: 'test', onError() {} })
  await sql`alter database ${name} allow_connections false`.execute(server)
  await server.destroy()
  await endSessions(db)
  const body = { status: 'CLIENT_CREATE', data: clientData(newName('C')) }
  t.match(await call('POST', '/api/ledger/operate', body), {
    status: 503,
    body: { code: 'UNAVAILABLE' },
  })
})
