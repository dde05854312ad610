import fc from 'fast-check'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { asPerson } from '../../support/accounts/as-person.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import {
  type AnyPayment,
  anyPayment,
  bodyOf,
  EVENTS,
  FEE_PAISE,
  FORGERIES,
  namesLoan,
} from '../../support/payments/any-payment.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

/** No further history is begun after this time. */
const ENOUGH_MS = 8_000
const OUTSIDE = '8.8.8.8'
const INSIDE = '10.1.2.3'
const SAYS_CAPTURED = /"status":"captured"|PAYMENT_SUCCESS/

const DECISIONS = ['post', 'handled', 'dismiss'] as const
const OTHERS = [
  'replay',
  'repeat',
  'assign',
  'batch',
  'unreadable',
  'post unreadable',
  'post nameless',
  'worthless',
  ...DECISIONS,
] as const
/** A step is applied to the payment of this index, if there is one. */
type Step = { of: number; what: (typeof FORGERIES)[number] | (typeof OTHERS)[number] }
/** One of them, and what the operators did besides. */
type Known = AnyPayment & {
  id: string
  isKnown: boolean
  isPostedUnread: boolean
  isPostedNameless: boolean
}
/** What operators posted from events without an id: a payment of such an amount is held, whosever it is. */
const postedNameless = new Set<number>()

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ of: fc.nat({ max: 3 }), what: fc.constantFrom(...FORGERIES, ...OTHERS) }),
  { maxLength: 16 },
)

/** LENDER_02 and LENDER_03 take events from 10/8 only. */
async function start(t: Test) {
  const own = { allowedCidrs: ['10.0.0.0/8'], secretEnv: 'SECRET' }
  const gateways = { gateway_a: own, gateway_b: own }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: gateways, LENDER_03: gateways })
  const changes = { LENDERS_FILE, SECRET: 's', TRUST_PROXY: '127.0.0.1' }
  const service = await paymentService(t, changes)
  await service.loan('L-2', { product: 2 })
  await service.loan('L-3', { product: 3 })
  let sent = 0
  const person = await asPerson(service)
  const post = (path: string, body: object) =>
    service.call('POST', `/api/payments/${path}`, body, person)
  const posting = ({ paise }: AnyPayment) => ({
    external_loan_id: 'L-2',
    amount: paise / 100,
    paid_on: '05 February 2026',
  })
  return {
    ...service,
    post,
    /** An operator decides once the money is known to be there. */
    async decide(payment: Known, outcome: (typeof DECISIONS)[number]) {
      await service.batch()
      const body = { outcome, note: 'decided', ...(outcome === 'post' && posting(payment)) }
      return post(`${payment.gateway}/${payment.id}/resolve`, body)
    },
    /**
     * Posts the payment of an event that cannot be read, as the documentation says. @param hint names the payment in it
     */
    async postUnread(payment: Known, hint: 'payment_id' | 'order_id') {
      await service.batch()
      const { rows } = await sql<{ id: string }>`
        select gateway_payment_id as id from ops.suspense
         where reason = 'unreadable' and hints ->> ${hint} = ${payment.id}
          limit 1`.execute(service.db)
      if (rows[0] === undefined) return false
      const body = { outcome: 'post', note: 'seen at the gateway', ...posting(payment) }
      return (await post(`${payment.gateway}/${rows[0].id}/resolve`, body)).status === 200
    },
    send(payment: Known, event: object, address: string, isSigned: boolean) {
      const { gateway, noise } = payment
      const { signed, eventIdHeader } = EVENTS[gateway]
      if (address === INSIDE && SAYS_CAPTURED.test(JSON.stringify(event))) payment.isKnown = true
      const body = bodyOf(event, noise)
      const headers = {
        'x-forwarded-for': address,
        [eventIdHeader]: `evt_${++sent}`,
        ...(isSigned && signed(body)),
      }
      return service.webhook(gateway, body, { lender: 'LENDER_02', headers })
    },
  }
}
type Service = Awaited<ReturnType<typeof start>>

const isOneOf = <T extends string>(list: readonly T[], what: string): what is T =>
  list.some(one => one === what)

/** Each genuine event and each step, in an order that `seed` decides. */
async function live(service: Service, all: Known[], more: Step[], seed: number[]) {
  const act = async ({ of, what }: Step) => {
    const payment = all[of]
    if (what === 'batch') return service.batch()
    if (payment === undefined) return
    const { id, gateway, isSigned } = payment
    const { genuine, unreadable, nameless, worthless, forged } = EVENTS[gateway]
    const events = genuine(id, payment)
    const send = (event: object) => service.send(payment, event, INSIDE, isSigned)
    if (what === 'assign') return service.assign(id, 'L-2', gateway)
    if (isOneOf(DECISIONS, what)) return payment.isKnown && service.decide(payment, what)
    if (what === 'post unreadable') {
      payment.isPostedUnread =
        (await service.postUnread(payment, 'payment_id')) || payment.isPostedUnread
      return
    }
    if (what === 'post nameless') {
      // Only what comes later is compared with it.
      if (payment.isKnown || payment.isPostedNameless) return
      await service.send({ ...payment }, nameless(id, payment), INSIDE, isSigned)
      payment.isPostedNameless = await service.postUnread(payment, 'order_id')
      if (payment.isPostedNameless) postedNameless.add(payment.paise)
      return
    }
    // It makes no amount known that an operator could decide about.
    if (what === 'unreadable') return service.send({ ...payment }, unreadable(id), INSIDE, isSigned)
    if (what === 'worthless') for (const event of worthless(id)) await send(event)
    if (what === 'repeat') return send(events[0] as object)
    // Signed once, it is signed for whoever sends it again.
    if (what === 'replay') return service.send(payment, events.at(-1) as object, OUTSIDE, isSigned)
    const event = isOneOf(FORGERIES, what) && forged(id, what)
    return event && service.send(payment, event, OUTSIDE, false)
  }
  const actions = [
    ...more.map(step => () => act(step)),
    ...all.flatMap(payment =>
      EVENTS[payment.gateway]
        .genuine(payment.id, payment)
        .map(event => () => service.send(payment, event, INSIDE, payment.isSigned)),
    ),
  ]
  const order = new Map(actions.map((action, i) => [action, seed[i % seed.length] as number]))
  for (const action of actions.toSorted((a, b) => Number(order.get(a)) - Number(order.get(b))))
    await action()
  await service.batch()
}

/** What became of them, once nothing is on its way. */
async function settled(service: Service, ids: string[]) {
  await until(async () => {
    const { rows } = await sql`
      select from ops.payment
       where gateway_payment_id = any(${ids}::text[])
         and state in ('waiting', 'posting')`.execute(service.db)
    return rows.length === 0
  }, 'nothing is on its way')
  const { rows } = await sql<{ id: string; fate: string; paise: number }>`
    select gateway_payment_id as id, concat_ws(' ', state, nullif(reason, 'overpaid'), objection) as fate,
           case when state = 'failed' then 0 else (amount * 100)::integer end as paise
      from ops.payment
       where gateway_payment_id = any(${ids}::text[]) and kind = 'payment'`.execute(service.db)
  return rows
}

/** The fates that a payment may have by its genuine events and the operators, who post it to the right loan only. */
function allowed(payment: Known, isDecided: boolean): string[] {
  const { isCaptured, against, fee, isPostedUnread, isPostedNameless } = payment
  if (!isCaptured) return ['failed']
  const kind = { refund: 'refund', dispute: 'chargeback' }[String(against)]
  const free = ['posted', ...(namesLoan(payment) ? [] : ['suspense no_loan_named'])]
  if (fee === 'differs') free.push('suspense awaiting_review')
  // It may have been posted before the refund or dispute was known.
  const readable = kind === undefined ? free : [`suspense ${kind}`, `posted ${kind}`]
  const undecided = isPostedNameless ? (kind === undefined ? [] : [`suspense ${kind}`]) : readable
  if (postedNameless.has(payment.paise)) undecided.push('suspense events_disagree')
  if (isPostedUnread) undecided.push('suspense events_disagree', 'suspense ledger_refused')
  if (!isDecided) return undecided
  const decided = ['posted', 'handled', 'dismissed'].flatMap(state =>
    ['', ' refund', ' chargeback'].map(objection => state + objection),
  )
  // What was booked by hand because of a refund or dispute objects once that comes to nothing.
  if (against === 'failed refund' || against === 'won dispute')
    decided.push('handled events_disagree')
  // What was dismissed before its loan was known objects once an event names the loan.
  return [...undecided, ...decided, 'dismissed events_disagree']
}

/** What may be booked for it once it has this fate. */
function bookings({ paise, fee, isPostedUnread }: Known, fate: string, isDecided: boolean) {
  if (!isPostedUnread && !fate.startsWith('posted')) return [[]]
  const isWhole = fee === 'none' || fee === 'differs' || isDecided || isPostedUnread
  const amounts = [...(fee === 'none' ? [] : [paise - FEE_PAISE]), ...(isWhole ? [paise] : [])]
  return amounts.map(amount => [`L-2 ${(amount / 100).toFixed(2)}`])
}

t.test('in any order of events, each paisa is kept once; forged events change nothing', async t => {
  const service = await start(t)
  const end = performance.now() + ENOUGH_MS
  let histories = 0
  const order = fc.array(fc.nat(), { minLength: 40, maxLength: 40 })
  const several = fc.array(anyPayment, { minLength: 1, maxLength: 4 })
  const property = fc.asyncProperty(several, steps, order, async (drawn, more, seed) => {
    if (performance.now() > end) return
    const run = ++histories
    const all = drawn.map((one, i) => {
      const id = `pay_${run}_${i}`
      return { ...one, id, isKnown: false, isPostedUnread: false, isPostedNameless: false }
    })
    await live(service, all, more, seed)
    const ids = all.map(({ id }) => id)
    const ended = await settled(service, [...ids, ...ids.map(id => `token_${id}`)])
    const booked = await service.repayments()
    for (const [i, payment] of all.entries()) {
      const { id, gateway } = payment
      const fate = ended.find(one => one.id === id)?.fate ?? 'missing'
      const own = more.filter(({ of }) => of === i).map(({ what }) => what)
      const isDecided = own.some(what => isOneOf(DECISIONS, what))
      // Whoever assigned a forgery has not seen the genuine amount.
      const isForgeryAssigned = own.includes('assign') && own.includes('forged capture')
      const fates = [
        ...allowed(payment, isDecided),
        ...(isForgeryAssigned ? ['suspense events_disagree'] : []),
      ]
      if (!fates.includes(fate)) throw new Error(`${id} is ${fate}`)
      const found = booked
        .filter(({ externalId }) => externalId?.startsWith(`${gateway}-${id}`))
        .map(({ loanExternalId, amount }) => `${loanExternalId} ${amount}`)
      if (!bookings(payment, fate, isDecided).some(one => `${one}` === `${found}`))
        throw new Error(`${id} is ${fate}: booked ${found}`)
    }
    const captured = all.reduce((sum, one) => sum + (one.isCaptured ? one.paise : 0), 0)
    const kept = ended.reduce((sum, one) => sum + one.paise, 0)
    if (kept !== captured) throw new Error(`captured ${captured}, kept ${kept}`)
  })
  await fc.assert(property, { numRuns: 30 })
  t.ok(histories > 0, `${histories} histories`)
})
