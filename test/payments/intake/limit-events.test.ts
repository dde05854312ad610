import t from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, signedA } from '../../support/payments/gateway-events.ts'
import { webhooks } from '../../support/payments/payments.ts'
import { startTestService } from '../../support/service.ts'

const event = (id: string) => JSON.stringify(capturedA({ id }))

t.test('events that nothing proves are taken only so often from one address', async t => {
  const secret = 'a-secret'
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_a: { validateSignature: false, secretEnv: 'TWO' } },
    LENDER_06: { gateway_a: { allowedCidrs: ['127.0.0.0/8'] } },
  })
  const settings = { ROLE: 'api', WEBHOOKS_PER_MINUTE: '2', LENDERS_FILE, TWO: secret }
  const { url, call } = await startTestService(t, { ...settings, DOCS_ENABLED: 'true' })
  const webhook = webhooks(url)
  const send = (id: string, lender = 'LENDER_02', headers = {}) =>
    webhook('gateway_a', event(id), { lender, headers })
  for (const id of ['1', '2']) t.equal((await send(id)).status, 200)
  const refused = await send('3')
  t.match(refused, { status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } })
  t.match(refused.headers.get('retry-after'), /^([1-9]|[1-5]\d|60)$/)
  const signed = await send('4', 'LENDER_02', signedA(secret, event('4')))
  t.equal(signed.status, 200, 'a valid signature')
  t.equal((await send('5', 'LENDER_06')).status, 200, 'an address of allowedCidrs')

  const { body } = await call('GET', '/openapi.json')
  const { 429: documented } = body.paths['/api/webhooks/gateway_a'].post.responses
  t.match(documented, { headers: { 'Retry-After': {} } })
})

t.test('a call beyond the limit is refused before its body is parsed', async t => {
  const secret = 'a-secret'
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { secretEnv: 'TWO' } } })
  const settings = { ROLE: 'api', WEBHOOKS_PER_MINUTE: '2', LENDERS_FILE, TWO: secret }
  const webhook = webhooks((await startTestService(t, settings)).url)
  const send = (body: string, headers = {}) => webhook('gateway_a', body, { headers })
  for (const body of ['{', '']) t.equal((await send(body)).status, 400, 'and it counts')
  t.equal((await send('{')).status, 429)
  t.equal((await send(event('1'))).status, 429)
  const signed = await send(event('2'), signedA(secret, event('2')))
  t.equal(signed.status, 200, 'a signature of any lender')
})

t.test('by default, any number of events is taken', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const webhook = webhooks(url)
  const ids = Array.from({ length: 100 }, (_, i) => String(i))
  const answers = await Promise.all(ids.map(id => webhook('gateway_a', event(id))))
  t.same([...new Set(answers.map(({ status }) => status))], [200])
})
