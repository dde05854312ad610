import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { freePort } from '../src/embedded/free-port.ts'
import { freshDatabase } from './support/fresh-database.ts'

t.test('npm run migrate waits for a database that is not there yet', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const late = new URL(ownerUrl)
  late.port = String(await freePort(0))
  const migrate = spawn(process.execPath, ['src/main.ts', 'migrate'], {
    env: { PATH: process.env.PATH, DATABASE_URL: late.href },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => migrate.kill('SIGKILL'))
  const ended = once(migrate, 'exit')
  const [said] = await Promise.race([once(migrate.stdout, 'data'), ended])
  t.match(String(said), 'waiting for the database')

  const { hostname, port } = new URL(ownerUrl)
  const server = createServer(socket => {
    const there = connect(Number(port), hostname)
    socket.on('error', () => there.destroy())
    there.on('error', () => socket.destroy())
    socket.pipe(there).pipe(socket)
  })
  server.listen(Number(late.port), late.hostname)
  t.teardown(() => server.close())
  t.same(await ended, [0, null])
})
