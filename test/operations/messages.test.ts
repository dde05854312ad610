import t from 'tap'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData, DAY, loanData, newName } from '../support/ledger/loans.ts'
import { operate, startTestService } from '../support/service.ts'

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
    [{ toString: 1 }, 'must be a number, not an object'],
  ],
  interestRatePerPeriod: [
    [-1, 'must be 0 or more'],
    ['18.5', 'must be written as the number 18.5'],
  ],
  loanTermFrequency: [[10, 'must be a multiple of numberOfRepayments: 10 is no multiple of 12']],
  loanTermFrequencyType: ['decades', 'constructor', false, 0, { toString: 1 }].map(value => [
    value,
    'must be one of days, weeks, months, years',
  ]),
}

t.test('the refusal of a value says what is wrong with this value', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const base = { CLIENT_CREATE: clientData('C-1'), LOAN_CREATE: loanData('L-1', 'C-1') }
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

t.test('a term that an update would divide says what to name to have it converted', async t => {
  const { call } = await startTestService(t)
  const client = newName('C')
  await operate(call, 'CLIENT_CREATE', clientData(client))
  for (const [term, type, repayments, hint] of [
    [1, 'years', 12, 'and it becomes 12 months'],
    [4, 'weeks', 14, 'and it becomes 28 days'],
    [1, 'years', 7, ''],
    [12, 'months', 7, ''],
  ] as const) {
    const [externalId, asMany] = [newName('L'), { numberOfRepayments: repayments }]
    const inType = { loanTermFrequency: term, loanTermFrequencyType: type }
    const loan = { ...loanData(externalId, client), ...inType, numberOfRepayments: term }
    t.match(await operate(call, 'LOAN_CREATE', loan), { status: 'success' })
    const reason = `The loan would have a term of ${term}, which is not a multiple of its ${repayments} repayments`
    const named = `: name loanTermFrequency (${term}) and loanTermFrequencyType ("${type}") as well, ${hint}`
    const alone: any = await operate(call, 'LOAN_UPDATE', { externalId, ...asMany })
    const [{ defaultUserMessage }] = alone.failure_response.errors
    t.equal(defaultUserMessage, `${reason}${hint && named}`)
    if (hint === '') continue
    const together = await operate(call, 'LOAN_UPDATE', { externalId, ...asMany, ...inType })
    t.match(together, { status: 'success' })
  }
})
