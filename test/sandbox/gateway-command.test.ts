import { spawn, spawnSync } from 'node:child_process'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { MAIN } from '../support/main.ts'
import { testEnv } from '../support/service.ts'

/** Many times what the command takes to refuse it. */
const START_MS = 30_000

t.test('the command prints the settings with which both gateways are asked', async t => {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--gateway'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    if (printed.includes('Control:')) break
  }
  const settings = Object.fromEntries(
    [...printed.matchAll(/(GATEWAY_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  const ledgerUrl = 'http://127.0.0.1:1/fineract-provider/api/v1'
  const { gatewayAccounts } = readConfig(testEnv('postgres://u:p@127.0.0.1/d', ledgerUrl, settings))
  t.match(gatewayAccounts, [
    { gateway: 'gateway_a', lender: null },
    { gateway: 'gateway_b', lender: null },
  ])
  const [a] = gatewayAccounts
  const authorization = `Basic ${Buffer.from(`${a?.key}:${a?.secret}`).toString('base64')}`
  const response = await fetch(`${a?.url}/payments`, { headers: { authorization } })
  t.match(await response.json(), { entity: 'collection', items: [] })
})

t.test('an invalid port is refused and named', async t => {
  for (const port of ['abc', '65536']) {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'sandbox', '--port', port], {
      encoding: 'utf8',
      timeout: START_MS,
    })
    t.equal(status, 1)
    t.match(stderr, `--port must be a number from 0 to 65535, not ${port}`)
  }
})
