import t from 'tap'
import { findingsInWords } from '../../src/operations/check-ledger/in-words.ts'
import { onOneLine } from '../../src/text/on-one-line.ts'

t.test('a terminal gets the text of others as one line, without control characters', async t => {
  t.equal(onOneLine('José ₹1 \u{1f600}\u2003x'), 'José ₹1 \u{1f600}\u2003x')
  t.equal(
    onOneLine('a\r\n\tb\u001b[2K\u007f\u009b'),
    'a\\u000d\\u000a\\u0009b\\u001b[2K\\u007f\\u009b',
  )
  // These turn the order in which the rest of the line is read.
  t.equal(onOneLine('L-\u202e1001 \u2067x'), 'L-\\u202e1001 \\u2067x')
})

t.test('the check of the ledger prints no line that a name at the ledger makes', async t => {
  const found = 'Loans\nok       everything\u001b[1A does not'
  const finding = {
    check: 'product',
    lender: null,
    state: 'differs',
    found,
    expected: 'x',
    remedy: null,
  }
  const printed = findingsInWords([finding] as Parameters<typeof findingsInWords>[0], undefined)
  t.match(printed, 'differs  product: Loans\\u000aok       everything\\u001b[1A does not\n')
})
