import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { serviceWithPosted } from '../support/books/readback.ts'
import { startProcessFor } from '../support/process.ts'
import { caller, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('check returns the payment as the ledger has it now', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  t.match(await service.check('pay_1'), { status: 200, body: { state: 'posted', objection: null } })
  await service.undo('gateway_a-pay_1')
  const { status, body } = await service.check('pay_1')
  t.match(
    { status, body },
    { status: 200, body: { state: 'suspense', reason: 'reversed_at_ledger' } },
  )
  t.same(body, await service.stateOf('pay_1'))
  t.match(await service.stateOf('pay_2'), { state: 'posted' })
  const { body: metrics } = await service.call('GET', '/metrics')
  t.match(metrics, /loanops_readback_found_total\{finding="reversed"\} 1\n/)
})

t.test('check leaves a payment that is not posted as it is, and knows no other', async t => {
  const service = await serviceWithPosted(t, [])
  await service.send('pay_1', 'L-9')
  await service.batch()
  const before = await service.stateOf('pay_1')
  t.match(before, { state: 'suspense', reason: 'loan_unknown' })
  await service.faults([{ kind: 'error', status: 503 }])
  t.match(await service.check('pay_1'), { status: 200, body: before })
  t.match(await service.check('pay_2'), { status: 404, body: { code: 'NOT_FOUND' } })
  t.match(await service.check('pay_1', 'gateway_b'), { status: 404 })
})

for (const [name, fault] of [
  ['says so', { kind: 'error', status: 503 }],
  ['refuses our credentials', { kind: 'unauthorized' }],
  ['does not answer in time', { kind: 'hang' }],
] as const)
  t.test(`check is 503 and decides nothing while the ledger ${name}`, async t => {
    const service = await serviceWithPosted(t, ['pay_1'], { LEDGER_TIMEOUT_MS: '500' })
    await service.undo('gateway_a-pay_1')
    await service.faults([{ ...fault, match: { on: 'reads' } }])
    t.match(await service.check('pay_1'), { status: 503, body: { code: 'UNAVAILABLE' } })
    t.match(await service.stateOf('pay_1'), { state: 'posted' })
  })

t.test('a process of role api checks payments too', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await service.undo('gateway_a-pay_1')
  const port = String(await freePort(0))
  const env = { ...testEnv(service.databaseUrl, service.ledger.url), PORT: port }
  const api = startProcessFor(t, 'api', env)
  const url = `http://127.0.0.1:${port}`
  await until(() => fetch(`${url}/healthz`).catch(() => undefined), 'it is up')
  t.match(await caller(url)('POST', '/api/payments/gateway_a/pay_1/check'), {
    status: 200,
    body: { state: 'suspense', reason: 'reversed_at_ledger' },
  })
  await api.kill('SIGTERM')
  t.equal(api.child.exitCode, 0, 'it stops in order')
})
