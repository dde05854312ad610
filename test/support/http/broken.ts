import fc, { type Arbitrary } from 'fast-check'

/** Values that have broken services before. */
const NASTY: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -0,
  '',
  ' ',
  '\0',
  '\u0001',
  '\ud800',
  '\u202e',
  '\ufeff',
  '%00',
  '%zz',
  "' or 1=1 --",
  '"; drop table loanops.operation; --',
  '$1',
  '#{7*7}',
  '{{7*7}}',
  '../../etc/passwd',
  '\r\nx-a: b',
  '<script>alert(1)</script>',
  'x'.repeat(5_000),
  '9'.repeat(400),
  '1e400',
  'NaN',
  '__proto__',
  'constructor',
  [],
  {},
  [[[[[[]]]]]],
  { $gt: '' },
  { length: 1e9 },
  ['a'],
  '31 February 2026',
  '2026-01-01',
  '05 march 2026',
]
const KEYS = [
  'extra',
  '__proto__',
  'constructor',
  'toString',
  '',
  'a/b',
  '\0',
  'status',
  'data',
  'id',
]
const FIRST_SURROGATE = 0xd800
const SURROGATES = 0x800
/** JSON texts that `JSON.stringify` cannot produce. */
const TEXTS = [
  '',
  ' ',
  '{',
  '[',
  '"',
  '{"a":1,}',
  '{"a":1}x',
  '\ufeff{}',
  'null',
  '[]',
  '1e400',
  '-',
  '0x1',
  'undefined',
  '{"a":1,"a":2}',
  '{"__proto__":{"isAdmin":true}}',
  '{"status":"LOAN_APPROVE","data":null}',
  '{"data":1e-400}',
  '['.repeat(20_000),
  `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
  '"\\ud800"',
  '{"\\u0000":1}',
  '{"a":12345678901234567890}',
]

/** The same as fast-check's own `binary`, which takes a second to make. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map(nth => String.fromCodePoint(nth < FIRST_SURROGATE ? nth : nth + SURROGATES))

const nasty = fc.oneof(
  fc.constantFrom(...NASTY, ...KEYS),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: anyCharacter }),
)

/** The same value with one error anywhere in it. */
export function broken(value: Arbitrary<unknown>): Arbitrary<unknown> {
  return value.chain(whole => {
    if (typeof whole !== 'object' || whole === null) return nasty
    const members = Object.entries(whole)
    const options: Arbitrary<unknown>[] = [
      nasty,
      fc.tuple(fc.constantFrom(...KEYS), nasty).map(([key, bad]) => withMember(whole, key, bad)),
    ]
    for (const [key, member] of members) {
      options.push(fc.constant(withMember(whole, key, undefined)))
      options.push(broken(fc.constant(member)).map(bad => withMember(whole, key, bad)))
    }
    return fc.oneof(...options)
  })
}

/** Bytes that are almost JSON. */
export function brokenText(text: Arbitrary<string>): Arbitrary<Uint8Array> {
  return fc.oneof(
    fc.constantFrom(...TEXTS).map(bytes),
    fc.tuple(text, fc.nat()).map(([whole, at]) => bytes(whole.slice(0, at % (whole.length + 1)))),
    fc.tuple(text, fc.nat(), fc.nat({ max: 255 })).map(([whole, at, byte]) => {
      const changed = bytes(whole)
      if (changed.length > 0) changed[at % changed.length] = byte
      return changed
    }),
    fc.tuple(text, text).map(([one, other]) => bytes(one + other)),
    fc.uint8Array({ maxLength: 200 }),
  )
}

/** Works for `__proto__` too, which becomes an ordinary member. */
function withMember(whole: object, key: string, member: unknown): unknown {
  if (Array.isArray(whole)) return [...whole, member]
  return Object.fromEntries([
    ...Object.entries(whole).filter(([name]) => name !== key),
    [key, member],
  ])
}

const bytes = (text: string) => new TextEncoder().encode(text)
