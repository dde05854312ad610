import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { parseJsonBody } from '../../src/http/body/json-body.ts'
import type { FieldErrors } from '../../src/http/problem.ts'
import { withSmallUuid } from '../../src/operations/tracking-id.ts'

/** What is wrong with a body, as "path message" for each breach. */
function breaches(body: string | Buffer): string[] {
  try {
    parseJsonBody(Buffer.from(body as string))
    return []
  } catch (error) {
    return (error as FieldErrors).fields.map(({ path, message }) => `${path} ${message}`)
  }
}

const NOT_JSON: [body: string | Buffer, message: string][] = [
  ['[1e400]', 'is too large a number'],
  ['[1e-400]', 'is too small a number'],
  ['[1234567890123456]', 'has 16 significant digits, but at most 15 are kept'],
  ['["a\\u0000"]', 'contains NUL (U+0000) as character 2'],
  ['["\\ud800"]', 'contains the character (U+D800) as character 1'],
  [Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'is not UTF-8 from byte 2'],
  [gzipSync('{}'), 'is compressed (gzip), not JSON'],
  ['{"a" 1}', 'is not JSON from character 5'],
]

t.test('the refusal of a body says what and where it is', async t => {
  for (const [body, message] of NOT_JSON)
    try {
      parseJsonBody(Buffer.from(body as string))
      t.fail(message)
    } catch (error) {
      t.equal((error as FieldErrors).fields[0]?.message, message)
      t.notMatch((error as FieldErrors).message, '  ', 'one blank even where no field is named')
    }
})

t.test('a duplicate name is refused, however it is escaped and wherever it is', async t => {
  t.same(breaches('{"a":1,"a":1}'), ['/a is a duplicate name'])
  t.same(breaches('{"a":1,"\\u0061":2}'), ['/a is a duplicate name'])
  t.same(breaches('{"data":{"x":[{},{"y/z":1,"b":2,"y/z":3}]}}'), [
    '/data/x/1/y~1z is a duplicate name',
  ])
  t.same(breaches('{"a":{"b":1},"c":{"b":1}}'), [])
  t.same(breaches('{"a":"a","b":["a","a"]}'), [])
})

t.test('__proto__ is not accepted as a field', async t => {
  t.same(breaches('{"data":{"__proto__":{"isAdmin":true}}}'), [
    '/data/__proto__ is not a known field',
  ])
  t.same(breaches('{"\\u005f_proto__":1}'), ['/__proto__ is not a known field'])
})

const NOT_KEPT =
  / (has \d+ significant digits, but at most 15 are kept|is too (large|small) a number)$/

t.test('numbers of which a double loses more than a millionth are refused', async t => {
  for (const number of [
    '1e400',
    '-1e400',
    '1e-400',
    '1234567890123456',
    '12345678901.234567',
    '0.1234567890123456e1',
  ])
    t.match(breaches(`[${number}]`), [NOT_KEPT], number)
  for (const number of [
    '0',
    '-0',
    '0e5',
    '1e300',
    '123456789012345',
    '1.000000000000000000',
    '12.50',
    '33333.329999999994',
    '0.30000000000000004',
    '0.000000000000000000001',
  ])
    t.same(breaches(`[${number}]`), [], number)
})

t.test('a number or an id as long as its body costs little more than a short one', async t => {
  const began = performance.now()
  const zeros = '0'.repeat(100_000)
  t.same(breaches(`[1${zeros}1]`), ['/0 has 100002 significant digits, but at most 15 are kept'])
  t.equal(withSmallUuid(`${zeros}|A`), `${zeros}|a`)
  t.ok(performance.now() - began < 5_000, 'not the minute that looking again at each zero takes')
})

t.test('NUL and lone surrogates are refused', async t => {
  t.same(breaches('{"a":"x\\u0000"}'), ['/a contains NUL (U+0000) as character 2'])
  t.same(breaches('{"a":"\\ud800"}'), ['/a contains the character (U+D800) as character 1'])
  t.same(breaches('{"a":"\\ud83d\\ude00 \\\\u0000"}'), [])
})

t.test('deep nesting is refused', async t => {
  for (const n of [17, 100_000])
    t.same(breaches('['.repeat(n) + ']'.repeat(n)), [' is nested deeper than 16 levels'])
  t.same(breaches('['.repeat(16) + ']'.repeat(16)), [])
})

t.test('a body that is not UTF-8 or not JSON is refused', async t => {
  t.same(breaches(Buffer.from([0x22, 0xc3, 0x28, 0x22])), [' is not UTF-8 from byte 2'])
  t.same(breaches(Buffer.from('"ä"', 'utf16le')), [' is not UTF-8 from byte 3'])
  t.match(breaches('{"a":1,}')[0], /^ is not JSON/)
  for (const text of ['{', '[1', '"x', '01', '+1', 'NaN', "{'a':1}", '{"a":1}x', '"\u0000"'])
    t.match(breaches(text)[0], /^ is not JSON/, text)
})

t.test('a refusal does not quote the body', async t => {
  t.notMatch(breaches('{"password":"marked-value" oops')[0], /marked|oops/)
})

t.test('at most a hundred breaches are reported', async t => {
  t.equal(breaches(`{${Array(10_000).fill('"a":1').join()}}`).length, 100)
})

t.test('a hundred breaches under a long name do not each repeat it', async t => {
  const [first = '', ...more] = breaches(`{"${'k'.repeat(250_000)}":[${Array(200).fill('1e400')}]}`)
  t.equal(first, `/${'k'.repeat(100)}…/0 is too large a number`)
  t.equal(more.length, 99)
})

t.test('any other JSON is parsed as by JSON.parse', async t => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), value => {
      const text = JSON.stringify(value)
      if (breaches(text).length === 0) {
        t.strictSame(parseJsonBody(Buffer.from(text)), JSON.parse(text))
        return
      }
      // The only reasons for which valid JSON may be refused.
      const others = breaches(text).filter(
        breach => !(NOT_KEPT.test(breach) || / (contains .+|is not a known field)$/.test(breach)),
      )
      // Not in the assertion's name: tap cannot read a name with a line separator (U+2028).
      t.same({ text, others }, { text, others: [] })
    }),
    { numRuns: 500 },
  )
})
