import t from 'tap'
import { openPassedOn } from '../../../src/engine/attempt/passed-on.ts'
import type { Claim } from '../../../src/engine/claim/claim.ts'

const claim = (seq: string) => ({ seq }) as Claim

t.test(
  'a value that an operation passes on reaches the one accepted right after it, and only once',
  async t => {
    const passedOn = openPassedOn()
    t.equal(passedOn.take(claim('7')), undefined)
    passedOn.leave(claim('7'), 'of 7')
    t.equal(passedOn.take(claim('8')), 'of 7')
    t.equal(passedOn.take(claim('8')), undefined)
  },
)

t.test(
  'a value that an operation passes on does not reach an operation that another may have preceded',
  async t => {
    const passedOn = openPassedOn()
    passedOn.leave(claim('7'), 'of 7')
    t.equal(passedOn.take(claim('9')), undefined)
    t.equal(passedOn.take(claim('8')), undefined)
  },
)
