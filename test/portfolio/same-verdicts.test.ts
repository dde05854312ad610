import t, { type Test } from 'tap'
import { lendersFile } from '../support/config/lenders-file.ts'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { atLedger, clientData, control } from '../support/ledger/loans.ts'
import { givenProduct, givenProductWithTerms } from '../support/ledger/products.ts'
import { ended, rowsOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { dice } from '../support/portfolio/portfolio.ts'
import {
  drawWith,
  everyFault,
  randomLoans,
  randomRepayments,
} from '../support/portfolio/random-portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService, type TestService } from '../support/service.ts'

/** What each refusal of a run says, and what the dry run must have said of the same row. */
const SAME: [run: RegExp, dryRun: RegExp][] = [
  [/Activation date cannot be in the future/, /client_activation_date is in the future/],
  [/before the office opening date/, /client_activation_date is before the opening/],
  [/Client with mobileNo .* already exists/, /client_mobile_no: client .* has this number/],
  // A loan whose later steps are refused, or not asked for, is there when its repayment is tried.
  [/would round/, /would round|its loans file (would be refused|does not disburse)/],
  [/`principal` amount .* must be between/, /principal must be at (least|most)/],
  [/`numberOfRepayments` must be between/, /number_of_repayments must be at (least|most)/],
  [/`interestRatePerPeriod` amount .* must be/, /interest_rate_per_period must be at (least|most)/],
  [/loan is submitted cannot be in the future/, /submitted_on_date is in the future/],
  [/loan is approved cannot be in the future/, /approved_on_date is in the future/],
  [/disbursed cannot be in the future/, /disbursed_on_date is in the future/],
  [/cannot be before the loan product start/, /submitted_on_date is before the loan product/],
  [/cannot be after the loan product close/, /submitted_on_date is after the loan product/],
  [/suggest(ed)? loan term as indicated/, /loan_term_frequency must be 2 times/],
  [/mustBeLessThan\.numberOfRepayments/, /number_of_repayments must be more than/],
  [/equal to Expected disbursal date/, /disbursed_on_date must be the expected day/],
  [/The Client with id `\d+` is not active/, /its client is not active/],
  [/external identifier .* does not exist/, /the ledger has no such loan/],
  [
    /Loan must be Active, Fully Paid/,
    /loan (is not disbursed|accepts no repayments)|its loans file (would be refused|does not disburse)/,
  ],
  [/before the loan disbursement date/, /the loan was disbursed later/],
  [/transaction date cannot be in the future/, /transaction_date is in the future/],
  [/earlier than last transaction date/, /transaction_date is before the loan’s last repayment/],
  [/client's transfer date to this office/, /transaction_date is before the activation of its/],
  [/value\.must\.be\.unique/, /this payment is a repayment of another loan/],
]
const DIFFERS = /It is already in the ledger, but different/

const FILES = 3
const LOANS = 36
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

t.test(`a dry run gives the verdicts of the run, row by row (SEED=${SEED})`, async t => {
  const service = await verdictService(t)
  const draw = drawWith(dice(SEED))
  const loans = Array.from({ length: LOANS }, (_, n) => `L-${String(n).padStart(3, '0')}`)
  const seen = new Set<string>()
  const faults = await lookedAt(service, 'loans', loansCsv(...everyFault()))
  compare('every fault', await runOf(service, faults))
  for (let file = 0; file < FILES; file++) {
    const loansFile = loansCsv(...randomLoans(draw, loans, file))
    const ofLoans = await lookedAt(service, 'loans', loansFile)
    const repaymentsFile = repaymentsCsv(...randomRepayments(draw, loans, file))
    const ofRepayments = await lookedAt(service, 'repayments', repaymentsFile, [ofLoans.id])
    compare(`loans ${file}`, await runOf(service, ofLoans))
    compare(`repayments ${file}`, await runOf(service, ofRepayments))
    await changeAtLedger(service, file)
  }
  for (const type of ['loans', 'repayments'])
    for (const finding of ['new', 'in_ledger', 'differs', 'refused'])
      t.ok(seen.has(`${type} ${finding}`), `${type} ${finding} occurs`)
  for (const [run] of SAME) t.ok(seen.has(run.source), `${run} occurs`)

  function compare(name: string, verdicts: Verdict[]) {
    for (const { line, finding, reason, run } of verdicts) {
      const where = `${name}, line ${line}: ${reason} | ${run.reason}`
      t.equal(finding, run.finding, where)
      if (finding === 'refused') t.ok(isSame(reason, run), where)
      seen.add(`${name.split(' ')[0]} ${finding}`)
      for (const [said] of SAME) if (said.test(run.reason ?? '')) seen.add(said.source)
    }
  }
})

type Verdict = { line: number; finding: string; reason: string; run: Ran }
type Ran = { finding: string; reason: string | null; behind: number | undefined }

function isSame(reason: string, { reason: ran, behind }: Ran): boolean {
  if (behind && !reason.includes(`line ${behind} `)) return false
  if (ran?.startsWith('not tried')) return reason.includes('would not be tried, because')
  return SAME.some(([run, dryRun]) => run.test(ran ?? '') && dryRun.test(reason))
}

async function lookedAt(service: TestService, type: string, csv: string, after: string[] = []) {
  const { body } = await uploadCsv(service, type, csv)
  const id = body.migration_id as string
  await start(service, { migration_id: id, dry_run: true, after })
  return { type, id, csv, findings: await rowsOf(service, id) }
}

async function start(
  service: TestService,
  run: { migration_id: string; dry_run?: boolean; after?: string[] },
) {
  const { status, body } = await service.call('POST', '/api/migration/run', {
    skip_invalid: true,
    ...run,
  })
  if (status !== 202) throw new Error(JSON.stringify(body))
  return ended(service, run.migration_id)
}

type Looked = Awaited<ReturnType<typeof lookedAt>>

async function runOf(service: TestService, { id, type, csv, findings }: Looked) {
  const before = await writtenAt(service)
  await start(service, { migration_id: id })
  const after = await writtenAt(service)
  const rows = await rowsOf(service, id)
  const cells = csv.split('\n').map(line => line.split(','))
  return findings
    .filter(({ finding }) => finding !== null)
    .map(({ line, finding, finding_reason: reason }) => ({
      line: line as number,
      finding: finding as string,
      reason: reason as string,
      run: ran(rows.find(one => one.line === line)),
    }))

  function ran({ line, state, reason }: any): Ran {
    if (state === 'done') {
      const isWritten = (after.get(subjectOf(line)) ?? 0) > (before.get(subjectOf(line)) ?? 0)
      return { finding: isWritten ? 'new' : 'in_ledger', reason, behind: undefined }
    }
    const behind = /^its client: /.test(reason)
      ? lineOfClient(line)
      : /^not tried, because line (\d+) /.exec(reason)?.[1]
    return {
      finding: DIFFERS.test(reason) ? 'differs' : 'refused',
      reason,
      behind: Number(behind ?? 0),
    }
  }

  /** What a row is about: its loan's id, or the loan and the receipt number of its repayment. */
  function subjectOf(line: number): string {
    const [first, , , fourth] = cells[line - 1] as string[]
    return type === 'loans' ? ((cells[line - 1] as string[])[7] as string) : `${first} ${fourth}`
  }

  function lineOfClient(line: number): number | undefined {
    const of = (one: number) => (cells[one - 1] as string[])[0]
    return rows.find(
      one => of(one.line) === of(line) && one.state === 'failed' && !/^its client/.test(one.reason),
    )?.line
  }
}

/** How much there is of each loan, and of each repayment by its receipt number. */
async function writtenAt(service: TestService): Promise<Map<string, number>> {
  const { loans, transactions } = await booksAt(service.ledger.controlUrl)
  const written = new Map<string, number>()
  for (const { externalId, status } of loans) written.set(String(externalId), status)
  for (const { loanExternalId, receiptNumber } of transactions) {
    const payment = `${loanExternalId} ${receiptNumber}`
    written.set(payment, (written.get(payment) ?? 0) + 1)
  }
  return written
}

/** Between two files, people work at the ledger. */
async function changeAtLedger(service: TestService, file: number) {
  const { transactions } = await booksAt(service.ledger.controlUrl)
  const repaid = transactions.filter(
    ({ type, reversed, loanExternalId }) =>
      type === 'repayment' && !reversed && String(loanExternalId) >= 'L-012',
  )
  const undone = repaid.at(-1 - file) as (typeof repaid)[0]
  await atLedger(
    service,
    'POST',
    `/loans/external-id/${undone.loanExternalId}/transactions/external-id/${undone.externalId}`,
    { transactionDate: '30 June 2024', transactionAmount: 0 },
  )
  if (file > 0) return
  await atLedger(service, 'PUT', '/clients/external-id/C-4', {
    firstname: 'Asha',
    lastname: 'Moved',
    activationDate: '15 March 2024',
  })
  const { clientId } = await atLedger(service, 'GET', '/loans/external-id/L-010')
  await atLedger(service, 'POST', `/clients/${clientId}?command=proposeTransfer`, {
    destinationOfficeId: 1,
    transferDate: '30 June 2024',
  })
  await atLedger(service, 'POST', '/loans/external-id/L-003/transactions?command=writeoff', {
    transactionDate: '30 June 2024',
  })
}

/**
 * A service with an office and products that each have a rule of their own, and clients that have some of the numbers.
 */
async function verdictService(t: Test): Promise<TestService> {
  const lenders = {
    LENDER_02: { product: 'Narrow' },
    LENDER_03: { product: 'Whole' },
    LENDER_04: { product: 'Rigid' },
    LENDER_05: { product: 'Terms', copyToPortfolio: true },
    LENDER_06: { product: 'Recalculated' },
  }
  const changes = { LENDERS_FILE: lendersFile(t, lenders), LEDGER_OFFICE_ID: '2' }
  const service = await startTestService(t, changes, {
    async atLedger(at) {
      await control(at, 'PUT', '/business-date', { date: '2024-06-30' })
      const office = { name: 'Branch', parentId: 1, openingDate: '01 January 2022' }
      t.equal((await atLedger(at, 'POST', '/offices', office)).officeId, 2)
      await givenProduct(at, 'Narrow', {
        minPrincipal: 1000,
        maxPrincipal: 20000,
        minNumberOfRepayments: 3,
        maxNumberOfRepayments: 12,
        minInterestRatePerPeriod: 6,
        maxInterestRatePerPeriod: 36,
        startDate: '01 January 2024',
        closeDate: '30 April 2024',
      })
      await givenProduct(at, 'Whole', { digitsAfterDecimal: 0 })
      await givenProduct(at, 'Rigid', {
        repaymentEvery: 2,
        graceOnPrincipalPayment: 3,
        allowAttributeOverrides: {
          repaymentEvery: false,
          graceOnPrincipalAndInterestPayment: false,
        },
        syncExpectedWithDisbursementDate: true,
      })
      await givenProductWithTerms(at, 'Terms')
      await givenProduct(at, 'Recalculated', {
        isInterestRecalculationEnabled: true,
        interestRecalculationCompoundingMethod: 0,
        rescheduleStrategyMethod: 3,
        recalculationRestFrequencyType: 1,
        preClosureInterestCalculationStrategy: 1,
      })
      await atLedger(at, 'POST', '/clients', {
        officeId: 1,
        legalFormId: 1,
        firstname: 'Not',
        lastname: 'Ours',
        mobileNo: '+910000000001',
        active: true,
        activationDate: '05 January 2023',
      })
    },
  })
  const own = { ...clientData('OWN'), activationDate: '05 January 2023', mobileNo: '+910000000002' }
  t.match(await operate(service.call, 'CLIENT_CREATE', own), { status: 'success' })
  return service
}
