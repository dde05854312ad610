import t from 'tap'
import { lendersFile } from '../support/config/lenders-file.ts'
import { driver } from '../support/ledger/ledger-driver.ts'
import { clientData, control, givenCharge } from '../support/ledger/loans.ts'
import { givenProduct } from '../support/ledger/products.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { matchEach } from '../support/match-each.ts'
import { withLedger } from '../support/payments/payments.ts'
import { migrateCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService } from '../support/service.ts'

const PASSWORD = 'Secret-9Z-teller'
const loan = (id: string, cells = {}) => ({
  loan_external_id: id,
  client_external_id: id,
  ...cells,
})

t.test('a dry run says all that is wrong with a row, at whichever step it would fail', async t => {
  const service = await startTestService(t)
  const csv = loansCsv(
    loan('A', {
      client_activation_date: '2008-12-31',
      principal: '99.99',
      loan_term_frequency: '361',
      number_of_repayments: '361',
      interest_rate_per_period: '100.5',
      disbursed_on_date: '2999-01-01',
    }),
  )
  const { dry_run } = await migrateCsv(service, 'loans', csv, { dry_run: true })
  matchEach(t, dry_run.findings, [{ line: 2, finding: 'refused' }])
  const reasons = dry_run.findings[0].reason.split('; ')
  matchEach(t, reasons, [
    'client_activation_date is before the opening of the ledger’s office, 01 January 2009',
    'principal must be at least 100 for the loan product LENDER_02',
    'number_of_repayments must be at most 360 for the loan product LENDER_02',
    'interest_rate_per_period must be at most 100 for the loan product LENDER_02',
    /^disbursed_on_date is in the future: the ledger’s business date is \d\d \w+ \d{4}$/,
  ])
})

t.test('a dry run does not read product, office and business date for each row', async t => {
  const service = await startTestService(
    t,
    {},
    { atLedger: at => control(at, 'PUT', '/business-date', { date: '2024-01-11' }) },
  )
  const rows = Array.from({ length: 50 }, (_, n) => loan(`L-${n}`))
  const { dry_run } = await migrateCsv(service, 'loans', loansCsv(...rows), { dry_run: true })
  t.match(dry_run, { refused: 50 })
  const { calls } = await control(service, 'GET', '/counters')
  for (const name of ['office', 'business date', 'configurations', 'products'])
    t.ok(calls[`GET ${name}`] < 10, `${calls[`GET ${name}`]} reads of ${name}`)
})

t.test('a dry run refuses a row whose product has a charge that cannot be applied', async t => {
  const service = await startTestService(
    t,
    { LENDERS_FILE: lendersFile(t, { LENDER_03: { product: 'Dear', copyToPortfolio: true } }) },
    {
      async atLedger(at) {
        const id = await givenCharge(at, { chargeTimeType: 1, amount: 5_000 })
        await givenProduct(at, 'Dear', { charges: [{ id }] })
      },
    },
  )
  const csv = loansCsv(loan('A', { lender: 'LENDER_03' }))
  const { dry_run } = await migrateCsv(service, 'loans', csv, { dry_run: true })
  matchEach(t, dry_run.findings, [
    { line: 2, finding: 'refused', reason: /5000 at disbursement is more than the principal/ },
  ])
})

t.test('a dry run refuses what needs a payment type that the ledger lacks', async t => {
  const service = await startTestService(t, { LEDGER_PAYMENT_TYPE: 'Nowhere' })
  const loans = loansCsv(loan('A'), loan('B', { utr_payment_id: 'UTR-1' }))
  const ofLoans = await migrateCsv(service, 'loans', loans, { dry_run: true })
  const reason = 'the ledger has no payment type for it (LEDGER_PAYMENT_TYPE)'
  matchEach(t, ofLoans.dry_run.findings, [{ line: 3, finding: 'refused', reason }])
  const repayments = repaymentsCsv({ loan_external_id: 'A' })
  const after = [ofLoans.migration_id]
  const { dry_run } = await migrateCsv(service, 'repayments', repayments, { dry_run: true, after })
  matchEach(t, dry_run.findings, [{ line: 2, finding: 'refused', reason }])
})

t.test('a dry run does without what the ledger does not let our user read', async t => {
  const permissions = ['CLIENT', 'LOAN', 'LOANPRODUCT', 'PAYMENTTYPE'].map(one => `READ_${one}`)
  const username = 'teller'
  const service = await startTestService(
    t,
    { LEDGER_USERNAME: username, LEDGER_PASSWORD: PASSWORD },
    { atLedger: at => givenUser(at.ledger.url, username, permissions) },
  )
  const csv = loansCsv(
    loan('A'),
    loan('B', { client_activation_date: '2008-12-31' }),
    loan('C', { disbursed_on_date: '2999-01-01' }),
  )
  const { dry_run } = await migrateCsv(service, 'loans', csv, { dry_run: true })
  t.match(dry_run, { would_change: 2, refused: 1, unknown: 0 })
  matchEach(t, dry_run.findings, [{ line: 4, reason: /^disbursed_on_date is in the future/ }])
})

t.test('a dry run ignores a business date that the ledger has switched off', async t => {
  const off = { date: '2020-01-01', isOff: true }
  const service = await startTestService(
    t,
    {},
    { atLedger: at => control(at, 'PUT', '/business-date', off) },
  )
  const { dry_run } = await migrateCsv(service, 'loans', loansCsv(loan('A')), { dry_run: true })
  t.match(dry_run, { would_change: 1, refused: 0 })
})

t.test('a dry run reads the clients of a number only where the ledger can search', async t => {
  const service = await startTestService(t)
  const number = '+919876543210'
  const data = { ...clientData('C-OWN'), activationDate: '05 January 2024', mobileNo: number }
  t.match(await operate(service.call, 'CLIENT_CREATE', data), { status: 'success' })
  await control(service, 'PUT', '/faults', [
    { kind: 'error', status: 404, match: { path: '/search', on: 'reads' } },
  ])
  const csv = loansCsv(loan('A', { client_mobile_no: number }), loan('B'))
  const { dry_run } = await migrateCsv(service, 'loans', csv, { dry_run: true })
  matchEach(t, dry_run.findings, [
    { line: 2, reason: 'client_mobile_no: client C-OWN has this number at the ledger' },
  ])
  t.match(dry_run, { would_change: 1, unknown: 0 })
})

/** Creates a user of the head office with these permissions alone. */
async function givenUser(url: string, username: string, permissions: string[]) {
  const head = driver(url)
  const { body: role } = await head.call('POST', '/roles', { name: 'Least', description: 'Least' })
  await head.call('PUT', `/roles/${role.resourceId}/permissions`, {
    permissions: Object.fromEntries(permissions.map(one => [one, true])),
  })
  await head.call('POST', '/users', {
    username,
    firstname: 'Asha',
    lastname: 'Rao',
    email: 'teller@example.in',
    officeId: 1,
    roles: [role.resourceId],
    sendPasswordToEmail: false,
    password: PASSWORD,
    repeatPassword: PASSWORD,
  })
}

t.test(
  'an earlier repayment of a progressive loan that recalculates interest is foreseen as taken',
  async t => {
    const { proxy, service } = await throughProxy(t)
    await withLedger(service).loan('P-1')
    const row = (day: string) => ({
      loan_external_id: 'P-1',
      transaction_date: day,
      payment_reference: day,
    })
    await migrateCsv(service, 'repayments', repaymentsCsv(row('2024-04-15')))
    proxy.interferences.push({
      of: '/loan',
      on: 'reads',
      alters({ body }) {
        for (const one of Array.isArray(body) ? body : [body])
          Object.assign(one, {
            isInterestRecalculationEnabled: true,
            loanScheduleType: { id: 2, code: 'PROGRESSIVE', value: 'Progressive' },
          })
      },
    })
    const csv = repaymentsCsv(row('2024-02-15'), row('2024-03-15'), row('2024-05-15'))
    const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry_run, { would_change: 3, refused: 0 })
    t.match(await migrateCsv(service, 'repayments', csv), { done: 3, failed: 0 })
    const { body } = await service.call('POST', '/api/ledger/check')
    const { found } = body.findings.find(
      ({ check }: { check: string }) => check === 'product_interest_recalculation',
    )
    t.match(found, /each payment changes the schedule$/)
  },
)

t.test('a dry run refuses a repayment on a closed loan where the ledger blocks it', async t => {
  const service = withLedger(await startTestService(t, {}, { flags: ['block-closed'] }))
  await service.loan('B-1', { principal: 12_000 })
  const row = { loan_external_id: 'B-1', transaction_date: '2024-04-15', amount: '12000' }
  await migrateCsv(service, 'repayments', repaymentsCsv(row))
  const csv = repaymentsCsv({ ...row, amount: '10', payment_reference: 'late' })
  const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
  matchEach(t, dry_run.findings, [
    { finding: 'refused', reason: /^the loan accepts no repayments: Closed/ },
  ])
  t.match(await migrateCsv(service, 'repayments', csv), { failed: 1 })
})

t.test('a product with a floating rate breaks the set-up; a dry run refuses its loans', async t => {
  const { proxy, service } = await throughProxy(t)
  proxy.interferences.push({
    of: '/loanproducts',
    on: 'reads',
    alters({ body }) {
      for (const one of Array.isArray(body) ? body : [body])
        one.isLinkedToFloatingInterestRates = one.name === 'LENDER_02'
    },
  })
  const { body } = await service.call('POST', '/api/ledger/check')
  const broken = body.findings.filter(({ state }: { state: string }) => state === 'breaks')
  matchEach(t, broken, [{ check: 'product', lender: 'LENDER_02', found: /has a floating rate/ }])
  const { dry_run } = await migrateCsv(service, 'loans', loansCsv(loan('A')), { dry_run: true })
  matchEach(t, dry_run.findings, [
    { finding: 'refused', reason: /^interest_rate_per_period .* LENDER_02 has a floating rate$/ },
  ])
})

t.test('a dry run refuses the loans of a product that wants the tranches of each loan', async t => {
  const service = await startTestService(t, {}, { flags: ['no-product=LENDER_02'] })
  const tranches = { multiDisburseLoan: true, maxTrancheCount: 3, outstandingLoanBalance: 50_000 }
  await givenProduct(service, 'LENDER_02', tranches)
  const { dry_run } = await migrateCsv(service, 'loans', loansCsv(loan('A')), { dry_run: true })
  matchEach(t, dry_run.findings, [
    { finding: 'refused', reason: /^the loan product LENDER_02 wants the tranches of each loan/ },
  ])
  t.match(await migrateCsv(service, 'loans', loansCsv(loan('A'))), { failed: 1 })
})

t.test(
  'a group’s loan, which has no client, is repaid from a file without asking for one',
  async t => {
    const { proxy, service } = await throughProxy(t)
    await withLedger(service).loan('G-1')
    proxy.interferences.push({
      of: '/loan',
      on: 'reads',
      alters({ body }) {
        for (const member of Object.keys(body)) if (member.startsWith('client')) delete body[member]
        Object.assign(body, { group: { id: 3, name: 'Asha' }, loanType: { id: 2 } })
      },
    })
    const csv = repaymentsCsv({ loan_external_id: 'G-1', payment_reference: 'G-1' })
    const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry_run, { would_change: 1, refused: 0 })
    t.notOk(proxy.targets.find(target => target.includes('/clients/')))
    t.match(await migrateCsv(service, 'repayments', csv), { done: 1, failed: 0 })
  },
)
