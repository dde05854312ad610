import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { classifyRead, classifyWrite } from '../../../src/ledger/answers/answer.ts'
import { isOfLedgerShape } from '../../../src/ledger/answers/error-body.ts'
import { isRefusalOfAnother, type Promised } from '../../../src/ledger/answers/of-another-call.ts'
import type { Step, Transcript } from '../../support/ledger/ledger-transcripts.ts'
import { ledgerBody } from '../../support/ledger/proxy.ts'

const folder = new URL('../../transcripts/', import.meta.url)
const STEPS = readdirSync(folder)
  .flatMap(file => JSON.parse(readFileSync(new URL(file, folder), 'utf8')).transcripts)
  .flatMap(({ name, steps }: Transcript) =>
    steps.map(step => ({ ...step, what: `${name}: ${step.what}` })),
  )
  // LoanOps encodes the percent sign.
  .filter(({ request }) => /^\/(clients|loans)\b(?!.*%(?![0-9A-F]{2}))/.test(request.path))

/** The writes that LoanOps makes, and what it takes for their results. */
const WRITES: [call: RegExp, promisedId: Promised['promisedId']][] = [
  [/^POST \/clients$/, 'clientId'],
  [/^PUT \/clients\//, 'clientId'],
  [/^POST \/loans$/, 'loanId'],
  [/^(PUT|DELETE) \/loans\//, 'loanId'],
  [/^POST \/loans\/[^?]+\?command=(approve|disburse)$/, 'loanId'],
  [/^POST .*\/transactions\?command=repayment$/, 'resourceId'],
  [/^POST .*\/transactions\/[^?]+\?command=undo$/, 'resourceId'],
]

const callOf = ({ request }: Step) => `${request.method} ${request.path}`
const writeOf = (step: Step) => WRITES.find(([call]) => call.test(callOf(step)))

/** The body of a write; what stands in it for a value of the run cannot be compared. */
function sentBy({ request, response }: Step): Record<string, string> | undefined {
  if (request.body === undefined) return undefined
  const changes = response.body?.changes ?? {}
  const members = Object.entries(request.body as Record<string, string>).map(([name, value]) => {
    return [name, /^{{[^}]+}}$/.test(value) ? changes[name] : value]
  })
  return Object.fromEntries(members)
}

/** What LoanOps would expect of the answer to this call. */
function promisedBy(step: Step): Promised | undefined {
  const { method, path } = step.request
  const sent = sentBy(step)
  const write = writeOf(step)
  // It changes no external ids, and adjusts no transactions.
  if (write === undefined || (method === 'PUT' && sent?.externalId !== undefined)) return undefined
  if (path.endsWith('command=undo') && Number(sent?.transactionAmount) !== 0) return undefined
  const isDisbursal = path.endsWith('disburse')
  const [, inPath] = /.*\/external-id\/([^/?]+)(\?|$)/.exec(path) ?? []
  const named =
    inPath === undefined ? (isDisbursal ? undefined : sent?.externalId) : decodeURIComponent(inPath)
  return {
    promisedId: write[1],
    named: {
      ...(named && { resourceExternalId: named }),
      ...(isDisbursal && sent?.externalId && { subResourceExternalId: sent.externalId }),
    },
    sent,
  }
}

function outcomeOf({ response }: Step, promised: Promised): string {
  const isFromStore = response.headers['x-served-from-cache'] === 'true'
  const { status, body } = response
  return classifyWrite({ status, body, isFromStore, retryAfterMs: 0 }, promised).outcome
}

t.test('every recorded result of a write is taken for its own', async t => {
  let taken = 0
  for (const step of STEPS.filter(({ response }) => response.status === 200)) {
    const promised = promisedBy(step)
    if (promised === undefined) continue
    // Under one key, the ledger answers another call with the result of the first one.
    if (/other (loan|one|body|amount)|same key for/.test(step.what)) continue
    taken++
    t.equal(outcomeOf(step, promised), 'done', step.what)
  }
  t.ok(taken > 800, String(taken))
})

t.test('every recorded refusal is taken for that of its own call', async t => {
  let taken = 0
  for (const step of STEPS.filter(({ response }) => isOfLedgerShape(response.body))) {
    const method = step.request.method as 'GET'
    const { status, body } = step.response
    // What is hidden from LoanOps's user is no refusal of the call.
    const received = { status, body, isFromStore: false, retryAfterMs: 0 }
    const isRead = method === 'GET' && classifyRead(received).outcome === 'refused'
    if (!isRead && writeOf(step) === undefined) continue
    taken++
    const isOther = isRefusalOfAnother({ method, path: step.request.path, status, body })
    t.equal(isOther, false, step.what)
  }
  t.ok(taken > 200, String(taken))
})

const LOAN = '/loans/external-id/L-1'
const OF_LOAN = { officeId: 1, clientId: 2, loanId: 7, resourceId: 7, resourceExternalId: 'L-1' }
const DAY = { locale: 'en', dateFormat: 'dd MMMM yyyy' }
const paid = { transactionDate: '05 March 2026', transactionAmount: '100', ...DAY }
/** Results of calls on one loan, with what each of them sent. */
const RESULTS = {
  approve: {
    ...OF_LOAN,
    changes: { approvedOnDate: '05 March 2026', status: { id: 200 }, ...DAY },
  },
  disburse: {
    ...OF_LOAN,
    subResourceId: 9,
    subResourceExternalId: 'D-1',
    changes: { actualDisbursementDate: '05 March 2026', status: { id: 300 }, ...DAY },
  },
  update: { ...OF_LOAN, changes: { principal: 500, charges: [], locale: 'en' } },
  repayment: { ...OF_LOAN, resourceId: 11, resourceExternalId: 'R-1', changes: paid },
  nameless: { ...OF_LOAN, resourceId: 12, resourceExternalId: undefined, changes: paid },
  undo: {
    ...OF_LOAN,
    resourceId: 11,
    resourceExternalId: 'R-1',
    changes: { ...paid, transactionAmount: '0' },
  },
  remove: OF_LOAN,
  read: { id: 7, externalId: 'L-1', clientId: 2, status: { id: 300 } },
}
const ofLoan = { promisedId: 'loanId', named: { resourceExternalId: 'L-1' } } as const
const ofRepayment = { promisedId: 'resourceId', named: { resourceExternalId: 'R-1' } } as const
const EXPECTED: Partial<Record<keyof typeof RESULTS, Promised>> = {
  approve: { ...ofLoan, sent: { approvedOnDate: '05 March 2026', ...DAY } },
  disburse: {
    promisedId: 'loanId',
    named: { resourceExternalId: 'L-1', subResourceExternalId: 'D-1' },
    sent: { actualDisbursementDate: '05 March 2026', transactionAmount: 100, ...DAY },
  },
  update: { ...ofLoan, changed: ['principal'], sent: { principal: 500, charges: [], ...DAY } },
  repayment: { ...ofRepayment, sent: { ...paid, transactionAmount: '100.00' } },
  undo: { ...ofRepayment, sent: { ...paid, transactionAmount: 0 } },
  remove: { ...ofLoan, sent: undefined },
}

t.test('a result of another call on the same loan shows nothing of a write', async t => {
  for (const [call, promised] of Object.entries(EXPECTED))
    for (const [name, body] of Object.entries(RESULTS)) {
      const received = { status: 200, body, isFromStore: false, retryAfterMs: 0 }
      // A version of the ledger leaves the external id out of a repayment's own result.
      const isOwn = name === call || (call === 'repayment' && name === 'nameless')
      const { outcome } = classifyWrite(received, promised)
      t.equal(outcome, isOwn ? 'done' : 'unknown', `${name} for ${call}`)
    }
  const earlier = { ...RESULTS.update, changes: { charges: [], principal: 400, locale: 'en' } }
  const stored = { status: 200, body: earlier, isFromStore: true, retryAfterMs: 0 }
  const update = EXPECTED.update as Promised
  t.equal(classifyWrite({ ...stored, isFromStore: false }, update).outcome, 'unknown')
  t.equal(classifyWrite(stored, update).outcome, 'done', 'what the first call under the key sent')
  const named = { ...ofLoan.named, loanId: 8 }
  t.equal(classifyWrite(stored, { ...update, named }).outcome, 'unknown', 'another loan')
})

t.test('a refusal of another record or command is not that of the call', async t => {
  const refusal = (status: number, code: string, value?: unknown) => ({
    status,
    body: {
      ...ledgerBody(status, code),
      errors: [{ userMessageGlobalisationCode: code, args: [{ value }] }],
    },
  })
  const noLoan = (id: string) => refusal(404, 'error.msg.loan.external.id.invalid', id)
  const noClient = refusal(404, 'error.msg.client.id.invalid')
  const notApproved = refusal(
    400,
    'error.msg.loan.disbursal.account.is.not.approve.not.disbursed.state',
  )
  const notSubmitted = refusal(
    400,
    'error.msg.loan.approve.account.is.not.submitted.and.pending.state',
  )
  const tooEarlyTopUp = refusal(
    403,
    'error.msg.loan.disbursal.date.should.be.after.last.transaction.date.of.loan.to.be.closed',
  )
  const otherStrategy = refusal(
    403,
    'error.msg.loan.repayment.strategy.can.not.be.different.than.advanced.payment.allocation',
  )
  const taken = refusal(403, 'error.msg.loan.with.externalId.already.used')
  const noTransaction = (id: string) =>
    refusal(404, 'error.msg.loan.transaction.external.id.invalid', id)
  const [approve, disburse] = [`POST ${LOAN}?command=approve`, `POST ${LOAN}?command=disburse`]
  const repay = `POST ${LOAN}/transactions?command=repayment`
  const transaction = `GET ${LOAN}/transactions/external-id/R%2D1`
  const others: [call: string, refused: ReturnType<typeof refusal>][] = [
    [`GET ${LOAN}`, noLoan('L-2')],
    [`GET ${LOAN}`, noClient],
    [`GET ${LOAN}`, refusal(404, 'error.msg.office.id.invalid', 1)],
    [`GET ${LOAN}`, notSubmitted],
    [transaction, noTransaction('R-2')],
    ['GET /clients/external-id/C-1', noLoan('L-1')],
    [approve, notApproved],
    [disburse, notSubmitted],
    [disburse, noLoan('L-2')],
    [repay, notApproved],
    [repay, noClient],
    [repay, noTransaction('R-2')],
    ['POST /loans', noLoan('L-2')],
    ['POST /clients', noClient],
    [`PUT ${LOAN}`, taken],
    [approve, taken],
  ]
  for (const [call, refused] of others) t.ok(isOther(call, refused), `${call} ${refused.status}`)
  const own: typeof others = [
    [`GET ${LOAN}`, noLoan('l-1')],
    [transaction, noTransaction('R-1')],
    [transaction, noLoan('L-1')],
    ['POST /loans', taken],
    ['POST /loans', otherStrategy],
    [`PUT ${LOAN}`, otherStrategy],
    ['GET /clients/external-id/C-1', noClient],
    ['POST /loans', noClient],
    [approve, notSubmitted],
    [approve, tooEarlyTopUp],
    [`PUT ${LOAN}`, tooEarlyTopUp],
    [disburse, notApproved],
    [repay, noLoan('L-1')],
    [repay, refusal(404, 'error.msg.payment.type.invalid', 9)],
  ]
  for (const [call, refused] of own) t.notOk(isOther(call, refused), `${call} ${refused.status}`)
})

function isOther(call: string, refused: { status: number; body: unknown }): boolean {
  const [method = '', path = ''] = call.split(' ')
  return isRefusalOfAnother({ method, path, ...refused })
}
