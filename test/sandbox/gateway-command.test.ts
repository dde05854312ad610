import { spawn } from 'node:child_process'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { testEnv } from '../support/service.ts'

t.test('the command prints the settings with which both gateways are asked', async t => {
  const child = spawn(process.execPath, ['src/main.ts', 'sandbox', '--gateway'], {
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
