import t from 'tap'
import { newId } from '../src/ids.ts'

/** At more than 1,000 a millisecond, most of them share theirs with others. */
const COUNT = 20_000

t.test('the ids of one process sort in the order in which they were made', async t => {
  const ids = Array.from({ length: COUNT }, newId)
  t.equal(
    ids.findIndex((id, n) => id <= (ids[n - 1] ?? '')),
    -1,
  )
})
