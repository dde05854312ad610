import fc from 'fast-check'
import t from 'tap'
import { damageOf, roundedIds } from '../../src/csv/damaged-ids.ts'

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`))
/** What a spreadsheet keeps of an id in a column of numbers. */
const rounded = (id: string) => id.slice(0, 15).padEnd(id.length, '0')
/** Judges the ids of one column, batch by batch. @returns the errors of those that are judged */
function judgeOfColumn() {
  const judge = roundedIds<{ fields: { id: string } }>(['id'])
  return (ids: string[], isLast = true) =>
    judge(
      ids.map(id => ({ fields: { id } })),
      isLast,
    ).map(({ rounded }) => rounded)
}

t.test('genuine ids of any length pass, but for a few that end in zeros', t => {
  for (let length = 1; length <= 30; length++) {
    const ids = fc.sample(digits(length), 1_000)
    const refused = ids.filter(id => damageOf(id, 'ids') !== undefined)
    t.ok(refused.length <= 10, `${refused.length} of ${length} digits`)
  }
  t.end()
})

t.test('a column of genuine ids of 16 digits passes in batches of any size', t => {
  const column = fc.tuple(
    fc.array(digits(16), { minLength: 10, maxLength: 200 }),
    fc.integer({ min: 8, max: 50 }),
  )
  for (const [ids, size] of fc.sample(column, 200)) {
    const judge = judgeOfColumn()
    for (let at = 0; at < ids.length; at += size)
      t.same(judge(ids.slice(at, at + size), false).flat(), [])
  }
  t.end()
})

t.test('a rounded column of ids of 16 digits or more is refused whole', t => {
  const id = fc
    .integer({ min: 16, max: 23 })
    .chain(digits)
    .filter(one => one[0] !== '0')
  for (const ids of fc.sample(fc.array(id, { minLength: 2, maxLength: 50 }), 200)) {
    const kept = [...new Set(ids.map(rounded)), 'pay_1', '', '402345678901']
    const errors = judgeOfColumn()(kept)
    const passed = kept.filter((one, n) => errors[n]?.length === 0 && !damageOf(one, 'ids'))
    t.same(passed, ['pay_1', '', '402345678901'])
  }
  t.end()
})

t.test('ids in a column that ends in 0 once, or has an id with all its digits, pass', t => {
  const end = (...ids: string[]) => judgeOfColumn()(ids).flat().length
  t.equal(end('1234567890123450'), 0)
  t.equal(end('1234567890123450', '1234567890123450'), 0, 'one loan’s repayments')
  t.equal(end('1234567890123450', '1234567890123460', '1234567890123451'), 0)
  t.equal(end('1234567890123450', '1234567890123460', '0000000000000000001'), 0)
  t.equal(end('1234567890123450', '1234567890123460', '123456789012345'), 2)
  t.end()
})

t.test('the only id of a column that may be rounded is judged once there is another', t => {
  const judge = judgeOfColumn()
  t.same(judge(['1234567890123450', 'pay_1'], false), [[]], 'held back')
  t.match(judge(['1234567890123460'], false), [[/^id ends in 0/], [/^id ends in 0/]])
  t.same(judge(['1234567890123461', '1234567890123470']), [[], []])
  t.end()
})

t.test('of one id that may be rounded, no more than a thousand rows are held back', t => {
  const judge = judgeOfColumn()
  const batch = Array.from({ length: 600 }, () => '1234567890123450')
  t.equal(judge(batch, false).length, 0)
  t.equal(judge(batch, false).length, 1_200)
  t.end()
})
