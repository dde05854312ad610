import t from 'tap'
import { openHandOver } from '../../src/engine/attempt/hand-over.ts'
import type { Claim } from '../../src/engine/claim/claim.ts'

const claim = (seq: string) => ({ seq }) as Claim

t.test(
  'what an operation passes on reaches the one accepted right after it, and only once',
  async t => {
    const handOver = openHandOver()
    t.equal(handOver.take(claim('7')), undefined)
    handOver.leave(claim('7'), 'of 7')
    t.equal(handOver.take(claim('8')), 'of 7')
    t.equal(handOver.take(claim('8')), undefined)
  },
)

t.test(
  'what an operation passes on does not reach an operation that another may have preceded',
  async t => {
    const handOver = openHandOver()
    handOver.leave(claim('7'), 'of 7')
    t.equal(handOver.take(claim('9')), undefined)
    t.equal(handOver.take(claim('8')), undefined)
  },
)
