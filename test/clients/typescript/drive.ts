// Drives one loan with the types that openapi-typescript makes.
import createClient from 'openapi-fetch'
import type { components, paths } from './loanops.ts'

const { LOANOPS_URL = '', LOANOPS_TOKEN = '' } = process.env
const headers = { 'X-Internal-Token': LOANOPS_TOKEN }
const client = createClient<paths>({ baseUrl: LOANOPS_URL, headers })

async function operate(body: components['schemas']['OperateRequest']) {
  const { data, error } = await client.POST('/api/ledger/operate', { body })
  if (error) throw new Error(`not accepted: ${error.detail}`)
  const path = { tracking_id: data.tracking_id }
  const { data: record, error: problem } = await client.GET('/api/ledger/track/{tracking_id}', {
    params: { path, query: { wait: 30 } },
  })
  if (problem) throw new Error(`not tracked: ${problem.detail}`)
  if (record.status !== 'success') throw new Error(`did not succeed: ${record.error_message}`)
  console.log(record.operation_type, record.status)
}

await operate({
  status: 'CLIENT_CREATE',
  data: {
    externalId: 'C-typescript',
    firstname: 'Asha',
    lastname: 'Rao',
    activationDate: '05 January 2026',
    emailAddress: 'asha@example.in',
  },
})
await operate({
  status: 'LOAN_CREATE',
  data: {
    lenderConfig: 'LENDER_02',
    externalId: 'L-typescript',
    clientId: 'C-typescript',
    principal: 1234567.89,
    submittedOnDate: '10 January 2026',
    loanTermFrequency: 12,
    numberOfRepayments: 12,
    interestRatePerPeriod: 18,
  },
})
await operate({
  status: 'LOAN_APPROVE',
  data: { external_loan_id: 'L-typescript', approvedOnDate: '12 January 2026' },
})
await operate({
  status: 'LOAN_DISBURSE',
  data: {
    external_loan_id: 'L-typescript',
    actualDisbursementDate: '13 January 2026',
    utr_payment_id: 'UTR-typescript',
  },
})

const path = { tracking_id: 'LOAN_APPROVE|019a0000-0000-7000-8000-000000000000' }
const { error } = await client.GET('/api/ledger/track/{tracking_id}', { params: { path } })
if (error?.code !== 'UNKNOWN_TRACKING_ID')
  throw new Error(`an unknown tracking id is answered with ${JSON.stringify(error)}`)
