import fc from 'fast-check'
import t from 'tap'
import { lendersFile } from '../support/config/lenders-file.ts'
import { ledgerLoanBody } from '../support/ledger/ledger-loan.ts'
import {
  atLedger,
  clientData,
  DAY,
  givenCharge,
  LATER_DAY,
  ledgerLoan,
  newName,
  writesOn,
} from '../support/ledger/loans.ts'
import { givenProduct } from '../support/ledger/products.ts'
import { ledgerBody } from '../support/ledger/proxy.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { operate, startTestService } from '../support/service.ts'

const RUNS = 25

const SCHEDULE = '?associations=repaymentSchedule,charges'

async function start() {
  const service = await startTestService(t, { LENDERS_FILE: lendersFile(t, {}) })
  const client = newName('C')
  await operate(service.call, 'CLIENT_CREATE', clientData(client))
  const { id: clientId } = await atLedger(service, 'GET', `/clients/external-id/${client}`)
  const options = { canDefineInstallmentAmount: true }
  const productId = await givenProduct(service, newName('Product'), options)
  const charges = {
    atDisbursement: await givenCharge(service, { chargeTimeType: 1, amount: 500 }),
    perInstalment: await givenCharge(service, { chargeTimeType: 8, amount: 50 }),
    percent: await givenCharge(service, { chargeTimeType: 1, chargeCalculationType: 2, amount: 1 }),
    dated: await givenCharge(service, { amount: 75 }),
  }
  return { service, clientId, productId, charges }
}

const { service, clientId, productId, charges } = await start()

type Terms = Record<string, unknown> & { schedule?: object | undefined }

async function givenLoanWith({ schedule, ...terms }: Terms): Promise<string> {
  const externalId = newName('L')
  const body = { ...ledgerLoanBody(externalId, clientId, DAY), productId, ...terms, ...schedule }
  const { loanId } = await atLedger(service, 'POST', '/loans', body)
  if (loanId === undefined) throw new Error(`no loan with ${JSON.stringify(terms)}`)
  return externalId
}

const read = (loan: string) => atLedger(service, 'GET', `/loans/external-id/${loan}${SCHEDULE}`)

/** What an update of one field must leave as it was. */
function termsOf(loan: any) {
  const { id: _, accountNo: _no, externalId: _external, charges: all = [], ...rest } = loan
  const { netDisbursalAmount: _net, ...terms } = rest
  const kept = all.map(({ chargeId, amount, amountOrPercentage, dueDate }: any) => ({
    chargeId,
    amount,
    amountOrPercentage,
    dueDate,
  }))
  return { ...terms, charges: kept.sort((a: any, b: any) => a.chargeId - b.chargeId) }
}

const charge = fc.constantFrom(
  { chargeId: charges.atDisbursement, amount: 500 },
  { chargeId: charges.perInstalment, amount: 50 },
  { chargeId: charges.percent, amount: 1.5 },
  { chargeId: charges.dated, amount: 75, dueDate: LATER_DAY },
)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const loanTerms = fc.record({
  graceOnPrincipalPayment: maybe(fc.integer({ min: 1, max: 5 })),
  graceOnInterestPayment: maybe(fc.integer({ min: 1, max: 5 })),
  graceOnInterestCharged: maybe(fc.integer({ min: 1, max: 5 })),
  inArrearsTolerance: maybe(fc.integer({ min: 1, max: 100 })),
  graceOnArrearsAgeing: maybe(fc.integer({ min: 1, max: 30 })),
  isEqualAmortization: maybe(fc.boolean()),
  schedule: maybe(
    fc.oneof(
      fc.record({ fixedEmiAmount: fc.integer({ min: 5_000, max: 9_000 }) }),
      fc.record({
        amortizationType: fc.constant(0),
        fixedPrincipalPercentagePerInstallment: fc.integer({ min: 1, max: 9 }),
      }),
    ),
  ),
  repaymentsStartingFromDate: maybe(fc.constantFrom('20 February 2026', '01 March 2026')),
  interestChargedFromDate: maybe(fc.constantFrom('10 January 2026', '20 February 2026')),
  charges: fc.uniqueArray(charge, { maxLength: 4, selector: ({ chargeId }) => chargeId }),
})

t.test('after LOAN_UPDATE, any loan equals one made with its terms and the new value', async t => {
  const change = fc.constantFrom(
    { principal: 60_000 },
    { interestRatePerPeriod: 24 },
    { principal: 45_000 },
  )
  const property = fc.asyncProperty(loanTerms, change, async (terms, changed) => {
    const loan = await givenLoanWith(terms)
    const record = await operate(service.call, 'LOAN_UPDATE', { externalId: loan, ...changed })
    if (record.status !== 'success') throw new Error(record.error_message)
    const fresh = await givenLoanWith({ ...terms, ...changed })
    t.strictSame(termsOf(await read(loan)), termsOf(await read(fresh)), JSON.stringify(terms))
  })
  await fc.assert(property, { numRuns: RUNS })
})

t.test('LOAN_UPDATE is refused if the ledger would never collect a charge', async t => {
  const late = { chargeId: charges.dated, amount: 75, dueDate: '20 December 2026' }
  const shortened = { externalId: await givenLoanWith({ charges: [late] }) }
  const great = { chargeId: charges.atDisbursement, amount: 20_000 }
  const smaller = { externalId: await givenLoanWith({ charges: [great] }), principal: 10_000 }
  const early = { chargeId: charges.dated, amount: 75, dueDate: '10 January 2026' }
  const moved = { externalId: await givenLoanWith({ charges: [early] }) }
  for (const [data, reason] of [
    [
      { ...shortened, loanTermFrequency: 6, numberOfRepayments: 6 },
      /due after the last instalment of 2026-07-05/,
    ],
    [smaller, /20000 at disbursement is more than/],
    [{ ...moved, submittedOnDate: '20 January 2026' }, /403: This charge with specified due date/],
  ] as const) {
    const record = await operate(service.call, 'LOAN_UPDATE', data)
    t.match(record, { status: 'failed', error_message: reason })
  }
})

t.test('LOAN_UPDATE refuses to lose a term that it cannot send again', async t => {
  const { proxy, service } = await throughProxy(t)
  const loan = await ledgerLoan(service)
  for (const [member, value, term = member] of [
    ['repaymentFrequencyDayOfWeekType', { id: 2 }],
    ['isFloatingInterestRate', true],
    ['isTopup', true, 'loanIdToClose'],
    ['meeting', { id: 7 }],
    ['clientId', undefined, 'group'],
  ] as const) {
    // The ledger shows a loan's meeting only to whoever asks for it.
    const isShown = () => member !== 'meeting' || /[=,]meeting/.test(lastTarget(proxy))
    const alters = ({ body }: { body: object }) =>
      void (isShown() && Object.assign(body, { [member]: value }))
    proxy.interferences = [{ of: loan, on: 'reads', alters }]
    const record = await operate(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 1 })
    t.match(record, { status: 'failed', error_message: `keep the loan’s ${term}:` })
    t.match(record.failure_response, { errors: [{ userMessageGlobalisationCode: NOT_KEPT }] })
  }
  t.strictSame(await writesOn(service, loan), ['CREATE/LOAN'])
})

t.test(
  'LOAN_UPDATE sends the rule of the loan, not its product’s, for interest of part periods',
  async t => {
    const { proxy, service } = await throughProxy(t)
    const loan = await ledgerLoan(service)
    const has = (allowPartialPeriodInterestCalculation: boolean, byPeriod = 1) => ({
      of: loan,
      on: 'reads' as const,
      alters: ({ body }: { body: object }) =>
        void Object.assign(body, {
          allowPartialPeriodInterestCalculation,
          interestCalculationPeriodType: { id: byPeriod },
        }),
    })
    const without = {
      of: '"interestCalculationPeriodType":0,"amortizationType"',
      body: ledgerBody(400, 'none'),
    }
    const sent = (is: boolean) => ({
      of: `"allowPartialPeriodInterestCalcualtion":${is}`,
      body: ledgerBody(400, String(is)),
    })
    const writes = [sent(true), sent(false), without].map(one => ({
      ...one,
      on: 'writes' as const,
      status: 400,
    }))
    for (const [rule, expected] of [
      [has(true), 'true'],
      [has(false), 'false'],
      [has(true, 0), 'none'],
    ] as const) {
      proxy.interferences = [rule, ...writes]
      const record = await operate(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 1 })
      t.match(record.failure_response, { errors: [{ userMessageGlobalisationCode: expected }] })
    }
  },
)

const NOT_KEPT = 'loanops.term.not.kept'

const lastTarget = ({ targets }: { targets: string[] }) => decodeURIComponent(targets.at(-1) ?? '')
