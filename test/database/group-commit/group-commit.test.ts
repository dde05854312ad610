import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { groupCommit } from '../../../src/database/group-commit/group-commit.ts'
import { until } from '../../support/until.ts'

/** A statement with more rows takes too long. */
const MAX_ROWS = 20
const LONGER_THAN_A_QUICK_COMMIT_MS = 15
const GATHER_MS = 2
const MORE_THAN_MAY_WAIT = 6_000

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

t.test('items that share a name keep their order; others commit beside a slow commit', async t => {
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
})

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

t.test('after a group that takes longer than a statement may, groups are smaller', async t => {
  const sizes: number[] = []
  const line = groupCommit(async (items: number[]) => {
    sizes.push(items.length)
    if (items.length > MAX_ROWS) throw timeout()
    return items
  })
  const submit = async (item: number): Promise<number> =>
    line.submit(item).catch(() => submit(item))
  const all = Array.from({ length: 64 }, (_, n) => n)
  t.same(await Promise.all(all.map(submit)), all)
  t.same(sizes.slice(0, 3), [64, 32, 16])
})

t.test('after a slow group, the groups under way share the smaller limit', async t => {
  const sizes: number[] = []
  const { promise: slow, resolve: endSlow } = Promise.withResolvers<void>()
  const line = groupCommit(
    async (items: number[]) => {
      const place = sizes.push(items.length)
      if (place === 1) await slow
      if (place === 2) throw timeout()
      return items
    },
    { groups: 2 },
  )
  const submit = (count: number) => Array.from({ length: count }, (_, n) => line.submit(n))
  const first = submit(200)
  await until(async () => sizes.length === 1)
  const second = submit(50)
  await t.rejects(Promise.all(second))
  const others = submit(300)
  await setImmediate()
  t.equal(sizes.length, 2)
  endSlow()
  await Promise.all([...first, ...others])
  t.same(sizes.slice(0, 3), [200, 50, 25])
})

function timeout(): Error {
  const error = new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error')
  return Object.assign(error, { code: '57014' })
}
