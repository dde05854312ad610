import type { Test } from 'tap'
import { atLedger, control } from '../support/ledger/loans.ts'
import { approvalOf, clientOf, disbursalOf, type Los, loanOf } from './los.ts'
import { SAMPLES } from './samples.ts'

const RECORD = [
  'error_message',
  'failure_response',
  'operation_type',
  'processed_at',
  'status',
  'success_response',
  'tracking_id',
]
const NOBODY = 'LOAN_CREATE|019a0000-0000-7000-8000-000000000000'

/** The record of an operation, and how operations end. */
export async function tracking(t: Test, los: Los) {
  await theJourney(t, los)
  await refusals(t, los)
  await orderAndAmounts(t, los)
  await updates(t, los)
  await convertedTerms(t, los)
  await records(t, los)
}

async function theJourney(t: Test, los: Los) {
  const { call, submit, run, track, id } = los
  const [client, loan, gone] = [id('C-kept'), id('L-kept'), id('L-gone')]
  const sequence: [string, object][] = [
    ['CLIENT_CREATE', clientOf(client)],
    ['LOAN_CREATE', loanOf(loan, client)],
    ['LOAN_APPROVE', approvalOf(loan)],
    ['LOAN_DISBURSE', { ...disbursalOf(loan), utr_payment_id: 'U-1' }],
  ]
  const sent = []
  for (const [status, data] of sequence) sent.push((await submit(status, data)).body.tracking_id)
  const records = []
  for (const tracking_id of sent) records.push((await track(tracking_id, '?wait=30')).body)
  for (const [n, record] of records.entries()) {
    t.match(record, { status: 'success' }, `${sequence[n]?.[0]} sent back to back succeeds`)
    t.same(Object.keys(record).sort(), RECORD, 'a final record has exactly these members')
    t.same([record.failure_response, record.error_message], [null, null], 'success has no error')
    t.match(record.processed_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/, 'UTC without a zone')
  }
  const times = records.map(({ processed_at }) => processed_at)
  t.same(times, times.toSorted(), 'operations on one loan end in the order of acceptance')
  const [created, submitted, approved, disbursed] = records.map(one => one.success_response)
  t.match(
    created,
    { resourceExternalId: client, clientId: Number },
    'the ledger’s body: the client',
  )
  t.match(submitted, { resourceExternalId: loan, loanId: Number }, 'the ledger’s body: the loan')
  t.match(approved, { changes: { status: { id: 200 } } }, 'the ledger’s body: approved')
  t.match(disbursed, { subResourceId: Number }, 'the ledger’s body: disbursed')
  const { loans, transactions } = await control(los, 'GET', '/books?log=0')
  t.match(
    loans.find((one: any) => one.externalId === loan),
    { status: 300, principal: '50000.00', clientExternalId: client },
    'without transactionAmount, the full principal is disbursed',
  )
  const [money] = transactions.filter((one: any) => one.loanExternalId === loan)
  t.match(money, { amount: '50000.00', receiptNumber: 'U-1' }, 'with utr_payment_id as its receipt')

  const renamed = await run('CLIENT_UPDATE', { externalId: client, firstname: 'Meera' })
  t.match(
    renamed,
    { success_response: { changes: { firstname: 'Meera' } } },
    'CLIENT_UPDATE changes',
  )
  await run('LOAN_CREATE', loanOf(gone, client))
  const deleted = await run('LOAN_DELETE', { external_loan_id: gone })
  t.match(deleted, { success_response: { resourceExternalId: gone } }, 'LOAN_DELETE deletes')
  const { body } = await call(
    'GET',
    `/api/ledger/operations?external_id=${encodeURIComponent(loan)}`,
  )
  t.same(
    body.operations.map((one: any) => one.operation_type),
    ['LOAN_DISBURSE', 'LOAN_APPROVE', 'LOAN_CREATE'],
    'the list has the operations of an external id, newest first',
  )
}

/** What the ledger refuses. */
async function refusals(t: Test, los: Los) {
  const { track, id } = los
  const refused = refusedBy(t, los)
  let last: any
  for (const [operation, { refused: cases = [] }] of Object.entries(SAMPLES))
    for (const [data, ...expected] of cases) last = await refused(operation, data(id), ...expected)
  const { status, body } = await track(last.tracking_id)
  t.equal(status, 200, 'polling a failed operation is 200, as for any other')
  t.same(body, last, 'once reached, failed never changes')
}

async function orderAndAmounts(t: Test, los: Los) {
  const { run, track, submit, id } = los
  const loan = id('L-other')
  const refused = refusedBy(t, los)
  await run('LOAN_CREATE', loanOf(loan, id('C-kept')))
  const late = { ...approvalOf(loan), approvedOnDate: '31 December 2099' }
  await refused('LOAN_APPROVE', late, 'a day in the future is left to the ledger')
  const early = await submit('LOAN_DISBURSE', disbursalOf(loan))
  const after = await run('LOAN_APPROVE', approvalOf(loan))
  const { body: failed } = await track(early.body.tracking_id, '?wait=30')
  t.equal(failed.status, 'failed', 'operations on one loan run in the order of acceptance')
  t.equal(after.status, 'success', 'a failed predecessor does not fail its followers')
  const above = { ...disbursalOf(loan), transactionAmount: 50_000.01 }
  await refused('LOAN_DISBURSE', above, 'more than the approved principal is refused')
  const part = await run('LOAN_DISBURSE', { ...above, transactionAmount: 0.1 + 0.2 })
  t.match(part, { status: 'success' }, 'less than the approved principal may be disbursed')
}

const refusedBy =
  (t: Test, { run }: Los) =>
  async (operation: string, data: object, sentence: string, code?: string) => {
    const record = await run(operation, data)
    t.match(record, { status: 'failed', success_response: null }, sentence)
    const { httpStatusCode, errors } = record.failure_response
    t.match(httpStatusCode, code ?? /^4\d\d$/, `${sentence}: the ledger’s status`)
    const { defaultUserMessage } = errors[0]
    t.ok(record.error_message.includes(httpStatusCode), 'error_message gives the status')
    t.ok(record.error_message.includes(defaultUserMessage), 'and the first defaultUserMessage')
    return record
  }

async function updates(t: Test, los: Los) {
  const { run, id } = los
  const externalId = id('L-changed')
  await run('LOAN_CREATE', loanOf(externalId, id('C-kept')))
  const changed = {
    principal: 60_000,
    submittedOnDate: '11 January 2026',
    loanTermFrequency: 24,
    interestRatePerPeriod: 12.5,
  }
  for (const [name, value] of Object.entries(changed))
    t.match(
      await run('LOAN_UPDATE', { externalId, [name]: value }),
      { status: 'success', success_response: { changes: Object } },
      `LOAN_UPDATE changes ${name} alone`,
    )
  t.match(
    await run('LOAN_UPDATE', { externalId, numberOfRepayments: 7 }),
    {
      status: 'failed',
      failure_response: {
        httpStatusCode: '400',
        errors: [{ userMessageGlobalisationCode: 'loanops.term.not.multiple' }],
      },
    },
    'a LOAN_UPDATE that breaks the rule on multiples is our own refusal, in the ledger’s shape',
  )
}

async function convertedTerms(t: Test, los: Los) {
  const { run, refused, id } = los
  const term = (loanTermFrequency: number, loanTermFrequencyType: string, n: number) => ({
    loanTermFrequency,
    loanTermFrequencyType,
    numberOfRepayments: n,
  })
  const termOf = async (externalId: string) => {
    const query = `externalId=${encodeURIComponent(externalId)}`
    const [loan] = (await atLedger(los, 'GET', `/loans?${query}`)).pageItems
    const { termFrequency, termPeriodFrequencyType, repaymentEvery, numberOfRepayments } = loan
    return [termFrequency, termPeriodFrequencyType.id, numberOfRepayments, repaymentEvery]
  }
  for (const [name, sent, taken] of [
    ['L-year', term(1, 'years', 12), [12, 2, 12, 1]],
    ['L-years', term(2, 'years', 2), [2, 3, 2, 1]],
    ['L-weeks', term(2, 'weeks', 14), [14, 0, 14, 1]],
  ] as const) {
    await run('LOAN_CREATE', { ...loanOf(id(name), id('C-kept')), ...sent })
    t.same(
      await termOf(id(name)),
      taken,
      'years become months, weeks days, where only that divides',
    )
  }
  const externalId = id('L-year')
  t.same(
    (await refused('LOAN_UPDATE', { externalId, loanTermFrequency: 24 })).errors,
    {
      '/data/loanTermFrequencyType':
        "is required, because the loan's term of 1 years became 12 months",
    },
    'on a loan that was converted, a term without its type is 400',
  )
  await run('LOAN_UPDATE', { externalId: id('L-years'), loanTermFrequency: 4 })
  t.same(await termOf(id('L-years')), [4, 3, 2, 2], 'on another loan, the type stays')
  await run('LOAN_UPDATE', { externalId, loanTermFrequency: 2, loanTermFrequencyType: 'years' })
  t.same(await termOf(externalId), [24, 2, 12, 2], 'an update is converted too')
  await run('LOAN_UPDATE', { externalId, ...term(36, 'months', 12) })
  await run('LOAN_UPDATE', { externalId, loanTermFrequency: 12 })
  t.same(await termOf(externalId), [12, 2, 12, 1], 'months that were sent as months need no type')
}

async function records(t: Test, los: Los) {
  const { call, submit, track, id } = los
  const { body } = await submit('CLIENT_CREATE', clientOf(id('C-waited')))
  const { tracking_id } = body
  t.match(
    (await track(tracking_id, '?wait=30')).body,
    { status: 'success' },
    'wait waits for the end',
  )
  const raw = await call('GET', `/api/ledger/track/${tracking_id}`)
  t.equal(raw.body.tracking_id, tracking_id, 'the pipe may be sent raw')
  const lower = await call('GET', `/api/ledger/track/${tracking_id.replace('|', '%7c')}`)
  t.equal(lower.body.tracking_id, tracking_id, 'the pipe may be sent encoded')
  for (const [query, status] of [
    ['?wait=0', 200],
    ['?wait=30', 200],
    ['?wait=31', 400],
    ['?wait=-1', 400],
    ['?wait=soon', 400],
  ] as const)
    t.equal((await track(tracking_id, query)).status, status, `wait is 0 to 30: ${query}`)
  const unknown = await track(NOBODY)
  t.match(unknown, { status: 404, body: { code: 'UNKNOWN_TRACKING_ID' } }, 'unknown is 404')
  for (const malformed of ['LOAN_CREATE', 'x|y', NOBODY.replace('|', ':'), `${NOBODY}0`]) {
    const { status, body } = await track(malformed)
    t.same([status, body.code], [400, 'INVALID_TRACKING_ID'], `malformed is 400: ${malformed}`)
  }
}
