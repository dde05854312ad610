import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { LOCKS } from '../../src/database/locks.ts'

const VIEWS = resolve(import.meta.dirname, '../../migrations/views')
const LOCK = /advisory_\w*lock\w*\(([^),]*)/g

t.test('no two advisory locks have the same number', async t => {
  const all = Object.values(LOCKS)
  t.same(all, [...new Set(all)])
})

t.test('the views take those locks of the list that are theirs, each at one place', async t => {
  const taken = readdirSync(VIEWS).flatMap(file =>
    [...readFileSync(resolve(VIEWS, file), 'utf8').matchAll(LOCK)].map(([, number]) => number),
  )
  const { makingRawTables, settling, numberingCallbacks, sharing, sealing } = LOCKS
  t.same(
    taken.sort(),
    [makingRawTables, settling, numberingCallbacks, sharing, sealing].map(String),
  )
})
