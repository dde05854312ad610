import t from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { driver } from '../support/ledger/ledger-driver.ts'

t.test('of eight concurrent equal calls one takes effect, and all get its answer', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { loan: givenLoan, repay, call } = driver(sandbox.url)
  await givenLoan('L-1')
  const calls = Array.from({ length: 8 }, () =>
    repay('L-1', 'R-1', { key: 'k', fault: { kind: 'latency', ms: 20 } }),
  )
  const replies = await Promise.all(calls)
  t.strictSame(
    new Set(replies.map(reply => JSON.stringify([reply.status, reply.body]))).size,
    1,
    'one answer',
  )
  t.equal(replies.filter(reply => !reply.fromStore).length, 1)
  const loan = await call('GET', '/loans/external-id/L-1')
  t.equal(loan.body.summary.totalRepayment, 100)
})

t.test('an empty key is a valid key, shared by the whole ledger', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { loan, repay } = driver(sandbox.url)
  await loan('L-1')
  await loan('L-2')
  t.match(await repay('L-1', 'R-1', { key: '' }), { status: 200, fromStore: false })
  t.match(await repay('L-2', 'R-2', { key: '' }), {
    fromStore: true,
    body: { resourceExternalId: 'R-1' },
  })
})

t.test('of four concurrent creates with one external id, one succeeds', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { loan } = driver(sandbox.url)
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => loan('L-1')))
  t.equal(outcomes.filter(outcome => outcome.status === 'fulfilled').length, 1)
})
