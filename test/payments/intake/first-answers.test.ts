import { sql } from 'kysely'
import t from 'tap'
import { AMBIGUOUS, BEFORE, type FirstAnswer } from '../../support/engine/first-answers.ts'
import { startProxy } from '../../support/ledger/proxy.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

/** The amount of `capturedA`. */
const EVENTS_AMOUNT = 1_000

type Row = {
  state: string
  what: string
  fault: FirstAnswer
  /** What is booked under the payment's external id before it comes. */
  held?: { amount: number; isUndone: boolean }
  wanted: string
}

const rowsOf = (answers: Record<string, FirstAnswer>, row: Omit<Row, 'what' | 'fault'>): Row[] =>
  Object.entries(answers).map(([what, fault]) => ({ ...row, what, fault }))

const ROWS: Row[] = [
  ...rowsOf(
    Object.fromEntries(
      Object.entries(AMBIGUOUS).map(([what, fault]) => [what, { ...fault, afterwards: true }]),
    ),
    { state: 'the ledger did it', wanted: 'posted' },
  ),
  ...rowsOf(BEFORE, {
    state: 'another amount has its external id',
    held: { amount: EVENTS_AMOUNT - 1, isUndone: false },
    wanted: 'suspense ledger_refused',
  }),
  ...rowsOf(BEFORE, {
    state: 'an equal one has its external id, undone',
    held: { amount: EVENTS_AMOUNT, isUndone: true },
    wanted: 'suspense reversed_at_ledger',
  }),
]

t.test('a payment is posted exactly if the ledger holds it, whatever came back first', async t => {
  const proxy = await startProxy(t)
  const service = await paymentService(t, { LEDGER_URL: proxy.url, LEDGER_TIMEOUT_MS: '1000' })
  proxy.target = service.ledger.url
  const paymentId = (n: number) => `pay_${100 + n}`
  for (const [n, { fault, held }] of ROWS.entries()) {
    const loan = `L-${100 + n}`
    await service.loan(loan)
    if (held) await hold(service, loan, `gateway_a-${paymentId(n)}`, held)
    proxy.interferences.push({ of: loan, on: 'writes', times: 1, ...fault })
    const event = capturedA({ id: paymentId(n), loan })
    await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  }
  await service.batch()
  const ends = await until(() => allEnded(service), 'all payments end')
  for (const [n, { state, what, wanted }] of ROWS.entries())
    t.equal(ends.get(paymentId(n)), wanted, `${state}: ${what}`)
})

async function hold(
  { bookAt, undoAt }: PaymentService,
  loan: string,
  externalId: string,
  { amount, isUndone }: NonNullable<Row['held']>,
) {
  await bookAt(loan, amount, { externalId })
  if (isUndone) await undoAt(loan, externalId)
}

/** Lets no payment wait for its next try. @returns the state of each, once all have ended */
async function allEnded({ db }: PaymentService): Promise<Map<string, string> | undefined> {
  await sql`update loanops.operation set next_try_at = now() - interval '1 minute'
    where status = 'processing' and claimed_by is null`.execute(db)
  const { rows } = await sql<{ id: string; state: string }>`
    select gateway_payment_id as id, concat_ws(' ', state, reason) as state
     from ops.payment`.execute(db)
  if (rows.some(({ state }) => /^(waiting|posting)/.test(state))) return undefined
  return new Map(rows.map(({ id, state }) => [id, state]))
}
