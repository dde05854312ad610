import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { LOCKS } from '../../src/database/locks.ts'

const VIEWS = resolve(import.meta.dirname, '../../migrations/views')
const LOCK = /advisory_\w*lock\((\d+)/g

t.test('no two advisory locks have the same number', async t => {
  const ofViews = readdirSync(VIEWS).flatMap(file => {
    const taken = readFileSync(resolve(VIEWS, file), 'utf8').matchAll(LOCK)
    return [...new Set([...taken].map(([, number]) => Number(number)))]
  })
  t.ok(ofViews.length > 0)
  const all = [...Object.values(LOCKS), ...ofViews]
  t.same(all, [...new Set(all)])
})
