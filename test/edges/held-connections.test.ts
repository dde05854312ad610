import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { httpLimits } from '../../src/http/limits.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { answerOn, connected, startLimited } from '../support/http/limited-api.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('an address may hold only so many connections, and others keep theirs', async t => {
  const url = await startLimited(t, httpLimits, { CONNECTIONS_PER_ADDRESS: '2' })
  const { port } = new URL(url)
  const held = [await connected(Number(port)), await connected(Number(port))]
  t.teardown(() => held.map(socket => socket.destroy()))
  t.equal(await answerOn(await connected(Number(port))), '', 'its third is closed')
  t.match(await answerOn(await connected(Number(port), '127.0.0.2')), /^HTTP\/1.1 200 /)
  held.pop()?.destroy()
  await until(async () => /^HTTP\/1.1 200 /.test(await answerOn(await connected(Number(port)))))
})

t.test('our own proxies may hold any number of connections', async t => {
  const settings = { CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.1' }
  const url = await startLimited(t, httpLimits, settings)
  const { port } = new URL(url)
  const held = [await connected(Number(port)), await connected(Number(port))]
  t.teardown(() => held.map(socket => socket.destroy()))
  t.match(await answerOn(await connected(Number(port))), /^HTTP\/1.1 200 /)
})

t.test('the log names an address that holds more than half of the connections, once', async t => {
  const addresses: string[] = []
  const warn = (line: { address?: string }) => {
    if (line.address !== undefined) addresses.push(line.address)
  }
  const log = Object.assign(logger('silent'), { warn })
  const url = await startLimited(t, { ...httpLimits, connections: 6 }, {}, log)
  const { port } = new URL(url)
  const held: Socket[] = []
  for (let i = 0; i < 5; i++) held.push(await connected(Number(port)))
  t.teardown(() => held.map(socket => socket.destroy()))
  await until(async () => addresses.length > 0)
  t.same(addresses, ['127.0.0.1'])
})

t.test('health answers on OPS_PORT although every connection of PORT is taken', async t => {
  const opsPort = await freePort(0)
  const settings = { OPS_PORT: String(opsPort) }
  const url = await startLimited(t, { ...httpLimits, connections: 1 }, settings)
  const { port } = new URL(url)
  const held = await connected(Number(port))
  t.teardown(() => held.destroy())
  t.equal(await answerOn(await connected(Number(port))), '', 'PORT takes no other')
  t.equal((await fetch(`http://127.0.0.1:${opsPort}/healthz`)).status, 200)
})

t.test('a stop does not wait for connections that never sent anything', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const config = readConfig(testEnv(databaseUrl, 'http://127.0.0.1:9/api/v1', { ROLE: 'api' }))
  const service = await startRole(config, logger('silent'))
  const silent = await connected(Number(new URL(service.url).port))
  const ended = once(silent.resume(), 'close')
  await fetch(`${service.url}/healthz`)
  await service.close()
  await ended
  t.pass()
})
