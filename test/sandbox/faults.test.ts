import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { booksAt, driver } from '../support/ledger/ledger-driver.ts'

async function setup(t: Test, seed = 1) {
  const sandbox = await startSandbox({ port: 0, seed })
  t.teardown(() => sandbox.close())
  const ledger = driver(sandbox.url)
  await ledger.loan('L-1')
  const control = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(sandbox.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
  return { ...ledger, control, books: () => booksAt(sandbox.controlUrl) }
}

t.test('a write with a dropped answer takes effect, and its key returns its answer', async t => {
  const { repay, books } = await setup(t)
  await t.rejects(repay('L-1', 'R-1', { key: 'k', fault: 'drop' }))
  const again = await repay('L-1', 'R-1', { key: 'k' })
  t.match(again, { status: 200, fromStore: true, body: { resourceExternalId: 'R-1' } })
  t.equal((await books()).counters.servedFromStore, 1)
})

t.test('a reset connection has no effect', async t => {
  const { repay, repayment } = await setup(t)
  await t.rejects(repay('L-1', 'R-1', { key: 'k', fault: 'reset' }))
  t.equal((await repayment('L-1', 'R-1')).status, 404)
  t.match(await repay('L-1', 'R-1', { key: 'k' }), { status: 200, fromStore: false })
})

t.test('a stuck key gets 425 for ever, whether or not its write took effect', async t => {
  const { repay, repayment } = await setup(t)
  const applied = { kind: 'stuck', applied: true }
  t.match(await repay('L-1', 'R-1', { key: 'a', fault: applied }), { status: 425 })
  t.match(await repay('L-1', 'R-2', { key: 'b', fault: 'stuck' }), { status: 425 })
  t.match(await repay('L-1', 'R-1', { key: 'a' }), { status: 425 })
  t.match(await repay('L-1', 'R-2', { key: 'b' }), { status: 425 })
  t.equal((await repayment('L-1', 'R-1')).status, 200)
  t.equal((await repayment('L-1', 'R-2')).status, 404)
})

t.test('a conflict is stored under its key, a lock is not', async t => {
  const { repay } = await setup(t)
  const conflict = 'error.msg.platform.service.query.conflict'
  t.match(await repay('L-1', 'R-1', { key: 'a', fault: 'conflict' }), {
    status: 409,
    fromStore: false,
    body: { userMessageGlobalisationCode: conflict },
  })
  t.match(await repay('L-1', 'R-1', { key: 'a' }), {
    status: 409,
    fromStore: true,
    body: { userMessageGlobalisationCode: conflict },
  })
  t.match(await repay('L-1', 'R-2', { key: 'b', fault: 'locked' }), {
    status: 409,
    body: { userMessageGlobalisationCode: 'error.msg.loan.locked' },
  })
  t.match(await repay('L-1', 'R-2', { key: 'b' }), { status: 200, fromStore: false })
})

t.test(
  'the ledger stores its own 500 in another shape, and a 502 on the way back hides a success',
  async t => {
    const { repay, repayment } = await setup(t)
    t.match(await repay('L-1', 'R-1', { key: 'a', fault: { kind: 'error', status: 500 } }), {
      status: 500,
      body: { error: 'Internal Server Error' },
    })
    t.match(await repay('L-1', 'R-1', { key: 'a' }), {
      status: 500,
      fromStore: true,
      body: { Exception: 'No error message available' },
    })
    const after = { kind: 'error', status: 502, when: 'after' }
    t.match(await repay('L-1', 'R-2', { key: 'b', fault: after }), { status: 502 })
    t.equal((await repayment('L-1', 'R-2')).status, 200)
    const before = { kind: 'error', status: 503 }
    t.match(await repay('L-1', 'R-3', { key: 'c', fault: before }), { status: 503 })
    t.match(await repay('L-1', 'R-3', { key: 'c' }), { status: 200, fromStore: false })
  },
)

t.test('a write that awaits a second person’s approval gets 200 and has no effect', async t => {
  const { repay, repayment } = await setup(t)
  const waiting = await repay('L-1', 'R-1', { key: 'a', fault: 'makerChecker' })
  t.match(waiting, { status: 200, body: { rollbackTransaction: true } })
  t.equal((await repayment('L-1', 'R-1')).status, 404)
})

t.test('one loan can be made to hang while the others are answered', async t => {
  const { loan, repay, control } = await setup(t)
  await loan('L-2')
  await control('PUT', '/faults', [{ kind: 'hang', match: { externalId: 'L-1', on: 'writes' } }])
  const caller = new AbortController()
  const hanging = t.rejects(repay('L-1', 'R-1', { signal: caller.signal }))
  t.match(await repay('L-2', 'R-2'), { status: 200 })
  caller.abort()
  await hanging
})

t.test('a fault can be limited to the next three calls', async t => {
  const { repay, control } = await setup(t)
  await control('PUT', '/faults', [{ kind: 'tooMany', times: 3, match: { method: 'POST' } }])
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await repay('L-1', `R-${i}`)).status)
  t.strictSame(statuses, [429, 429, 429, 200, 200])
})

t.test('the same seed hits the same requests', async t => {
  const runs = []
  for (const seed of [7, 7, 8]) {
    const { repay, control } = await setup(t, seed)
    await control('PUT', '/faults', [{ kind: 'unauthorized', rate: 0.5 }])
    const statuses = []
    for (let i = 0; i < 20; i++) statuses.push((await repay('L-1', `R-${i}`)).status)
    runs.push(statuses.join())
  }
  t.equal(runs[0], runs[1])
  t.not(runs[0], runs[2])
})

t.test('of four slow writes to a loan at once, one is refused; overlaps are counted', async t => {
  const { repay, control, books } = await setup(t)
  // Long enough that the first is still in progress when a busy machine sends the last.
  await control('PUT', '/faults', [{ kind: 'latency', ms: [300, 320] }])
  const replies = await Promise.all([1, 2, 3, 4].map(i => repay('L-1', `R-${i}`, { key: `k${i}` })))
  t.strictSame(replies.map(reply => reply.status).sort(), [200, 200, 200, 409])
  const { counters, transactions } = await books()
  t.equal(counters.overlaps, 6)
  t.equal(transactions.filter(({ type }) => type === 'repayment').length, 3)
})

t.test('consecutive writes to one loan do not overlap', async t => {
  const { repay, books } = await setup(t)
  for (let i = 0; i < 20; i++) await repay('L-1', `R-${i}`)
  const { counters, log } = await books()
  t.equal(counters.overlaps, 0)
  t.match(log.at(-1), { command: 'REPAYMENT/LOAN', externalId: 'L-1', sequence: 24 })
  t.ok(log.every(({ startMs, endMs }) => endMs !== null && endMs >= startMs))
})

t.test('an unknown fault is refused with the list of known ones', async t => {
  const { control } = await setup(t)
  t.match(await control('PUT', '/faults', [{ kind: 'nosuch' }]), {
    error: /kind must be one of latency/,
  })
})
