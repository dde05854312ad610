import fc from 'fast-check'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { capturedA, disputeA, eventA, refundA, signedA } from '../support/gateway-events.ts'
import { lendersFile } from '../support/lenders-file.ts'
import { paymentService } from '../support/payments.ts'
import { until } from '../support/until.ts'

/** No further history is begun after this time. */
const ENOUGH_MS = 8_000
const OUTSIDE = '8.8.8.8'
const INSIDE = '10.1.2.3'

type Payment = {
  paise: number
  isCaptured: boolean
  namesLoan: boolean
  isSigned: boolean
  against: 'refund' | 'failed refund' | 'dispute' | 'won dispute' | undefined
}
const DECISIONS = ['post', 'handled', 'dismiss'] as const
const OTHERS = ['replay', 'repeat', 'assign', 'batch', ...DECISIONS] as const
/** A step is applied to the payment of this index, if there is one. */
type Step = { of: number; what: keyof typeof FORGED | (typeof OTHERS)[number] }

const name = (id: string, what: string) => `${what}_${id}`
const dispute = (id: string, status: string, facts: object) => {
  const event = disputeA(status, { id, ...facts })
  const { dispute: given } = event.payload as unknown as { dispute: { entity: object } }
  Object.assign(given.entity, { id: name(id, 'disp') })
  return event
}

/** What nobody but the gateway may say, of a payment that exists. */
const FORGED = {
  'forged amount': (id: string) => capturedA({ id, loan: 'L-2', amount: 7 }),
  'forged loan': (id: string) => eventA('order.paid', { id, loan: 'L-3', amount: 8 }),
  'forged capture': (id: string) => capturedA({ id, amount: 9 }),
  'forged refund': (id: string) => refundA({ id: name(id, 'rfnd'), of: id }),
  'forged end of a refund': (id: string) =>
    refundA({ id: name(id, 'rfnd'), of: id, status: 'failed' }),
  'forged dispute': (id: string) => dispute(id, 'created', { loan: 'L-2' }),
}

/** What the gateway says of it, in the order in which it happened. */
function genuine(id: string, payment: Payment): object[] {
  const { paise: amount, isCaptured, against } = payment
  const facts = { id, amount, ...(payment.namesLoan && { loan: 'L-2' }) }
  if (!isCaptured) return [eventA('payment.failed', { ...facts, status: 'failed' })]
  const refund = (status: string) => refundA({ id: name(id, 'rfnd'), of: id, status })
  const end = {
    refund: [refund('created'), refund('processed')],
    'failed refund': [refund('created'), refund('failed')],
    dispute: [dispute(id, 'created', facts)],
    'won dispute': [dispute(id, 'created', facts), dispute(id, 'won', facts)],
  }
  const failed = eventA('payment.failed', { ...facts, status: 'failed' })
  return [failed, capturedA(facts), eventA('order.paid', facts), ...(against ? end[against] : [])]
}

const payments: fc.Arbitrary<Payment[]> = fc.array(
  fc.record({
    paise: fc.integer({ min: 10_000, max: 90_000 }),
    isCaptured: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    namesLoan: fc.boolean(),
    isSigned: fc.boolean(),
    against: fc.constantFrom(
      undefined,
      undefined,
      'refund',
      'failed refund',
      'dispute',
      'won dispute',
    ),
  }),
  { minLength: 1, maxLength: 4 },
)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    of: fc.nat({ max: 3 }),
    what: fc.constantFrom(...(Object.keys(FORGED) as (keyof typeof FORGED)[]), ...OTHERS),
  }),
  { maxLength: 16 },
)

/** LENDER_02 and LENDER_03 take events from 10/8 only. */
async function start(t: Test) {
  const gateway_a = { allowedCidrs: ['10.0.0.0/8'], secretEnv: 'SECRET' }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a }, LENDER_03: { gateway_a } })
  const changes = { LENDERS_FILE, SECRET: 's', TRUST_PROXY: '127.0.0.1' }
  const service = await paymentService(t, changes)
  await service.loan('L-2', { product: 2 })
  await service.loan('L-3', { product: 3 })
  let sent = 0
  return {
    ...service,
    /** An operator decides once the money is known to be there. */
    async decide(id: string, outcome: (typeof DECISIONS)[number], paise: number) {
      await service.batch()
      const posting = { external_loan_id: 'L-2', amount: paise / 100, paid_on: '05 February 2026' }
      const body = { outcome, note: 'decided', ...(outcome === 'post' && posting) }
      return service.call('POST', `/api/payments/gateway_a/${id}/resolve`, body)
    },
    send(event: object, address: string, isSigned: boolean) {
      const body = JSON.stringify(event)
      const headers = {
        'x-forwarded-for': address,
        'x-gatewaya-event-id': `evt_${++sent}`,
        ...(isSigned && signedA('s', body)),
      }
      return service.webhook('gateway_a', body, { lender: 'LENDER_02', headers })
    },
  }
}
type Service = Awaited<ReturnType<typeof start>>

const isDecision = (what: string): what is (typeof DECISIONS)[number] =>
  DECISIONS.some(one => one === what)

/** Each genuine event and each step, in an order that `seed` decides. */
async function live(service: Service, ids: string[], all: Payment[], more: Step[], seed: number[]) {
  const known = new Set<string>()
  const act = async ({ of, what }: Step) => {
    const [id, payment] = [ids[of], all[of]]
    if (what === 'batch') return service.batch()
    if (id === undefined || payment === undefined) return
    const events = genuine(id, payment)
    if (what === 'assign') return service.assign(id, 'L-2')
    if (isDecision(what)) return known.has(id) ? service.decide(id, what, payment.paise) : undefined
    // Signed once, it is signed for whoever sends it again.
    if (what === 'replay') return service.send(events.at(-1) as object, OUTSIDE, payment.isSigned)
    if (what === 'repeat') return service.send(events[0] as object, INSIDE, payment.isSigned)
    return service.send(FORGED[what](id), OUTSIDE, false)
  }
  const actions = [
    ...more.map(step => () => act(step)),
    ...all.flatMap((payment, i) =>
      genuine(ids[i] as string, payment).map(event => async () => {
        await service.send(event, INSIDE, payment.isSigned)
        if ('event' in event && event.event === 'payment.captured') known.add(ids[i] as string)
      }),
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
      select from ops.payment where gateway_payment_id = any(${ids}::text[]) and state in ('waiting', 'posting')`.execute(
      service.db,
    )
    return rows.length === 0
  }, 'nothing is on its way')
  const { rows } = await sql<{ id: string; fate: string; paise: number }>`
    select gateway_payment_id as id, concat_ws(' ', state, nullif(reason, 'overpaid'), objection) as fate,
           case when state = 'failed' then 0 else (amount * 100)::integer end as paise
      from ops.payment where gateway_payment_id = any(${ids}::text[]) and kind = 'payment'`.execute(
    service.db,
  )
  return rows
}

/** The fates that a payment may have by its genuine events and the operators, who post it to the right loan only. */
function allowed({ isCaptured, namesLoan, against }: Payment, isDecided: boolean): string[] {
  if (!isCaptured) return ['failed']
  const kind = { refund: 'refund', dispute: 'chargeback' }[String(against)]
  const free = namesLoan ? ['posted'] : ['posted', 'suspense no_loan_named']
  // It may have been posted before the refund or dispute was known.
  const undecided = kind === undefined ? free : [`suspense ${kind}`, `posted ${kind}`]
  if (!isDecided) return undecided
  const decided = ['posted', 'handled', 'dismissed'].flatMap(state =>
    ['', ' refund', ' chargeback'].map(objection => state + objection),
  )
  return [...undecided, ...decided]
}

t.test(
  'whatever comes in whatever order, every paisa is kept once, and what is forged changes nothing',
  async t => {
    const service = await start(t)
    const end = performance.now() + ENOUGH_MS
    let histories = 0
    const order = fc.array(fc.nat(), { minLength: 40, maxLength: 40 })
    const property = fc.asyncProperty(payments, steps, order, async (all, more, seed) => {
      if (performance.now() > end) return
      const run = ++histories
      const ids = all.map((_, i) => `pay_${run}_${i}`)
      await live(service, ids, all, more, seed)
      const ended = await settled(service, ids)
      const booked = (await service.repayments()).filter(({ externalId }) =>
        ids.some(id => externalId === `gateway_a-${id}`),
      )
      const rupees = (paise: number) => (paise / 100).toFixed(2)
      for (const [i, payment] of all.entries()) {
        const fate = ended.find(({ id }) => id === ids[i])?.fate ?? 'missing'
        const isDecided = more.some(({ of, what }) => of === i && isDecision(what))
        if (!allowed(payment, isDecided).includes(fate)) throw new Error(`${ids[i]} is ${fate}`)
        const own = booked.filter(({ externalId }) => externalId === `gateway_a-${ids[i]}`)
        const expected = fate.startsWith('posted') ? [`L-2 ${rupees(payment.paise)}`] : []
        const found = own.map(({ loanExternalId, amount }) => `${loanExternalId} ${amount}`)
        if (`${found}` !== `${expected}`) throw new Error(`${ids[i]} is ${fate}: booked ${found}`)
      }
      const captured = all.reduce((sum, one) => sum + (one.isCaptured ? one.paise : 0), 0)
      const kept = ended.reduce((sum, one) => sum + one.paise, 0)
      if (kept !== captured) throw new Error(`captured ${captured}, kept ${kept}`)
    })
    await fc.assert(property, { numRuns: 30 })
    t.ok(histories > 0, `${histories} histories`)
  },
)
