import { gzipSync } from 'node:zlib'
import t from 'tap'
import { parseJsonBody } from '../../src/http/body/json-body.ts'
import type { FieldErrors } from '../../src/http/problem.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData, DAY, loanData } from '../support/ledger/loans.ts'
import { startTestService, TOKEN } from '../support/service.ts'

/** What is wrong with each value of a member of CLIENT_CREATE or LOAN_CREATE. */
const MESSAGES: Record<string, [value: unknown, message: string][]> = {
  firstname: [
    ['Anne\tMarie', 'contains a tab (U+0009) as character 5'],
    ['Anne\u0007', 'contains the character (U+0007) as character 5'],
    ['   ', 'must not be empty'],
    ['x'.repeat(51), 'has 51 characters, but at most 50 are allowed'],
    [7, 'must be a text, not a number'],
    [null, 'must be a text, not null'],
    [['Anne'], 'must be a text, not a list'],
  ],
  emailAddress: [['x'.repeat(151), 'has 151 characters, but at most 150 are allowed']],
  externalId: [
    ['C\u00071', 'contains the character (U+0007) as character 2'],
    ['..', 'is only dots'],
    ['x'.repeat(101), 'has 101 characters, but at most 100 are allowed'],
  ],
  activationDate: [
    ['30 February 2026', 'is a day that does not exist'],
    [
      '5 March 2026',
      'must be a day as dd MMMM yyyy with the full English month, such as 05 March 2026',
    ],
    [
      '05 Mar 2026',
      'must be a day as dd MMMM yyyy with the full English month, such as 05 March 2026',
    ],
    [
      20260305,
      'must be a day as dd MMMM yyyy with the full English month, such as 05 March 2026, not a number',
    ],
  ],
  principal: [
    [0, 'must be above 0'],
    [-5, 'must be above 0'],
    [1e15, 'must be below 1000000000000000'],
    [1.005, 'has 3 decimals, but at most 2 are kept'],
    ['-5', 'must be above 0'],
    ['50000', 'must be written as the number 50000'],
    [
      'fifty',
      'must be a number in digits, without separators or a currency, and with a point before any decimals',
    ],
    [true, 'must be a number, not true or false'],
  ],
  numberOfRepayments: [
    [2_147_483_648, 'must be at most 2147483647'],
    [0, 'must be a whole number above 0, not 0'],
    [1.5, 'must be a whole number, not 1.5'],
  ],
  interestRatePerPeriod: [
    [-1, 'must be 0 or more'],
    ['18.5', 'must be written as the number 18.5'],
  ],
  loanTermFrequency: [[10, 'must be a multiple of numberOfRepayments: 10 is no multiple of 12']],
  loanTermFrequencyType: [['decades', 'must be one of days, weeks, months, years']],
}

t.test('the refusal of a value says what is wrong with this value', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const base = {
    CLIENT_CREATE: clientData('C-1'),
    LOAN_CREATE: loanData('L-1', 'C-1'),
  }
  for (const [member, values] of Object.entries(MESSAGES))
    for (const [value, message] of values) {
      const isOfClient = member in base.CLIENT_CREATE || member === 'emailAddress'
      const status = isOfClient ? 'CLIENT_CREATE' : 'LOAN_CREATE'
      const data = { ...base[status], [member]: value }
      const { body } = await call('POST', '/api/ledger/operate', { status, data })
      const found = body.errors?.find((one: any) => one.path === `/data/${member}`)
      t.equal(found?.message, message, `${member} ${JSON.stringify(value)}`)
    }
  const nothing = { status: 'CLIENT_UPDATE', data: { externalId: 'C-1' } }
  const { body } = await call('POST', '/api/ledger/operate', nothing)
  t.match(body.errors, [{ message: /at least one of activationDate, firstname/ }])
})

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

t.test('a time whose year in UTC has not four digits is refused', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const until of ['9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00'])
    t.match((await call('POST', '/api/ledger/pause', { reason: 'a test', until })).body, {
      status: 400,
      errors: [{ path: '/until', message: 'must be in the years 0001 to 9999 in UTC' }],
    })
})

t.test('a compressed body is refused because it is compressed', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const answer = await fetch(`${url}/api/ledger/operate`, {
    method: 'POST',
    headers: {
      'x-internal-token': TOKEN,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: gzipSync('{}'),
  })
  t.match(await answer.json(), {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'The body is compressed (content-encoding: gzip), and only uncompressed ones are read',
  })
})

t.test('the refusal for a client that the ledger does not have names it', async t => {
  const { call } = await startTestService(t)
  const operations = {
    LOAN_CREATE: loanData('L-1', 'C-404'),
    CLIENT_UPDATE: { externalId: 'C-404', activationDate: DAY },
  }
  for (const [status, data] of Object.entries(operations)) {
    const { error_message } = await ending(call, await submit(call, status, data))
    t.match(error_message, /\(client C-404\)$/, status)
  }
})
