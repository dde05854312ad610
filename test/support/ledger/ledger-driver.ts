import type { booksView } from '../../../src/sandbox/books-view.ts'
import type { Traffic } from '../../../src/sandbox/http/traffic.ts'
import type { LoggedWrite } from '../../../src/sandbox/storage/write-log.ts'
import { type LoanState, makeLedgerLoan } from './ledger-loan.ts'

export type Books = ReturnType<typeof booksView> & {
  log: LoggedWrite[]
  counters: ReturnType<Traffic['view']>
}

export async function booksAt(controlUrl: string): Promise<Books> {
  const response = await fetch(`${controlUrl}/books`)
  return (await response.json()) as Books
}

type Reply = { status: number; fromStore: boolean; body: any }

/** A loan of the product LENDER_0<product>, with other members of its body. */
type LoanOptions = { until?: LoanState; product?: number; [term: string]: unknown }

type Extra = { key?: string; fault?: string | object; signal?: AbortSignal }

export const LEDGER_HEADERS = {
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
    const headers: Record<string, string> = { ...LEDGER_HEADERS }
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
  const loan = async (
    externalId: string,
    { until = 'disbursed', product = 2, ...others }: LoanOptions = {},
  ) => {
    const post = async (path: string, body: object) =>
      (await call('POST', path, { ...body, ...DATES })).body
    const terms = { productId: product, principal: 12_000, interestRatePerPeriod: 0, ...others }
    const body = await makeLedgerLoan(post, externalId, {
      until,
      day: '2024-01-15',
      // Long before: the ledger refuses what came before it by naming the client, not the loan.
      client: { activationDate: '2023-01-05' },
      terms,
    })
    return { ...body, ...DATES }
  }
  return { call, repay, repayment, loan }
}
