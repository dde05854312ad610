import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { groupCommit } from '../../src/database/group-commit/group-commit.ts'
import { clientData, loanData, newName } from '../support/ledger/loans.ts'
import { startTestService } from '../support/service.ts'

const CONCURRENT_REQUESTS = 50
const LONGER_THAN_A_QUICK_COMMIT_MS = 15
const GATHER_MS = 2
const MORE_THAN_MAY_WAIT = 6_000

t.test('the same Idempotency-Key fifty times at once creates one operation', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  const body = { status: 'CLIENT_CREATE', data: clientData(newName('C')) }
  const answers = await Promise.all(
    Array.from({ length: CONCURRENT_REQUESTS }, () =>
      call('POST', '/api/ledger/operate', body, { 'idempotency-key': 'once' }),
    ),
  )
  t.same([...new Set(answers.map(({ status }) => status))], [202])
  t.equal(new Set(answers.map(one => one.body.tracking_id)).size, 1)
  const { rows } = await sql<{
    n: number
  }>`select count(*)::integer as n from loanops.operation`.execute(db)
  t.equal(rows[0]?.n, 1)
})

t.test(
  'a key reused with a different body is refused; others in the same commit are accepted',
  async t => {
    const { call } = await startTestService(t, { ROLE: 'api' })
    const send = (externalId: string, key: string) =>
      call(
        'POST',
        '/api/ledger/operate',
        { status: 'CLIENT_CREATE', data: clientData(externalId) },
        { 'idempotency-key': key },
      )
    const answers = await Promise.all([send('C-1', 'a'), send('C-2', 'a'), send('C-3', 'b')])
    t.same(answers.map(({ status }) => status).sort(), [202, 202, 422])
    t.equal(answers[2]?.status, 202)
  },
)

t.test('a repeat of an update is not judged by updates that came after it', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const send = (status: string, data: object, key: string) =>
    call('POST', '/api/ledger/operate', { status, data }, { 'idempotency-key': key })
  const externalId = 'L-1'
  const inYears = { loanTermFrequency: 1, loanTermFrequencyType: 'years', numberOfRepayments: 12 }
  const untyped = { externalId, loanTermFrequency: 24 }
  await send('LOAN_CREATE', loanData(externalId, 'C-1'), 'a')
  const first = await send('LOAN_UPDATE', untyped, 'b')
  t.equal((await send('LOAN_UPDATE', { externalId, ...inYears }, 'c')).status, 202)
  t.same((await send('LOAN_UPDATE', untyped, 'b')).body, first.body)
  t.equal((await send('LOAN_UPDATE', untyped, 'd')).status, 400)
})

t.test('the order of its members does not make a body a different one', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const data = clientData('C-1')
  const turned = Object.fromEntries(Object.entries(data).reverse())
  const key = { 'idempotency-key': 'a' }
  const first = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data }, key)
  const again = await call(
    'POST',
    '/api/ledger/operate',
    { data: turned, status: 'CLIENT_CREATE' },
    key,
  )
  t.equal(again.body.tracking_id, first.body.tracking_id)
})

t.test('text that PostgreSQL cannot store is refused on arrival', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const firstname of ['Ash\\u0000a', 'Ash\\ud800a']) {
    const data = JSON.stringify(clientData('C-1')).replace('Asha', firstname)
    const { status, body } = await call(
      'POST',
      '/api/ledger/operate',
      `{"status":"CLIENT_CREATE","data":${data}}`,
    )
    t.match({ status, code: body.code }, { status: 400, code: 'INVALID_PAYLOAD' })
  }
})

t.test('items that arrive while a commit is in flight share the next one', async t => {
  const groups: number[][] = []
  const commit = groupCommit(async (items: number[]) => {
    groups.push(items)
    await setImmediate()
    return items
  })
  const sent = Array.from({ length: 1_000 }, (_, n) => n)
  t.same(await Promise.all(sent.map(commit.submit)), sent)
  t.ok(groups.length < 10, `${groups.length} commits`)
})

t.test(
  'items that share a name keep their order, and others are committed beside a slow commit',
  async t => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const groups: { items: string[]; end: () => void }[] = []
    const commit = groupCommit<string, string>(
      items => {
        const { promise, resolve } = Promise.withResolvers<string[]>()
        groups.push({ items, end: () => resolve(items) })
        return promise
      },
      { groups: 2, namesOf: item => item.split('+') },
    )
    const arrive = async (...items: string[]) => {
      for (const item of items) void commit.submit(item)
      await setImmediate()
    }
    const end = async (group: number) => {
      groups[group]?.end()
      await setImmediate()
    }
    const begun = () => groups.map(({ items }) => items)
    await arrive('a+b')
    await arrive('b+c', 'c', 'd', 'e')
    t.equal(begun().length, 1, 'a quick commit is waited for')
    mock.timers.tick(LONGER_THAN_A_QUICK_COMMIT_MS)
    t.same(begun(), [['a+b'], ['d', 'e']])
    await arrive('f')
    t.equal(begun().length, 2, 'no more than two at a time')
    await end(1)
    t.same(begun()[2], ['f'])
    await end(0)
    t.equal(begun().length, 3, 'the commit of f may be quick')
    await end(2)
    t.same(begun()[3], ['b+c', 'c'])
    await end(3)
  },
)

t.test('items are gathered as long as stated, even if a commit ends meanwhile', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const groups: string[][] = []
  const { promise: whenEnded, resolve: end } = Promise.withResolvers<void>()
  const commit = groupCommit(
    async (items: string[]) => {
      groups.push(items)
      if (groups.length === 1) await whenEnded
      return items
    },
    { gatherMs: () => GATHER_MS },
  )
  const first = commit.submit('a')
  mock.timers.tick(GATHER_MS)
  const second = commit.submit('b')
  end()
  await first
  await setImmediate()
  const third = commit.submit('c')
  t.same(groups, [['a']])
  mock.timers.tick(GATHER_MS)
  await Promise.all([second, third])
  t.same(groups, [['a'], ['b', 'c']])
})

t.test('a poisoned item fails on its own', async t => {
  const commit = groupCommit(async (items: string[]) => {
    if (items.includes('poison')) throw new Error('poison')
    return items
  })
  const ends = await Promise.allSettled(['a', 'poison', 'b'].map(commit.submit))
  t.same(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

t.test('beyond its limit, intake tells callers to come back later', async t => {
  const { promise: whenOpened, resolve: open } = Promise.withResolvers<void>()
  const commit = groupCommit(async (items: number[]) => {
    await whenOpened
    return items
  })
  const ends = Promise.allSettled(
    Array.from({ length: MORE_THAN_MAY_WAIT }, (_, n) => commit.submit(n)),
  )
  open()
  const refused = (await ends).filter(({ status }) => status === 'rejected')
  t.ok(refused.length > 0)
  t.match(refused[0], { reason: { code: 'UNAVAILABLE', statusCode: 503 } })
})
