import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { closeOnceDead } from '../../../src/database/pool/dead-connection.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { openPath, type Trouble } from '../../support/path.ts'

const ASK_AFTER_MS = 100
/** Several times as long as the server is left alone. */
const LONG_STATEMENT = 'select pg_sleep(0.8) as slept'

t.test('a connection with long statements is given up once its server is dead', async t => {
  const { db, url } = await freshDatabase(t)
  const { hostname, port } = new URL(url)
  const path = await openPath({ host: hostname, port: Number(port) })
  t.teardown(() => path.close())
  const over = Object.assign(new URL(url), { port: String(path.port) }).href
  const connected = async () => {
    const client = new pg.Client(over)
    client.on('error', () => undefined)
    await client.connect()
    await closeOnceDead(client, over, ASK_AFTER_MS)
    return client
  }

  t.test('a statement that takes long is not cut off', async t => {
    const client = await connected()
    t.equal((await client.query(LONG_STATEMENT)).rows.length, 1)
    await client.end()
  })

  for (const [what, setting] of [
    ['whose server tracks no activity', sql`track_activities = off`],
    ['whose login takes a role', sql`role = loanops_runtime`],
  ] as const)
    t.test(`a statement that takes long is not cut off on a connection ${what}`, async t => {
      const login = sql`alter role loanops_service in database ${sql.id(new URL(url).pathname.slice(1))}`
      await sql`${login} set ${setting}`.execute(db)
      t.teardown(() => sql`${login} reset all`.execute(db))
      const client = await connected()
      t.equal((await client.query(LONG_STATEMENT)).rows.length, 1)
      await client.end()
    })

  for (const trouble of ['deaf', 'mute'] as const satisfies Trouble[])
    t.test(`a connection that is ${trouble} is closed once the server can be asked`, async t => {
      const client = await connected()
      path.inflict(trouble, 'both')
      const lost = client.query('select 1').then(
        () => 'answered',
        error => error.message,
      )
      path.heal()
      t.match(await lost, /^Connection terminated/)
    })

  t.test('our open transaction is not cut off during another’s long statement', async t => {
    const client = await connected()
    await client.query('begin')
    const other = await connected()
    await other.query(LONG_STATEMENT)
    t.equal((await client.query('select 1 as one')).rows[0].one, 1)
    await Promise.all([client.end(), other.end()])
  })
})
