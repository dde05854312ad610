import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { groupCommit } from '../../../src/database/group-commit/group-commit.ts'
import { until } from '../../support/until.ts'

/** A statement with more rows takes too long. */
const MAX_ROWS = 20

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
