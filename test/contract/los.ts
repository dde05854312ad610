import type { Test } from 'tap'
import { ADMIN } from '../support/accounts/admin.ts'
import { type Call, startTestService, type TestService, TOKEN } from '../support/service.ts'

export const NAMED_TOKEN = 'a-token-with-a-name'
export const SECRET = 'of-gateway-a'

/** A LOS that knows nothing but the contract. */
export type Los = Pick<TestService, 'url' | 'ledger'> & {
  call: Call
  /** An external id of this LOS. */
  id(name: string): string
  submit(status: string, data: object, headers?: Record<string, string>): ReturnType<Call>
  track(trackingId: string, query?: string): ReturnType<Call>
  /** Submits an operation and waits for its end. @returns the tracking record */
  run(status: string, data: object): Promise<any>
  /** What the service understood of an operation. */
  taken(status: string, data: object): Promise<any>
  /** The status, and what is wrong with which field. */
  refused(status: string, data: object): Promise<{ status: number; errors: Record<string, string> }>
}

export async function startLos(t: Test): Promise<Omit<Los, 'id'>> {
  const { url, call, ledger } = await startTestService(t, {
    INTERNAL_TOKEN: `los:${NAMED_TOKEN},${TOKEN}`,
    GATEWAY_A_WEBHOOK_SECRET: SECRET,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  })
  const submit: Los['submit'] = (status, data, headers) =>
    call('POST', '/api/ledger/operate', { status, data }, headers)
  const track: Los['track'] = (id, query = '') =>
    call('GET', `/api/ledger/track/${encodeURIComponent(id)}${query}`)
  const accepted = async (status: string, data: object): Promise<string> => {
    const { body } = await submit(status, data)
    if (body.tracking_id === undefined) throw new Error(`${status}: ${JSON.stringify(body)}`)
    return body.tracking_id
  }
  return {
    url,
    ledger,
    call,
    submit,
    track,
    run: async (status, data) => (await track(await accepted(status, data), '?wait=30')).body,
    async taken(status, data) {
      const id = encodeURIComponent(await accepted(status, data))
      return (await call('GET', `/api/ledger/operations/${id}`)).body.data
    },
    async refused(status, data) {
      const answer = await submit(status, data)
      const errors: { path: string; message: string }[] = answer.body.errors ?? []
      return {
        status: answer.status,
        errors: Object.fromEntries(errors.map(one => [one.path, one.message])),
      }
    },
  }
}

export const clientOf = (externalId: string) => ({
  firstname: 'Asha',
  lastname: 'Rao',
  externalId,
  activationDate: '05 January 2026',
})

export const loanOf = (externalId: string, clientId: string) => ({
  lenderConfig: 'LENDER_01',
  externalId,
  principal: 50_000,
  submittedOnDate: '10 January 2026',
  loanTermFrequency: 12,
  numberOfRepayments: 12,
  interestRatePerPeriod: 18,
  clientId,
})

export const approvalOf = (external_loan_id: string) => ({
  external_loan_id,
  approvedOnDate: '12 January 2026',
})

export const disbursalOf = (external_loan_id: string) => ({
  external_loan_id,
  actualDisbursementDate: '12 January 2026',
})
