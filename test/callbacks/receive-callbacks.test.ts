import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { receiveCallbacks } from '../../src/callbacks/receive-callbacks.ts'
import { readCallbackSecret } from '../../src/config/config.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('the test receiver prints each callback, and whether its signature is valid', async t => {
  const lines: string[] = []
  const receiver = await receiveCallbacks({ port: 0, secrets: undefined }, line => lines.push(line))
  t.teardown(() => receiver.close())
  const { call } = await startTestService(t, {
    CALLBACK_URL: receiver.url,
    CALLBACK_SECRET: receiver.secret,
  })
  await ending(call, await submit(call, 'CLIENT_CREATE', clientData('C-1')))
  const [line] = await until(async () => (lines.length > 0 ? lines : undefined))
  t.match(line, /^signature valid: \{"type":"operation\.succeeded"/)

  const forged = await fetch(receiver.url, { method: 'POST', body: '{}' })
  t.equal(forged.status, 400)
  t.match(lines[1], /^SIGNATURE NOT VALID: \{\}$/)

  const key = Buffer.from(receiver.secret.slice('whsec_'.length), 'base64')
  const old = String(Math.floor(Date.now() / 1_000) - 3_600)
  const signature = createHmac('sha256', key).update(`id.${old}.{}`).digest('base64')
  await fetch(receiver.url, {
    method: 'POST',
    body: '{}',
    headers: {
      'webhook-id': 'id',
      'webhook-timestamp': old,
      'webhook-signature': `v1,${signature}`,
    },
  })
  t.match(lines[2], /^TIMESTAMP TOO OLD/)

  await fetch(receiver.url, { method: 'POST', body: '{\nsignature valid: {}\u009b2K' })
  t.equal(lines[3], 'SIGNATURE NOT VALID: {\\u000asignature valid: {}\\u009b2K')
})

t.test('the test receiver goes on after a caller that breaks off', async t => {
  const receiver = await receiveCallbacks({ port: 0, secrets: undefined }, () => undefined)
  t.teardown(() => receiver.close())
  const broken = request(receiver.url, { method: 'POST', headers: { 'content-length': 100 } })
  broken.write('{', () => broken.destroy())
  await once(broken, 'error')
  t.equal((await fetch(receiver.url, { method: 'POST', body: '{}' })).status, 400)
})

t.test('the test receiver refuses a secret that no service could have', async t => {
  t.throws(() => readCallbackSecret({ CALLBACK_SECRET: 'whsec_short' }), {
    message: /^CALLBACK_SECRET is invalid/,
  })
})
