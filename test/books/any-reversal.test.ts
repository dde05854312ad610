import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { REVERSAL_CRASH_POINTS } from '../../src/payments/payment-signals.ts'
import { fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { withReadback } from '../support/books/readback.ts'
import { ALL_DAY, offBy, reconciliation } from '../support/books/reconciliation.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { DATES } from '../support/ledger/ledger-driver.ts'
import { paymentService } from '../support/payments/payments.ts'
import { AUTOMATIC, dispute, MANUAL, refund, withSigned } from '../support/payments/reversals.ts'
import { startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** After this time, no further histories are begun. */
const ENOUGH_MS = Number(process.env.ENOUGH_MS ?? 4_000)
/** Histories run at the same time: they share each batch, each death of a worker, and each look at the books. */
const HISTORIES = 25
const MOST_PAYMENTS = 2
const LENDERS = [2, 3] as const
/** Each lender has several loans, because the ledger works on one payment of a loan at a time. */
const LOANS = 8
const PHASES = ['chargeback', 'pre_arbitration', 'arbitration']
const TAKES = ['refund', 'refund', 'forged refund', 'dispute', 'lost', 'lost', 'reverse'] as const
const GIVES_BACK = ['failed refund', 'won', 'restore'] as const
const DECIDES = ['dismiss', 'handled', 'post less', 'undo', 'check'] as const
/** The first steps mostly take; the later ones mostly give back, because there is something to give back. */
const FIRST_STEPS = [...TAKES, ...TAKES, ...GIVES_BACK, ...DECIDES] as const
const LATER_STEPS = [...TAKES, ...GIVES_BACK, ...GIVES_BACK, ...GIVES_BACK, ...DECIDES] as const
const ENDS = ['batch', 'batch', 'batch', 'nothing', 'nothing', 'kill'] as const
/** Where a worker dies, if it passes there. */
const DEATHS = [
  ...REVERSAL_CRASH_POINTS,
  'remember.committed',
  'finish.committed',
  'posting.recorded',
  'batch.claimed',
] as const

type Payment = { paise: number; lender: (typeof LENDERS)[number]; loan: number }
const loanOf = ({ lender, loan }: Omit<Payment, 'paise'>) => `L-${lender}-${loan}`
type Step = {
  of: number
  what: (typeof FIRST_STEPS)[number]
  part: number
  phase: number
  which: number
}
/** The next steps of each history, and what happens meanwhile. */
type Round = { steps: Step[][]; end: (typeof ENDS)[number]; death: (typeof DEATHS)[number] }
const payments: fc.Arbitrary<Payment[]> = fc.array(
  fc.record({
    paise: fc.integer({ min: 20_000, max: 90_000 }),
    lender: fc.constantFrom(...LENDERS),
    loan: fc.nat({ max: LOANS - 1 }),
  }),
  { minLength: 1, maxLength: MOST_PAYMENTS },
)
const stepOf = (what: readonly Step['what'][]): fc.Arbitrary<Step> =>
  fc.record({
    what: fc.constantFrom(...what),
    of: fc.nat({ max: MOST_PAYMENTS - 1 }),
    // A part is in hundredths of the payment.
    part: fc.constantFrom(7, 13, 25, 25, 50, 100),
    phase: fc.nat({ max: PHASES.length - 1 }),
    which: fc.nat({ max: 5 }),
  })
const ofEach = <T>(one: fc.Arbitrary<T>) =>
  fc.array(one, { minLength: HISTORIES, maxLength: HISTORIES })
const roundOf = (what: readonly Step['what'][]): fc.Arbitrary<Round> =>
  fc.record({
    steps: ofEach(fc.array(stepOf(what), { maxLength: 4 })),
    end: fc.constantFrom(...ENDS),
    death: fc.constantFrom(...DEATHS),
  })
const firstRounds = fc.array(roundOf(FIRST_STEPS), { minLength: 3, maxLength: 5 })
const laterRounds = fc.array(roundOf(LATER_STEPS), { minLength: 2, maxLength: 4 })
const RESTORE_EACH = Array.from(
  { length: MOST_PAYMENTS },
  (_, of): Step => ({ what: 'restore', of, part: 0, phase: 0, which: 0 }),
)

const gateways = await gatewaySandbox(t)
const settings = {
  ...gateways.settings,
  LENDERS_FILE: lendersFile(t, {
    LENDER_02: { gateway_a: AUTOMATIC },
    LENDER_03: { gateway_a: MANUAL },
  }),
  S: 'secret',
}
const service = withSigned(withReadback(await paymentService(t, { ...settings, ROLE: 'api' })))
for (const lender of LENDERS)
  for (let loan = 0; loan < LOANS; loan++)
    await service.loan(loanOf({ lender, loan }), { product: lender })
const workerEnv = testEnv(service.databaseUrl, service.ledger.url, settings)
let worker = startProcessFor(t, 'worker', workerEnv)
let sent = 0
/** What went back, or is said to, by payment. */
const against = new Map<string, string[]>()
/** The amounts of the refunds, in paise. */
const refunded = new Map<string, number>()

async function actOn(id: string, payment: Payment, step: Step): Promise<unknown> {
  const { paise, lender } = payment
  const loan = loanOf(payment)
  const { what, part, phase, which } = step
  const known = against.get(id) ?? []
  const amount = Math.max(1, Math.floor((paise * part) / 100))
  const target = known[which % Math.max(1, known.length)]
  const from = { lender: `LENDER_0${lender}` }
  switch (what) {
    case 'refund':
    case 'forged refund': {
      const event = refund({ id: `rfnd_${++sent}`, of: id, paise: amount })
      against.set(id, [...known, `rfnd_${sent}`])
      refunded.set(`rfnd_${sent}`, amount)
      return what === 'refund'
        ? service.signed(event, {}, from.lender)
        : service.webhook('gateway_a', event, from)
    }
    case 'failed refund':
      return target && refunded.has(target) && failRefund(target, id)
    case 'dispute':
    case 'lost':
    case 'won': {
      const name = { dispute: 'created', lost: 'lost', won: 'won' }[what]
      const disp = `disp_${id}`
      if (!known.includes(disp)) against.set(id, [...known, disp])
      const event = dispute(name, {
        id: disp,
        of: id,
        // With other amounts, its events would disagree.
        paise: Math.floor(paise / 4),
        phase: PHASES[what === 'won' ? PHASES.length - 1 : phase] ?? '',
        loan,
      })
      // Its payment's part would be of another amount.
      delete event.payload.payment
      return service.signed(event, {}, from.lender)
    }
    case 'dismiss':
    case 'handled':
      return target && service.decide(target, what)
    case 'reverse':
    case 'restore':
      for (const one of known) await service.decide(one, what)
      return
    case 'post less': {
      const posting = { external_loan_id: loan, amount: amount / 100, paid_on: '05 February 2026' }
      return service.resolve(id, { outcome: 'post', note: 'decided', ...posting })
    }
    case 'undo': {
      const standing = (await service.repayments()).find(
        one => !one.reversed && isOf(one.externalId, id),
      )
      return (
        standing &&
        service.ledgerCall(
          'POST',
          `/loans/external-id/${loan}/transactions/external-id/${standing.externalId}`,
          { transactionDate: '2026-02-05', transactionAmount: 0, ...DATES },
        )
      )
    }
    case 'check':
      return service.check(id)
  }
}

/** Once it was said to be made. Only a fetch of the gateway's own books can tell. */
function failRefund(id: string, paymentId: string) {
  const facts = { gateway: 'gateway_a', id, paymentId, amount: refunded.get(id) }
  return gateways.put('/refunds', { ...facts, status: 'failed', created_at: PAID_AT })
}

const isOf = (externalId: string | null, id: string) =>
  externalId?.replace(/-r\d+$/, '') === `gateway_a-${id}`

type Act = (history: number, step: Step) => Promise<unknown> | undefined

async function happen({ steps, end, death }: Round, act: Act): Promise<void> {
  const acts = steps.map(async (some, history) => {
    for (const step of some) await act(history, step)
  })
  if (end === 'batch') await service.batch()
  if (end === 'kill') await killWorker(death)
  await Promise.all(acts)
  const told = steps.flat().map(({ what }) => what)
  if (told.includes('failed refund')) await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await sound(told.join())
}

async function killWorker(death: string): Promise<void> {
  await worker.kill('SIGKILL')
  await expireLeases(service.db)
  const doomed = startProcessFor(t, 'worker', { ...workerEnv, LOANOPS_CRASH_AT: death })
  await Promise.race([doomed.ended, service.batch()])
  await doomed.kill('SIGKILL')
  await expireLeases(service.db)
  worker = startProcessFor(t, 'worker', workerEnv)
}

/** The figures of the day, once they were seen to add up. */
async function sound(after: string): Promise<any> {
  const body = await reconciliation(service.call)
  for (const day of body.days)
    if (offBy(day) !== '0') throw new Error(`after ${after}: ${JSON.stringify(day)}`)
  return body
}

/** Waits until what is due has ended. */
async function comeToRest(): Promise<void> {
  const resting = () =>
    until(async () => {
      const { rows } =
        await sql`select from core.transaction where state = 'posting' limit 1`.execute(service.db)
      return rows.length === 0 || undefined
    }, 'nothing is under way')
  await resting()
  // What came too late for a posting is looked at by the next one.
  for (let i = 0; i < 2; i++) await service.batch()
  await resting()
  await service.readBack()
}

async function postedHere(): Promise<Record<string, string>> {
  const { rows } = await sql<{ loan: string; amount: string }>`
    select external_loan_id as loan, sum(core.posted_amount(t))::numeric(20, 2)::text as amount from core.transaction t
     where kind = 'payment' and state = 'posted' group by 1 order by 1`.execute(service.db)
  return Object.fromEntries(rows.map(({ loan, amount }) => [loan, amount]))
}

async function heldThere(): Promise<Record<string, string>> {
  const held = (await service.repayments()).filter(one => !one.reversed)
  const sums = [...Map.groupBy(held, one => one.loanExternalId ?? '')].map(
    ([loan, of]) => [loan, Decimal.sum(...of.map(({ amount }) => amount)).toFixed(2)] as const,
  )
  return Object.fromEntries(sums.sort(([one], [other]) => (one < other ? -1 : 1)))
}

t.test(
  'after any reversals, each paisa is in one bucket, and the ledger holds the posted ones',
  async t => {
    let histories = 0
    await fetchAll(service.call, 'gateway_a', ALL_DAY)
    const end = performance.now() + ENOUGH_MS
    const property = fc.asyncProperty(
      ofEach(payments),
      firstRounds,
      laterRounds,
      async (all, first, later) => {
        if (histories > 0 && performance.now() > end) return
        const run = histories
        histories += HISTORIES
        const idOf = (history: number, of: number) => `pay_${run + history}_${of}`
        await Promise.all(
          all.flatMap((payments, history) =>
            payments.map((payment, of) => capture(idOf(history, of), payment)),
          ),
        )
        await fetchAll(service.call, 'gateway_a', ALL_DAY)
        await service.batch()
        const act = (history: number, step: Step) => {
          const payment = all[history]?.[step.of]
          return payment && actOn(idOf(history, step.of), payment, step)
        }
        for (const round of [...first, ...later]) await happen(round, act)
        await comeToRest()
        // Now it is known what was taken back.
        await happen({ ...(later[0] as Round), steps: all.map(() => RESTORE_EACH) }, act)
        await comeToRest()
        await agree()
      },
    )
    await fc.assert(property, { numRuns: 200 })
    t.ok(histories >= HISTORIES, `${histories} histories`)
    t.comment(await reversals())
  },
)

/** How many reversals there were, how many of them failed, and how many posted a part again beside what stood. */
async function reversals() {
  const { rows } = await sql`
    select count(*) filter (where (data #>> '{remainder,amount}')::numeric > (data #>> '{repayment,amount}')::numeric) as beside,
           count(*) as all, count(*) filter (where status = 'failed') as failed
      from loanops.operation where operation_type = 'REPAYMENT_REVERSAL'`.execute(service.db)
  return rows[0]
}

function capture(id: string, payment: Payment) {
  const { paise, lender } = payment
  return gateways.put('/payments', {
    gateway: 'gateway_a',
    id,
    amount: paise,
    created_at: PAID_AT,
    notes: { lender: `LENDER_0${lender}`, loan_id: loanOf(payment) },
  })
}

/** What is posted here, what the ledger holds, and what the books show are the same. */
async function agree(): Promise<void> {
  const { totals } = await sound('the end')
  const [here, there] = [await postedHere(), await heldThere()]
  if (JSON.stringify(here) !== JSON.stringify(there))
    throw new Error(`posted ${JSON.stringify(here)}, at the ledger ${JSON.stringify(there)}`)
  const stands = Decimal.sum(0, ...Object.values(there)).toFixed(2)
  const { posted, unchecked } = totals.buckets
  const shown = Decimal.sum(posted.amount, unchecked.amount).toFixed(2)
  if (shown !== stands) throw new Error(`shown ${shown}, at the ledger ${stands}`)
}
