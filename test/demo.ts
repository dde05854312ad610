// npm run demo: runs the whole journey once, over HTTP, on a separate service, and prints each step with its duration.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSeparateService } from './support/embedded/separate-service.ts'
import { LEDGER_HEADERS } from './support/ledger/ledger-driver.ts'

const BATCH_WITHIN_MS = 30_000
const ASK_EVERY_MS = 100
const DAY = '2026-02-13'
const PAID_AT = `${DAY}T10:00:00+05:30`
/** Names no loan. */
const TRANSFER = { id: 'pay_DEMO0000000003', amount: 150_000 }
/** Its webhook comes; the other one's never does. */
const REPORTED = { id: 'pay_DEMO0000000001', amount: 458_400 }
const UNREPORTED = { id: 'pay_DEMO0000000002', amount: 100_000 }

const startedAt = performance.now()
let service: Awaited<ReturnType<typeof startSeparateService>> | undefined
try {
  service = await startSeparateService('demo')
  const { printed, folder } = service
  const url = found(/API +(\S+)/, printed)
  const ledgerUrl = found(/Ledger +(\S+)/, printed)
  const gatewayUrl = new URL(found(/Gateways +([^\s,]+)/, printed)).origin
  const token = readFileSync(join(folder, '.data/internal-token'), 'utf8')
  printStep('the service is up: PostgreSQL, sandbox ledger, API and worker', startedAt)
  await drive(url, token, { ledgerUrl, gatewayUrl })
  console.log('\nAll as promised.')
} catch (error) {
  console.error(`\nNot as promised: ${(error as Error).message}`)
  process.exitCode = 1
} finally {
  await service?.stop()
}

type Others = { ledgerUrl: string; gatewayUrl: string }

async function drive(url: string, token: string, { ledgerUrl, gatewayUrl }: Others) {
  const call = caller(url, { 'x-internal-token': token })
  const step = async (what: string, status: string, data: object) => {
    const at = performance.now()
    const { tracking_id } = await call('POST', '/ledger/operate', { status, data }, 202)
    const record = await call('GET', `/ledger/track/${encodeURIComponent(tracking_id)}?wait=30`)
    if (record.status !== 'success') throw new Error(`${status} ended as ${JSON.stringify(record)}`)
    printStep(what, at)
  }
  await step('CLIENT_CREATE: the client exists in the ledger', 'CLIENT_CREATE', {
    firstname: 'Asha',
    lastname: 'Rao',
    externalId: 'C-DEMO',
    activationDate: '05 January 2026',
  })
  await step('LOAN_CREATE: 50,000.00 over 12 months at 18 % a year', 'LOAN_CREATE', {
    lenderConfig: 'LENDER_02',
    externalId: 'L-DEMO',
    clientId: 'C-DEMO',
    principal: 50000,
    submittedOnDate: '10 January 2026',
    loanTermFrequency: 12,
    numberOfRepayments: 12,
    interestRatePerPeriod: 18,
  })
  await step('LOAN_APPROVE', 'LOAN_APPROVE', {
    external_loan_id: 'L-DEMO',
    approvedOnDate: '12 January 2026',
  })
  await step('LOAN_DISBURSE: with its bank reference', 'LOAN_DISBURSE', {
    external_loan_id: 'L-DEMO',
    actualDisbursementDate: '13 January 2026',
    utr_payment_id: 'UTR2026011300001',
  })
  await payment(call)
  await transfer(call)
  await books(ledgerUrl)
  await reconcile(call, gatewayUrl)
  await refund(call)
}

async function payment(call: Call) {
  const sentAt = performance.now()
  await call('POST', '/webhooks/gateway_a?lender=LENDER_02', captured())
  printStep('webhook payment.captured: 4,584.00 acknowledged', sentAt)
  const batchAt = performance.now()
  await post(call, REPORTED.id)
  printStep('batch: raw → base → core → repayment posted', batchAt)
}

/** A transfer that names no loan, into a virtual account that is registered for it. */
async function transfer(call: Call) {
  const at = performance.now()
  const account = { virtual_account: { entity: { id: 'va_DEMO', notes: [] } } }
  const reference = '/references/gateway_a/virtual_account/va_DEMO'
  await call('PUT', reference, { external_loan_id: 'L-DEMO' }, 201)
  await call('POST', '/webhooks/gateway_a?lender=LENDER_02', captured(TRANSFER, [], account))
  await post(call, TRANSFER.id)
  printStep(
    'transfer into a virtual account that names no loan: 1,500.00 posted by its reference',
    at,
  )
}

async function post(call: Call, id: string) {
  const { batch_id } = await call('POST', '/payments/batch', {}, 202)
  await ended(call, `/payments/batches/${batch_id}`, 'the batch ends')
  const { payment } = await call('GET', `/payments/gateway_a/${id}`)
  if (payment.state !== 'posted')
    throw new Error(`the payment is ${payment.state}: ${payment.reason}`)
}

function ended(call: Call, path: string, what: string) {
  return until(async () => (await call('GET', path)).ended_at !== null, what)
}

/** Compares the day with what the gateway says, and brings in what its webhooks did not. */
async function reconcile(call: Call, gatewayUrl: string) {
  const gateway = caller(`${gatewayUrl}/sandbox-gateway`, {})
  const lender = 'LENDER_02'
  const named = { loan_id: 'L-DEMO', lender }
  for (const payment of [REPORTED, TRANSFER, UNREPORTED])
    await gateway('PUT', '/payments', {
      gateway: 'gateway_a',
      ...payment,
      created_at: PAID_AT,
      notes: payment === TRANSFER ? { lender } : named,
    })
  const fetchAt = performance.now()
  const window = { from: `${DAY}T00:00:00+05:30`, to: '2026-02-14T00:00:00+05:30' }
  const { backfill_id } = await call('POST', '/gateways/gateway_a/backfill', window, 202)
  await ended(call, `/gateways/backfills/${backfill_id}`, 'the fetch ends')
  await post(call, UNREPORTED.id)
  printStep('backfill: 1,000.00 whose webhook never came is found and posted', fetchAt)
  const checkAt = performance.now()
  for (const { id } of [REPORTED, TRANSFER, UNREPORTED])
    await call('POST', `/payments/gateway_a/${id}/check`, undefined)
  const { days } = await call('GET', `/reconciliation?from=${DAY}&to=${DAY}`)
  const [day] = days
  if (days.length !== 1 || !day.balanced || day.buckets.posted.amount !== day.captured?.amount)
    throw new Error(`the day is ${JSON.stringify(days)}`)
  printStep(
    `reconciliation of ${day.day}: captured ${day.captured.amount}, posted ${day.buckets.posted.amount}, balanced`,
    checkAt,
  )
}

/** Refunds the payment that the backfill found: an operator has it taken out at the ledger. */
async function refund(call: Call) {
  const at = performance.now()
  const { id: payment_id, amount } = UNREPORTED
  const made = { id: 'rfnd_DEMO', payment_id, amount, currency: 'INR', status: 'processed' }
  const event = { event: 'refund.processed', payload: { refund: { entity: made } } }
  await call('POST', '/webhooks/gateway_a?lender=LENDER_02', event)
  await post(call, payment_id)
  const reverse = { outcome: 'reverse', note: 'seen in the gateway’s dashboard' }
  await call('POST', '/payments/gateway_a/rfnd_DEMO/resolve', reverse)
  const read = async () => (await call('GET', `/payments/gateway_a/${payment_id}`)).payment
  await until(async () => (await read()).state === 'returned', 'the payment is returned')
  printStep('refund: 1,000.00 went back, and its repayment is undone at the ledger', at)
}

/** Reads the ledger itself, instead of trusting LoanOps. */
async function books(ledgerUrl: string) {
  const at = performance.now()
  const ledger = caller(ledgerUrl, LEDGER_HEADERS)
  const { transactions, summary } = await ledger(
    'GET',
    '/loans/external-id/L-DEMO?associations=transactions',
  )
  const repayment = transactions.find((one: any) => one.externalId === `gateway_a-${REPORTED.id}`)
  if (repayment?.amount !== 4584) throw new Error(`the ledger holds ${JSON.stringify(repayment)}`)
  printStep(
    `the ledger's books: repayment ${repayment.amount}, outstanding ${summary.totalOutstanding}`,
    at,
  )
}

/** The event as gateway A sends it, with the amount in paise. */
function captured(
  { id, amount } = REPORTED,
  notes: object = { external_loan_id: 'L-DEMO' },
  beside = {},
) {
  return {
    entity: 'event',
    account_id: 'acc_DEMO',
    event: 'payment.captured',
    contains: ['payment'],
    payload: {
      payment: {
        entity: {
          id,
          entity: 'payment',
          amount,
          currency: 'INR',
          status: 'captured',
          notes,
          created_at: Math.floor(Date.parse(PAID_AT) / 1000),
        },
      },
      ...beside,
    },
    created_at: Math.floor(Date.parse('2026-02-13T10:00:05+05:30') / 1000),
  }
}

type Call = (method: string, path: string, body?: object, expected?: number) => Promise<any>

function caller(url: string, headers: Record<string, string>): Call {
  return async (method, path, body, expected = 200) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (response.status !== expected)
      throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
}

async function until(isTrue: () => Promise<boolean>, what: string) {
  const end = Date.now() + BATCH_WITHIN_MS
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`timed out waiting until ${what}`)
    await new Promise(done => setTimeout(done, ASK_EVERY_MS))
  }
}

function found(pattern: RegExp, text: string): string {
  return pattern.exec(text)?.[1] ?? ''
}

function printStep(what: string, since: number) {
  console.log(`${(performance.now() - since).toFixed(0).padStart(6)} ms  ${what}`)
}
