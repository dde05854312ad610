import type { booksView } from '../../src/sandbox/books-view.ts'
import type { Traffic } from '../../src/sandbox/http/traffic.ts'
import type { LoggedWrite } from '../../src/sandbox/storage/write-log.ts'
import { MONTHLY_TERMS } from './monthly-terms.ts'

export type Books = ReturnType<typeof booksView> & {
  log: LoggedWrite[]
  counters: ReturnType<Traffic['view']>
}

export async function booksAt(controlUrl: string): Promise<Books> {
  const response = await fetch(`${controlUrl}/books`)
  return (await response.json()) as Books
}

export type Reply = {
  status: number
  fromStore: boolean
  body: any
}

export type Extra = {
  key?: string
  fault?: string | object
  signal?: AbortSignal
}

const HEADERS = {
  authorization: `Basic ${Buffer.from('mifos:password').toString('base64')}`,
  'fineract-platform-tenantid': 'default',
  'content-type': 'application/json',
}

export const DATES = { dateFormat: 'yyyy-MM-dd', locale: 'en' }

/** The status of a refusal, and the codes of all its errors. */
export function codes({ status, body }: Reply): (number | string)[] {
  return [status, ...body.errors.map((error: any) => error.userMessageGlobalisationCode)]
}

/** Direct calls to the ledger, without keys or retries. */
export function driver(url: string) {
  const call = async (
    method: string,
    path: string,
    body?: object,
    { key, fault, signal }: Extra = {},
  ): Promise<Reply> => {
    const headers: Record<string, string> = { ...HEADERS }
    if (key !== undefined) headers['idempotency-key'] = key
    if (fault !== undefined) {
      headers['x-sandbox-fault'] = typeof fault === 'string' ? fault : JSON.stringify(fault)
    }
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const text = await response.text()
    return {
      status: response.status,
      fromStore: response.headers.get('x-served-from-cache') === 'true',
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const repay = (loan: string, externalId: string, extra: Extra = {}, transactionAmount = 100) =>
    call(
      'POST',
      `/loans/external-id/${loan}/transactions?command=repayment`,
      { transactionDate: '2024-02-15', transactionAmount, externalId, ...DATES },
      extra,
    )
  const repayment = (loan: string, externalId: string) =>
    call('GET', `/loans/external-id/${loan}/transactions/external-id/${externalId}`)
  return {
    call,
    repay,
    repayment,
    submittedLoan: (loan: string, terms: object = {}) => submittedLoan(call, loan, terms),
    activeLoan: (loan: string) => activeLoan(call, loan),
  }
}

type Call = (method: string, path: string, body?: object) => Promise<Reply>

/** The body that created the loan, to be sent again as an update. */
async function submittedLoan(call: Call, externalId: string, terms: object): Promise<object> {
  const client = await call('POST', '/clients', {
    officeId: 1,
    legalFormId: 1,
    firstname: 'Asha',
    lastname: 'Rao',
    active: true,
    activationDate: '2023-01-05',
    ...DATES,
  })
  const loan = {
    ...MONTHLY_TERMS,
    clientId: client.body.clientId,
    productId: 2,
    externalId,
    principal: 12_000,
    interestRatePerPeriod: 0,
    submittedOnDate: '2024-01-15',
    expectedDisbursementDate: '2024-01-15',
    ...DATES,
    ...terms,
  }
  refuseFailure(await call('POST', '/loans', loan))
  return loan
}

async function activeLoan(call: Call, externalId: string): Promise<void> {
  await submittedLoan(call, externalId, {})
  const path = `/loans/external-id/${externalId}?command`
  const replies = [
    await call('POST', `${path}=approve`, { approvedOnDate: '2024-01-15', ...DATES }),
    await call('POST', `${path}=disburse`, { actualDisbursementDate: '2024-01-15', ...DATES }),
  ]
  for (const reply of replies) refuseFailure(reply)
}

function refuseFailure(reply: Reply): void {
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
}
