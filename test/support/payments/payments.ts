import { sql } from 'kysely'
import type { Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { booksAt, DATES, driver } from '../ledger/ledger-driver.ts'
import { type Call, type Preparation, startTestService, type TestService } from '../service.ts'
import { until } from '../until.ts'
import { capturedA, PAID_AT_ISO, signedA } from './gateway-events.ts'

/** The whole service, with what payment tests need from it and from its ledger. */
export async function paymentService(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
  preparation: Preparation = {},
) {
  return withLedger(await startTestService(t, changes, preparation))
}

/** The same, after a batch has registered raw.lender_02_gateway_a as a source, whose view an operator may replace. */
export async function serviceWithSource(t: Test): Promise<PaymentService> {
  const service = await paymentService(t)
  await service.loan('L-1')
  const event = capturedA({ id: 'pay_0', loan: 'L-1' })
  await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  return service
}

/** Replaces that source's view with one whose amount and body are these SQL expressions. */
export async function replaceView(
  db: Database,
  { amount = 'f.amount', body = 'r.body' }: { amount?: string; body?: string },
): Promise<void> {
  await sql`
    create or replace view base.lender_02_gateway_a as
    select r.id as raw_id, r.received_at, r.event_id, r.event_type, r.address, r.verified_by,
           f.kind, f.payment_id, f.of_payment_id, f.status, ${sql.raw(amount)} as amount, f.currency,
           f.paid_at, f.external_loan_id, f.problem, f.hints
      from raw.lender_02_gateway_a r cross
       join lateral base.gateway_a(${sql.raw(body)}) f`.execute(db)
}

/** The lender that events are sent for. */
export const LENDER = { lender: 'LENDER_02' }

let lastId = 0

/** A payment's id and its loan's, which no other test has: for tests that share a service. */
export function ownIds() {
  lastId++
  return { id: `pay_${lastId}`, loan: `L-${lastId}` }
}

/** The same, after this loan was made at the ledger. */
export async function ownLoan(
  service: Pick<PaymentService, 'loan'>,
  options: Parameters<PaymentService['loan']>[1] = {},
) {
  const ids = ownIds()
  await service.loan(ids.loan, options)
  return ids
}

export function withLedger<Service extends TestService>(service: Service) {
  const ledger = driver(service.ledger.url)
  const faults = (rules: object[]) =>
    fetch(`${service.ledger.controlUrl}/faults`, { method: 'PUT', body: JSON.stringify(rules) })
  /** Calls the ledger about a loan's transactions, on the day of `capturedA` unless the body has another. */
  const transact = (loan: string, path: string, body: object) =>
    ledger.call('POST', `/loans/external-id/${loan}/transactions${path}`, {
      transactionDate: PAID_AT_ISO.slice(0, 10),
      ...body,
      ...DATES,
    })
  return {
    ...service,
    ledgerCall: ledger.call,
    /** Books a repayment as a person does. */
    bookAt: (loan: string, transactionAmount: number, more: object = {}) =>
      transact(loan, '?command=repayment', { transactionAmount, ...more }),
    /** Undoes a repayment as a person does. */
    undoAt: (loan: string, externalId: string, more: object = {}) =>
      transact(loan, `/external-id/${externalId}`, { transactionAmount: 0, ...more }),
    loan: ledger.loan,
    webhook: webhooks(service.url),
    batch: () => runBatch(service.call),
    payment: (id: unknown, gateway = 'gateway_a') => paymentAt(service.call, id, gateway),
    /** The payment once nothing is under way that could post it. */
    ended: (id: string) =>
      until(async () => {
        const { payment } = await paymentAt(service.call, id)
        return ['waiting', 'posting'].includes(payment.state) ? undefined : payment
      }, `${id} ends`),
    /** All of a payment's events, page by page. */
    events: (id: string, query = '') =>
      allEvents(service.call, `/api/payments/gateway_a/${id}?${query}`),
    assign: (id: string, loan: string, gateway = 'gateway_a') =>
      service.call('POST', `/api/payments/${gateway}/${encodeURIComponent(id)}/assign`, {
        external_loan_id: loan,
      }),
    resolve: (id: string, resolution: object, path = '', headers = {}) =>
      service.call(
        'POST',
        `/api/payments/gateway_a/${encodeURIComponent(id)}/resolve${path}`,
        resolution,
        headers,
      ),
    books: () => booksAt(service.ledger.controlUrl),
    faults,
    /** Loses the next write's answer, and makes every look fail until `faults([])`. */
    loseAnswer: () =>
      faults([
        { kind: 'drop', match: { on: 'writes' }, times: 1 },
        { kind: 'error', status: 502, match: { on: 'reads', path: '/transactions/' } },
      ]),
    /** The repayments of this loan, or of all. */
    repayments: async (loan?: string) =>
      (await booksAt(service.ledger.controlUrl)).transactions.filter(
        one =>
          one.externalId?.startsWith('gateway_') &&
          (loan === undefined || one.loanExternalId === loan),
      ),
  }
}

export type PaymentService = Awaited<ReturnType<typeof paymentService>>

async function allEvents(call: Call, path: string, cursor = ''): Promise<any[]> {
  const { body } = await call('GET', path + cursor)
  if (body.next_cursor === null) return body.events
  return [...body.events, ...(await allEvents(call, path, `&cursor=${body.next_cursor}`))]
}

/** Sends an event as a gateway does: without a token. */
export function webhooks(url: string) {
  return async (
    gateway: 'gateway_a' | 'gateway_b',
    event: unknown,
    { lender, headers = {} }: { lender?: string; headers?: Record<string, string> } = {},
  ) => {
    const query = lender === undefined ? '' : `?lender=${encodeURIComponent(lender)}`
    const isRaw = typeof event === 'string' || Buffer.isBuffer(event)
    const response = await fetch(`${url}/api/webhooks/${gateway}${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: (isRaw ? event : JSON.stringify(event)) as string,
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text ? JSON.parse(text) : null,
    }
  }
}

/** The webhook secret of the lenders whose events are signed. */
export const SECRET = 'secret'

/** An event of gateway A for LENDER_02, signed. */
export async function sendSigned(
  service: Pick<PaymentService, 'webhook'>,
  event: object,
): Promise<void> {
  const body = JSON.stringify(event)
  const headers = signedA(SECRET, body)
  await service.webhook('gateway_a', body, { ...LENDER, headers })
}

/** Requests a batch run and waits for it to end. */
export async function runBatch(call: Call) {
  const { body } = await call('POST', '/api/payments/batch')
  return until(async () => {
    const run = await call('GET', `/api/payments/batches/${body.batch_id}`)
    return run.body.ended_at === null ? undefined : run.body
  }, 'the batch ends')
}

/** Waits until every acknowledged event is in its raw table. */
export async function allSaved(db: Database): Promise<void> {
  await until(async () => {
    const { rows } = await sql`
      select from pgboss.job where name = 'payment-event' and state < 'completed'
       limit 1`.execute(db)
    return rows.length === 0 ? true : undefined
  }, 'the events are saved')
}

/** Disburses a loan that was made `approved`. */
export async function disburse(service: PaymentService, externalId: string): Promise<void> {
  await service.ledgerCall('POST', `/loans/external-id/${externalId}?command=disburse`, {
    actualDisbursementDate: '2024-01-15',
    ...DATES,
  })
}

async function paymentAt(call: Call, id: unknown, gateway = 'gateway_a') {
  return (await call('GET', `/api/payments/${gateway}/${encodeURIComponent(String(id))}`)).body
}

/** Sends events of gateway A one after the other, runs a batch, and tells the payment. */
export async function sent(service: PaymentService, events: unknown[], id = 'pay_1') {
  for (const event of events) await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  return (await service.payment(id)).payment
}
