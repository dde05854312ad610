import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { isTransient } from '../../../src/database/transient.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

/** A statement may take this long, and nothing may wait so long for a connection that is dead. */
const STATEMENT_MS = 25_000
const SOON_MS = 10_000
/** The server's message that it is ready, as at the end of a login. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1')

t.test('a connection that is silent while it is opened is given up within seconds', async t => {
  await giveUpSoon(t, () => true)
})

t.test('a session that is silent while it is set up is given up within seconds', async t => {
  await giveUpSoon(t, sent => sent.includes(READY))
})

/** @param isLost whether the network loses everything once the server has sent this */
async function giveUpSoon(t: Test, isLost: (sent: Buffer) => boolean) {
  const { url } = await freshDatabase(t)
  const over = await losing(t, url, isLost)
  const db = openDatabase(over, { max: 1, name: 'test', onError() {}, statementMs: STATEMENT_MS })
  t.teardown(() => db.destroy())
  const start = performance.now()
  const error = await sql`select`.execute(db).then(
    () => undefined,
    (error: Error) => error,
  )
  t.ok(performance.now() - start < SOON_MS)
  t.ok(isTransient(error), 'it is tried again')
}

async function losing(t: Test, url: string, isLost: (sent: Buffer) => boolean): Promise<string> {
  const { hostname: host, port } = new URL(url)
  const server = createServer(client => {
    const upstream = connect({ host, port: Number(port) })
    client.pipe(upstream)
    upstream.on('data', (sent: Buffer) => {
      client.write(sent)
      if (isLost(sent)) upstream.removeAllListeners('data').resume()
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => undefined).on('close', () => other.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return Object.assign(new URL(url), { port: String((server.address() as AddressInfo).port) }).href
}
