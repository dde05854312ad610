import type { Test } from 'tap'
import { clientOf, type Los, loanOf } from './los.ts'
import { SAMPLES } from './samples.ts'

const NOT_CLEARED = 'is empty, but cannot be cleared this way; without it, it stays as it is'
/** Blanks of several scripts, and what is not seen. */
const ENDS = [
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u3000',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  ' \u200b ',
]

/** What is accepted, and as what: none of it shall run, now or later. */
export async function values(t: Test, los: Los) {
  await los.call('POST', '/api/ledger/pause', { reason: 'nothing here is for the ledger' })
  await members(t, los)
  await absence(t, los)
  await idsAndTexts(t, los)
  await days(t, los)
  await numbers(t, los)
  await terms(t, los)
}

const ofDisbursal = ({ id }: Los) => SAMPLES.LOAN_DISBURSE?.data(id)

async function members(t: Test, los: Los) {
  const { taken, refused, id } = los
  for (const [status, { data: dataOf, alone }] of Object.entries(SAMPLES)) {
    const data = dataOf(id)
    t.same(await taken(status, data), data, `${status} takes what it requires`)
    for (const name of Object.keys(data)) {
      const { [name]: _, ...rest } = data
      const { errors } = await refused(status, rest)
      if (alone && name in alone)
        t.match(errors['/data'], 'at least one of', `${status} with nothing to change is 400`)
      else t.equal(errors[`/data/${name}`], 'is required', `${status} requires ${name}`)
      const nothing = await refused(status, { ...data, [name]: null })
      t.equal(nothing.status, 400, `${status} does not take null for ${name}`)
    }
  }
  for (const [status, { alone = {} }] of Object.entries(SAMPLES))
    for (const [name, value] of Object.entries(alone)) {
      const one = { externalId: id('X-1'), [name]: value }
      t.same(await taken(status, one), one, `${status} takes ${name} alone`)
    }
  for (const type of ['days', 'weeks', 'months', 'years']) {
    const loan = { ...loanOf(id('L-1'), id('C-1')), loanTermFrequencyType: type }
    t.same(await taken('LOAN_CREATE', loan), loan, `a term may be in ${type}`)
  }
  for (const lenderConfig of ['LENDER_10', 'lender_01', '']) {
    const { errors } = await refused('LOAN_CREATE', { ...loanOf('L', 'C'), lenderConfig })
    t.match(errors['/data/lenderConfig'], 'must be', 'lenderConfig is a lender code')
  }
}

async function absence(t: Test, los: Los) {
  const { taken, refused, id } = los
  for (const [status, { data, optional = [] }] of Object.entries(SAMPLES))
    for (const name of optional)
      for (const nothing of [null, '', ' \u200b']) {
        const sent = { ...data(id), [name]: nothing }
        t.same(
          await taken(status, sent),
          data(id),
          `${JSON.stringify(nothing)} in ${name} is absent`,
        )
      }
  const disbursal = { ...ofDisbursal(los), transactionAmount: null }
  t.same(await taken('LOAN_DISBURSE', disbursal), ofDisbursal(los), 'null is no amount')
  const empty = await refused('LOAN_DISBURSE', { ...disbursal, transactionAmount: '' })
  t.equal(empty.status, 400, 'an empty text is no amount')
  for (const [status, { data, alone = {} }] of Object.entries(SAMPLES))
    for (const name of Object.keys(alone)) {
      const update = { ...data(id), [name]: null }
      const { [name]: _, ...rest } = data(id)
      if (Object.keys(rest).length > 1)
        t.same(await taken(status, update), rest, `null in ${name} changes nothing`)
      const { errors } = await refused(status, { externalId: id('X-1'), [name]: '' })
      t.same(errors, { [`/data/${name}`]: NOT_CLEARED }, 'nothing is cleared by an empty text')
    }
  const pause = await los.call('POST', '/api/ledger/pause', { reason: 'still', until: null })
  t.equal(pause.status, 200, 'null is absent in other calls too')
}

async function idsAndTexts(t: Test, los: Los) {
  const { taken, refused, id } = los
  const client = clientOf(id('C-1'))
  for (const [name, longest] of Object.entries({
    firstname: 50,
    lastname: 50,
    mobileNo: 50,
    emailAddress: 150,
    externalId: 100,
  })) {
    const sent = { ...client, [name]: id('n').padEnd(longest, 'ऋ') }
    t.same(await taken('CLIENT_CREATE', sent), sent, `${name} may have ${longest} characters`)
    const { errors } = await refused('CLIENT_CREATE', {
      ...client,
      [name]: 'x'.repeat(longest + 1),
    })
    const message = `has ${longest + 1} characters, but at most ${longest} are allowed`
    t.same(errors, { [`/data/${name}`]: message }, `${name} may not have ${longest + 1}`)
  }
  const disbursal = ofDisbursal(los)
  for (const [name, longest] of Object.entries({ utr_payment_id: 50, note: 1_000 })) {
    const sent = { ...disbursal, [name]: 'ऋ'.repeat(longest) }
    t.same(await taken('LOAN_DISBURSE', sent), sent, `${name} may have ${longest} characters`)
    const { status } = await refused('LOAN_DISBURSE', { ...sent, [name]: 'x'.repeat(longest + 1) })
    t.equal(status, 400, `${name} may not have ${longest + 1}`)
  }
  for (const externalId of ['x', '...', '..a', '.hidden', 'a b', 'LN/2026/0001', 'ऋण', '😀'])
    t.match(
      await taken('CLIENT_CREATE', clientOf(externalId)),
      { externalId },
      'ids are the caller’s',
    )
  for (const externalId of ['.', '..', '', ' ', 'a\nb', '\u007f', 'a\u0007b', 7, ['x']]) {
    const { status } = await refused('CLIENT_CREATE', { ...client, externalId })
    t.equal(status, 400, `no external id: ${JSON.stringify(externalId)}`)
  }
  const texts = { ...client, mobileNo: '+919876543210', emailAddress: 'asha@example.in' }
  for (const end of ENDS) {
    const padded = Object.entries(texts).map(([name, text]) => [name, end + text + end])
    const what = `trimmed of ${JSON.stringify(end)}`
    t.same(await taken('CLIENT_CREATE', Object.fromEntries(padded)), texts, what)
    const { status } = await refused('CLIENT_CREATE', { ...client, firstname: end })
    t.equal(status, 400, `a text of ${JSON.stringify(end)} alone is none`)
  }
}

async function days(t: Test, los: Los) {
  const { taken, refused } = los
  const data = ofDisbursal(los)
  for (const day of ['05 March 2026', '05 MARCH 2026', '05 march 2026', ' 05 mARCH 2026\u200b'])
    t.match(
      await taken('LOAN_DISBURSE', { ...data, actualDisbursementDate: day }),
      { actualDisbursementDate: '05 March 2026' },
      'a day is dd MMMM yyyy, its month in any case',
    )
  for (const actualDisbursementDate of ['29 February 2024', '31 December 2099'])
    t.match(
      await taken('LOAN_DISBURSE', { ...data, actualDisbursementDate }),
      { actualDisbursementDate },
      'what depends on today’s date is left to the ledger',
    )
  for (const day of [
    '5 March 2026',
    '05 Mar 2026',
    '2026-03-05',
    '05/03/2026',
    'March 05 2026',
    '05  March 2026',
    '2026-03-05T00:00:00Z',
    20260305,
    [2026, 3, 5],
  ]) {
    const { errors } = await refused('LOAN_DISBURSE', { ...data, actualDisbursementDate: day })
    t.match(errors['/data/actualDisbursementDate'], 'dd MMMM yyyy', `no day: ${day}`)
  }
  for (const day of ['30 February 2026', '29 February 2026', '31 April 2026', '00 March 2026']) {
    const { status } = await refused('LOAN_DISBURSE', { ...data, actualDisbursementDate: day })
    t.equal(status, 400, `there is no ${day}`)
  }
}

async function numbers(t: Test, los: Los) {
  const { taken, refused, id } = los
  const data = ofDisbursal(los)
  for (const [sent, amount] of [
    [0.01, 0.01],
    [50_000, 50_000],
    [9_999_999_999_999.99, 9_999_999_999_999.99],
    [0.1 + 0.2, 0.3],
    [33_333.329999999994, 33_333.33],
    [100.000001, 100],
    [999_999_999.9900001, 999_999_999.99],
  ] as const)
    t.match(
      await taken('LOAN_DISBURSE', { ...data, transactionAmount: sent }),
      { transactionAmount: amount },
      `a number within a millionth of two decimals is that amount: ${sent}`,
    )
  for (const amount of [0, -1, 1.005, 100.0000011, 1e-7, 1e15, '500', '5,000', true, [1]]) {
    const { status } = await refused('LOAN_DISBURSE', { ...data, transactionAmount: amount })
    t.equal(status, 400, `no amount: ${JSON.stringify(amount)}`)
  }
  const text = await refused('LOAN_DISBURSE', { ...data, transactionAmount: '50000.00' })
  t.match(text.errors['/data/transactionAmount'], 'the number 50000', 'a number as text is named')
  const loan = loanOf(id('L-1'), id('C-1'))
  for (const [sent, rate] of [
    [0, 0],
    [18.5, 18.5],
    [1.1234565, 1.123456],
    [1.1234575, 1.123458],
    [18.333333333333332, 18.333333],
    [1e-7, 0],
  ])
    t.match(
      await taken('LOAN_CREATE', { ...loan, interestRatePerPeriod: sent }),
      { interestRatePerPeriod: rate },
      `a rate is rounded to six decimals, half to even: ${sent}`,
    )
  for (const rate of [-1, '18', null]) {
    const { status } = await refused('LOAN_CREATE', { ...loan, interestRatePerPeriod: rate })
    t.equal(status, 400, `no rate: ${JSON.stringify(rate)}`)
  }
  for (const count of [0, -12, 1.5, '12', 2 ** 31])
    for (const name of ['loanTermFrequency', 'numberOfRepayments']) {
      const { status } = await refused('LOAN_CREATE', { ...loan, [name]: count })
      t.equal(status, 400, `${name} is a whole number above 0, not ${JSON.stringify(count)}`)
    }
}

async function terms(t: Test, los: Los) {
  const { taken, refused, id } = los
  const term = (loanTermFrequency: number, loanTermFrequencyType: string, n: number) => ({
    ...loanOf(id('L-1'), id('C-1')),
    loanTermFrequency,
    loanTermFrequencyType,
    numberOfRepayments: n,
  })
  for (const loan of [term(24, 'months', 12), term(1, 'years', 12), term(2, 'weeks', 14)])
    t.same(
      await taken('LOAN_CREATE', loan),
      loan,
      'a term is a multiple, if need be once converted',
    )
  for (const [loan, numbers] of [
    [term(10, 'months', 12), '10 is no multiple of 12'],
    [term(1, 'years', 7), '1 is no multiple of 7'],
    [term(1, 'months', 30), '1 is no multiple of 30'],
  ] as const)
    t.match(
      (await refused('LOAN_CREATE', loan)).errors['/data/loanTermFrequency'],
      numbers,
      'a term that is no multiple of numberOfRepayments is 400 with the two numbers',
    )
}
