import type { LoggedWrite } from '../../../src/sandbox/storage/write-log.ts'
import { type Call, operate, type TestService } from '../service.ts'
import { type LoanState, makeLedgerLoan } from './ledger-loan.ts'

let made = 0
/** An external id that is unique within this run, and not a prefix of another. */
export const newName = (prefix: string) =>
  `${prefix}-${process.pid}-${String(++made).padStart(5, '0')}`

export const DAY = '05 January 2026'
export const LATER_DAY = '06 January 2026'

export const clientData = (externalId: string) => ({
  firstname: 'Asha',
  lastname: 'Rao',
  externalId,
  activationDate: DAY,
})

export const loanData = (externalId: string, clientId: string) => ({
  lenderConfig: 'LENDER_01',
  externalId,
  principal: 50_000,
  submittedOnDate: DAY,
  loanTermFrequency: 12,
  numberOfRepayments: 12,
  interestRatePerPeriod: 18,
  clientId,
})

export const approval = (external_loan_id: string) => ({ external_loan_id, approvedOnDate: DAY })
export const disbursal = (external_loan_id: string) => ({
  external_loan_id,
  actualDisbursementDate: DAY,
})

/** Creates a client and a loan in the state `until`. @returns the loan's external id */
export async function givenLoan(call: Call, until: LoanState = 'created'): Promise<string> {
  const client = newName('C')
  const loan = newName('L')
  await given(call, 'CLIENT_CREATE', clientData(client))
  await given(call, 'LOAN_CREATE', loanData(loan, client))
  if (until !== 'created') await given(call, 'LOAN_APPROVE', approval(loan))
  if (until === 'disbursed') await given(call, 'LOAN_DISBURSE', disbursal(loan))
  return loan
}

async function given(call: Call, status: string, data: object) {
  const record = await operate(call, status, data)
  if (record.status !== 'success') throw new Error(`${status}: ${JSON.stringify(record)}`)
}

type LedgerToCall = { url: string; username?: string; password?: string; tenant?: string }

/** A call made directly to the ledger, bypassing LoanOps. */
export async function atLedger(
  { ledger }: { ledger: LedgerToCall },
  method: string,
  path: string,
  body?: object,
) {
  const { username = 'mifos', password = 'password', tenant = 'default' } = ledger
  const response = await fetch(ledger.url + path, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'fineract-platform-tenantid': tenant,
      'content-type': 'application/json',
    },
    ...(body === undefined
      ? {}
      : { body: JSON.stringify({ ...body, dateFormat: 'dd MMMM yyyy', locale: 'en' }) }),
  })
  return (await response.json()) as any
}

/** The sandbox's controls: `control(service, 'PUT', '/faults', rules)`. */
export async function control(
  { ledger }: Pick<TestService, 'ledger'>,
  method: string,
  path: string,
  body?: unknown,
) {
  const response = await fetch(ledger.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as any
}

/** The writes applied to a loan or client, oldest first. */
export async function writesOn(service: Pick<TestService, 'ledger'>, externalId: string) {
  const { log } = await control(service, 'GET', '/log?limit=250000')
  return (log as LoggedWrite[])
    .filter(write => write.externalId === externalId)
    .map(({ command }) => command)
}

/** Creates a loan directly at the ledger, for tests that do not care how it got there. @returns its external id */
export async function ledgerLoan(
  service: Pick<TestService, 'ledger'>,
  until: LoanState = 'created',
): Promise<string> {
  const externalId = newName('L')
  const post = (path: string, body: object) => atLedger(service, 'POST', path, body)
  await makeLedgerLoan(post, externalId, { until, day: DAY, client: { externalId: newName('C') } })
  return externalId
}

/** Defines a charge at the ledger, by default a fixed amount on a day that the loan names. @returns its number */
export async function givenCharge(
  service: { ledger: LedgerToCall },
  charge: object,
): Promise<number> {
  const { resourceId } = await atLedger(service, 'POST', '/charges', {
    name: newName('Charge'),
    chargeAppliesTo: 1,
    currencyCode: 'INR',
    chargeTimeType: 2,
    chargeCalculationType: 1,
    chargePaymentMode: 0,
    active: true,
    locale: 'en',
    ...charge,
  })
  return resourceId
}
