import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { backfillFeature } from '../../src/books/backfill/backfill-feature.ts'
import { asPerson } from '../support/accounts/as-person.ts'
import { fetchAll, gatewaySandbox, requestFetch } from '../support/books/gateways.ts'
import { withReadback } from '../support/books/readback.ts'
import { offBy } from '../support/books/reconciliation.ts'
import { spoiledGateway } from '../support/books/spoiled-gateway.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { capturedA, refundA, signedA } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'

/** No further history is begun after this time. */
const ENOUGH_MS = 8_000
/** An address that is not the gateway's. */
const OUTSIDE = '8.8.8.8'
const INSIDE = '10.1.2.3'
/** Three days in India. */
const WINDOW = { from: '2026-02-03T18:30:00Z', to: '2026-02-06T18:30:00Z' }
const DAYS = ['2026-02-04', '2026-02-05', '2026-02-06']
const QUERY = `from=${DAYS[0]}&to=${DAYS[2]}`
const LATEST = 3

type Payment = { paise: number; day: number; isLate: boolean; namesLoan: boolean; hasFee: boolean }
const STEPS = [
  'webhook',
  'webhook',
  'repeat',
  'forged amount',
  'forged payment',
  'late capture',
  'refund',
  'batch',
  'fetch',
  'check',
  'undo',
  'assign',
  'post',
  'post less',
  'handled',
  'dismiss',
  'spoil',
  'mend',
  'post unreadable',
  'upload',
  'withdraw',
  'kill',
] as const
/** Where a worker dies; it passes each in a batch or a fetch, whatever there is to do. */
const DEATHS = ['batch.claimed', 'batch.unended', ...backfillFeature.crashPoints] as const
type Step = { of: number; what: (typeof STEPS)[number]; death: (typeof DEATHS)[number] }

const payments: fc.Arbitrary<Payment[]> = fc.array(
  fc.record({
    paise: fc.integer({ min: 20_000, max: 90_000 }),
    day: fc.nat({ max: 2 }),
    isLate: fc.boolean(),
    namesLoan: fc.boolean(),
    hasFee: fc.boolean(),
  }),
  { minLength: 1, maxLength: LATEST },
)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    of: fc.nat({ max: LATEST - 1 }),
    what: fc.constantFrom(...STEPS),
    death: fc.constantFrom(...DEATHS),
  }),
  { minLength: 6, maxLength: 24 },
)

const gateways = await gatewaySandbox(t)
const { url, spoiled } = await spoiledGateway(t, gateways.urlA)
const gateway_a = { allowedCidrs: ['10.0.0.0/8'], secretEnv: 'SECRET' }
const settings = {
  ...gateways.settings,
  GATEWAY_A_API_URL: url,
  LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_a } }),
  SECRET: 's',
  TRUST_PROXY: '127.0.0.1',
}
const service = withReadback(await paymentService(t, { ...settings, ROLE: 'api' }))
const person = await asPerson(service)
await service.loan('L-1')
const workerEnv = testEnv(service.databaseUrl, service.ledger.url, settings)
let worker = startProcessFor(t, 'worker', workerEnv)
let sent = 0
/** Operators decide once the money is known to be there. */
const known = new Set<string>()
/** The payments that the gateway lists as captured. */
const isCaptured = new Set<string>()
const uploads: string[] = []

function send(event: object, isOurs = true) {
  const body = JSON.stringify(event)
  return service.webhook('gateway_a', body, {
    lender: 'LENDER_02',
    headers: {
      'x-forwarded-for': isOurs ? INSIDE : OUTSIDE,
      'x-gatewaya-event-id': `evt_${++sent}`,
      ...(isOurs && signedA('s', body)),
    },
  })
}

const paidAt = ({ day }: Payment) => `${DAYS[day]}T06:00:00.000Z`
function atGateway(id: string, payment: Payment, status: string) {
  if (status === 'captured') isCaptured.add(id)
  return gateways.put('/payments', {
    gateway: 'gateway_a',
    id,
    status,
    amount: payment.paise,
    created_at: paidAt(payment),
    notes: { lender: 'LENDER_02', ...(payment.namesLoan && { loan_id: 'L-1' }) },
  })
}
const captured = (id: string, payment: Payment, amount = payment.paise) =>
  capturedA({
    id,
    amount,
    ...(payment.namesLoan && { loan: 'L-1' }),
    payment: {
      created_at: Date.parse(paidAt(payment)) / 1_000,
      ...(payment.hasFee && { fee: 1_000, fee_bearer: 'customer' }),
    },
  })

async function decide(id: string, outcome: 'post' | 'handled' | 'dismiss', paise: number) {
  await service.batch()
  if (!known.has(id)) return
  const posting = { external_loan_id: 'L-1', amount: paise / 100, paid_on: '05 February 2026' }
  return service.resolve(id, { outcome, note: 'decided', ...(outcome === 'post' && posting) })
}

/** Posts the payment of an event that cannot be read, as the documentation says. */
async function postUnreadable(id: string, { paise }: Payment) {
  await service.batch()
  const { rows } = await sql<{ id: string }>`
    select gateway_payment_id as id from ops.suspense
     where reason = 'unreadable' and hints ->> 'payment_id' = ${id} limit 1`.execute(service.db)
  const posting = { external_loan_id: 'L-1', amount: paise / 100, paid_on: '05 February 2026' }
  const resolution = { outcome: 'post', note: 'seen', ...posting }
  if (rows[0]) await service.resolve(rows[0].id, resolution, '', person)
}

/** The gateway's report, with a row whose id a spreadsheet has damaged. */
async function upload(id: string, payment: Payment) {
  const row = `,${payment.paise / 100},INR,captured,${paidAt(payment)},,,,,`
  const csv = [STATEMENT_HEADER, id + row, `${sent++}.0${row}`].join('\n')
  const { body } = await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
  uploads.push(body.statement_id)
}

/** While it fetches or runs a batch; the next one goes on. */
async function killWorker(death: Step['death']): Promise<void> {
  await worker.kill('SIGKILL')
  await expireLeases(service.db)
  const doomed = startProcessFor(t, 'worker', { ...workerEnv, LOANOPS_CRASH_AT: death })
  await service.call('POST', '/api/payments/batch')
  await requestFetch(service.call, 'gateway_a', WINDOW)
  await doomed.ended
  await expireLeases(service.db)
  worker = startProcessFor(t, 'worker', workerEnv)
}

async function act(id: string, payment: Payment, { what, death }: Step): Promise<unknown> {
  switch (what) {
    case 'kill':
      return killWorker(death)
    case 'webhook':
    case 'repeat':
      known.add(id)
      return send(captured(id, payment))
    case 'forged amount':
      return send(captured(id, payment, 700), false)
    case 'forged payment':
      return send(captured(`${id}_forged`, payment), false)
    case 'late capture':
      return atGateway(id, payment, 'captured')
    case 'refund':
      return send(refundA({ id: `rfnd_${id}`, of: id }))
    case 'batch':
      return service.batch()
    case 'fetch':
      return fetchAll(service.call, 'gateway_a', WINDOW)
    case 'spoil':
      return spoiled.add(id)
    case 'mend':
      return spoiled.delete(id)
    case 'post unreadable':
      return postUnreadable(id, payment)
    case 'upload':
      return isCaptured.has(id) && upload(id, payment)
    case 'withdraw':
      return service.call('DELETE', `/api/gateways/gateway_a/statements/${uploads.pop()}`)
    case 'check':
      return service.check(id)
    case 'undo':
      return service.undo(`gateway_a-${id}`)
    case 'assign':
      return service.assign(id, 'L-1')
    case 'post':
      return decide(id, 'post', payment.paise)
    case 'post less':
      return decide(id, 'post', payment.paise - 5_000)
    default:
      return decide(id, what, payment.paise)
  }
}

/** What the days say, once it was seen to be right. */
async function sound(after: string): Promise<any> {
  const before = await stated()
  const { body } = await service.call('GET', `/api/reconciliation?${QUERY}`)
  // Meanwhile a worker that goes on with a fetch may have kept more.
  if ((await stated()) !== before) return sound(after)
  for (const day of body.days) {
    const isRight =
      day.statement === 'partial' ? day.buckets.not_at_gateway.payments === 0 : offBy(day) === '0'
    if (!isRight) throw new Error(`after ${after}: ${JSON.stringify(day)}`)
  }
  const isKnown = body.days.length > 0 && body.totals.statement === 'complete'
  if (isKnown && body.totals.captured.amount !== before)
    throw new Error(`after ${after}: captured ${before}, shown ${body.totals.captured.amount}`)
  return body
}

/** What the gateway's statements say was captured. */
async function stated(): Promise<string | undefined> {
  const { rows } = await sql<{ captured: string }>`
    select coalesce(sum(amount), 0)::numeric(20, 2)::text as captured from core.current_statement
     where status <> 'failed'`.execute(service.db)
  return rows[0]?.captured
}

async function missing() {
  const ofDays = DAYS.map(day =>
    service.call('GET', `/api/reconciliation/payments?day=${day}&bucket=missing`),
  )
  return (await Promise.all(ofDays)).flatMap(({ body }) => body.payments)
}

t.test('each paisa of a day has one bucket; after fetch and read-back none is missing', async t => {
  let histories = 0
  await fetchAll(service.call, 'gateway_a', WINDOW)
  const end = performance.now() + ENOUGH_MS
  const property = fc.asyncProperty(payments, steps, async (all, more) => {
    if (histories > 0 && performance.now() > end) return
    const run = ++histories
    const ids = all.map((_, i) => `pay_${run}_${i}`)
    for (const [i, payment] of all.entries())
      await atGateway(ids[i] as string, payment, payment.isLate ? 'failed' : 'captured')
    for (const step of more) {
      const [id, payment] = [ids[step.of], all[step.of]]
      if (id === undefined || payment === undefined) continue
      await act(id, payment, step)
      await sound(step.what)
    }
    spoiled.clear()
    await fetchAll(service.call, 'gateway_a', WINDOW)
    await service.batch()
    for (const id of ids) await service.check(id)
    const { totals } = await sound('the end')
    if (totals.buckets.missing.payments > 0) throw new Error(JSON.stringify(await missing()))
  })
  await fc.assert(property, { numRuns: 30 })
  t.ok(histories > 0, `${histories} histories`)
})
