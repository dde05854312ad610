import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { listed, submit } from '../support/engine/operations.ts'
import { ledgerLoanBody } from '../support/ledger/ledger-loan.ts'
import {
  atLedger,
  clientData,
  control,
  DAY,
  givenCharge,
  loanData,
  newName,
} from '../support/ledger/loans.ts'
import { givenProduct, givenProductWithTerms } from '../support/ledger/products.ts'
import { testLedger } from '../support/ledger/test-ledger.ts'
import { migrateCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

type Given = (service: Pick<TestService, 'ledger'>, name: string) => Promise<unknown>

/** LENDER_01 has a product of its own, which the ledger has before the service starts. */
async function start(t: Test, given: Given, member: object = {}, isContractTest = false) {
  const product = newName('Product')
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const ledger = { ...sandbox, ...(isContractTest ? testLedger : undefined) }
  const productId = await given({ ledger }, product)
  const LENDERS_FILE = lendersFile(t, { LENDER_01: { product, ...member } })
  const { username = 'mifos', password = 'password', tenant = 'default' } = testLedger ?? {}
  const service = await startTestService(t, {
    LENDERS_FILE,
    LEDGER_URL: ledger.url,
    LEDGER_USERNAME: username,
    LEDGER_PASSWORD: password,
    LEDGER_TENANT: tenant,
  })
  return { ...service, ledger, productId }
}

async function givenClient({ call }: TestService): Promise<string> {
  const client = newName('C')
  await operate(call, 'CLIENT_CREATE', clientData(client))
  return client
}

const loanIn = (service: TestService, externalId: string) =>
  atLedger(service, 'GET', `/loans/external-id/${externalId}?associations=all`)

/** All that tells two equal loans apart. */
const OWN = /^(id|accountNo|externalId|externalLoanId|loanId|resourceId)$/

function withoutOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwn)
  if (value === null || typeof value !== 'object') return value
  const isOption = 'code' in value
  const kept = Object.entries(value).filter(([name]) => isOption || !OWN.test(name))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutOwn(member)]))
}

const byCharge = (charges: { chargeId: number }[]) =>
  charges.toSorted((a, b) => a.chargeId - b.chargeId)

t.test('a loan of a product with terms equals its template’s instalment by instalment', async t => {
  const service = await start(t, givenProductWithTerms, {}, true)
  const client = await givenClient(service)
  const [ours, theirs] = [newName('L'), newName('L')]
  t.match(await operate(service.call, 'LOAN_CREATE', loanData(ours, client)), { status: 'success' })
  const { clientId } = await loanIn(service, ours)
  const template = await atLedger(
    service,
    'GET',
    `/loans/template?templateType=individual&clientId=${clientId}&productId=${service.productId}`,
  )
  await atLedger(service, 'POST', '/loans', {
    ...ledgerLoanBody(theirs, clientId, DAY),
    productId: service.productId,
    graceOnPrincipalPayment: template.graceOnPrincipalPayment,
    graceOnInterestPayment: template.graceOnInterestPayment,
    graceOnInterestCharged: template.graceOnInterestCharged,
    inArrearsTolerance: template.inArrearsTolerance,
    graceOnArrearsAgeing: template.graceOnArrearsAgeing,
    isEqualAmortization: template.isEqualAmortization,
    charges: template.charges.map(({ chargeId, amountOrPercentage }: any) => ({
      chargeId,
      amount: amountOrPercentage,
    })),
  })
  const [own, made] = [await loanIn(service, ours), await loanIn(service, theirs)]
  t.strictSame(
    withoutOwn({ ...own, charges: byCharge(own.charges) }),
    withoutOwn({ ...made, charges: byCharge(made.charges) }),
  )
  t.match(own, {
    netDisbursalAmount: 49_000,
    graceOnPrincipalPayment: 2,
    repaymentSchedule: { totalFeeChargesCharged: 1_600 },
  })
})

t.test('a loan falls due in the shares of principal that its product fixes', async t => {
  const share = { amortizationType: 0, fixedPrincipalPercentagePerInstallment: 5 }
  const service = await start(t, (ledger, name) => givenProduct(ledger, name, share))
  const loan = newName('L')
  await operate(service.call, 'LOAN_CREATE', loanData(loan, await givenClient(service)))
  const { repaymentSchedule } = await loanIn(service, loan)
  const [first, ...rest] = repaymentSchedule.periods.slice(1)
  t.match([first.principalDue, rest.at(-1).principalDue], [2_500, 22_500])
})

t.test('with productTerms "request", a loan gets only what the request says', async t => {
  const service = await start(t, givenProductWithTerms, { productTerms: 'request' })
  const loan = newName('L')
  await operate(service.call, 'LOAN_CREATE', loanData(loan, await givenClient(service)))
  const made = await loanIn(service, loan)
  t.match(made, { netDisbursalAmount: 50_000 })
  t.notOk(made.charges ?? made.graceOnPrincipalPayment)
})

t.test('a row of a portfolio gets its product’s terms only where copyToPortfolio asks', async t => {
  const graceIn = async (member: object) => {
    const given: Given = (service, name) =>
      givenProduct(service, name, { graceOnPrincipalPayment: 2 })
    const service = await start(t, given, member)
    const row = { lender: 'LENDER_01', loan_external_id: 'P-1', disbursed_on_date: '' }
    t.match(await migrateCsv(service, 'loans', loansCsv(row)), { done: 1 })
    return (await loanIn(service, 'P-1')).graceOnPrincipalPayment
  }
  t.equal(await graceIn({}), undefined)
  t.equal(await graceIn({ copyToPortfolio: true }), 2)
})

t.test('LOAN_CREATE waits for a charge that cannot be applied, and names it', async t => {
  const kinds = [
    ['LENDER_01', { name: 'Visit' }, /charge Visit .*day or at an event that no request names/],
    [
      'LENDER_02',
      { name: 'Fee', chargeTimeType: 1, amount: 50_001 },
      /charge Fee .*50001 .*is more/,
    ],
    ['LENDER_03', { name: 'Old', chargeTimeType: 1, active: false }, /charge Old .*not active/],
    [
      'LENDER_04',
      { name: 'Saved', chargeTimeType: 1, chargePaymentMode: 1 },
      /charge Saved .*savings account/,
    ],
  ] as const
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const lenders: Record<string, object> = {}
  for (const [lender, charge] of kinds) {
    const id = await givenCharge({ ledger: sandbox }, { amount: 10, ...charge })
    const product = newName('P')
    lenders[lender] = { product }
    await givenProduct({ ledger: sandbox }, product, { charges: [{ id }] })
  }
  const LENDERS_FILE = lendersFile(t, lenders)
  const service = await startTestService(t, { LENDERS_FILE, LEDGER_URL: sandbox.url })
  const client = await givenClient(service)
  for (const [lenderConfig, , reason] of kinds) {
    const loan = newName('L')
    const data = { ...loanData(loan, client), lenderConfig }
    const id = await submit(service.call, 'LOAN_CREATE', data)
    const waiting = await until(async () => {
      const item = await listed(service.call, loan, id)
      return item.waiting_for !== null && item
    }, 'the operation waits')
    t.match(waiting, {
      status: 'processing',
      waiting_for: 'ledger_credentials',
      last_error: reason,
    })
  }
})

t.test('a product is at most a minute old when a loan is made from it', async t => {
  const service = await start(t, givenProduct)
  const client = await givenClient(service)
  const make = async () => {
    const loan = newName('L')
    await operate(service.call, 'LOAN_CREATE', loanData(loan, client))
    return (await loanIn(service, loan)).repaymentSchedule.totalFeeChargesCharged
  }
  const reads = async () => {
    const { calls } = await control(service, 'GET', '/counters')
    return calls['GET product'] ?? 0
  }
  await make()
  await make()
  t.equal(await reads(), 1, 'one read serves both')
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + 61_000 })
  await make()
  t.equal(await reads(), 2)
})
