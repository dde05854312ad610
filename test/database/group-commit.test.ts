import pg from 'pg'
import t from 'tap'
import { groupCommit } from '../../src/database/group-commit.ts'

/** Of one statement. */
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

function timeout(): Error {
  const error = new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error')
  return Object.assign(error, { code: '57014' })
}
