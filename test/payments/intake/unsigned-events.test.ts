import fc from 'fast-check'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import {
  capturedA,
  disputeA,
  eventA,
  PAID_AT,
  refundA,
  signedA,
} from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

/** No further history is begun after this time. */
const ENOUGH_MS = 8_000
const SECRET = 's3'
const HOUR_S = 3_600

/** The events of the payment `id` that the gateway sends and signs. */
const GENUINE = {
  captured: (id: string) => capturedA({ id, loan: `L-${id}` }),
  failed: (id: string) => failedOf(id, `L-${id}`),
  'refund created': (id: string) => refundOf(id, 'created'),
  refund: (id: string) => refundOf(id, 'processed'),
  'part refunded': (id: string) => refundOf(id, 'processed', 40_000),
  'refund failed': (id: string) => refundOf(id, 'failed'),
  dispute: (id: string) => disputeOf(id, 'created'),
  'dispute won': (id: string) => disputeOf(id, 'won'),
  'dispute lost': (id: string) => disputeOf(id, 'lost'),
}
/** What anybody may send of it: another lender's events need no signature, and neither do those that name no lender. */
const FORGED = {
  ...GENUINE,
  'failed without a loan': (id: string) => failedOf(id),
  'refund of a small part': (id: string) => refundOf(id, 'processed', 1),
  'refund of more': (id: string) => refundOf(id, 'processed', 900_000),
  'refund of another payment': (id: string) => refundOf(id, 'processed', 100_000, 'pay_other'),
  'another refund': (id: string) => refundOf(id, 'processed', 100_000, id, 'other_'),
  'another refund, failed': (id: string) => refundOf(id, 'failed', 100_000, id, 'other_'),
  'another dispute': (id: string) => disputeOf(id, 'created', 'other_'),
  'another dispute, lost': (id: string) => disputeOf(id, 'lost', 'other_'),
  'unknown event': (id: string) => ({ ...GENUINE.captured(id), event: 'moon.risen' }),
}
/** A capture that names another lender holds the payment: nobody can tell which one is true. */
const ONLY_WITHOUT_LENDER = ['captured', 'unknown event']

type Step = { what: keyof typeof FORGED; lender?: 'LENDER_02'; place: number }
const step: fc.Arbitrary<Step> = fc
  .record(
    {
      what: fc.constantFrom(...(Object.keys(FORGED) as (keyof typeof FORGED)[])),
      lender: fc.constant('LENDER_02' as const),
      place: fc.nat({ max: 9 }),
    },
    { requiredKeys: ['what', 'place'] },
  )
  .filter(({ what, lender }) => lender === undefined || !ONLY_WITHOUT_LENDER.includes(what))
const history = fc.record({
  genuine: fc
    .uniqueArray(fc.constantFrom(...(Object.keys(GENUINE) as (keyof typeof GENUINE)[])), {
      maxLength: 5,
    })
    .filter(all => all.includes('captured')),
  batchesAfter: fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
  forged: fc.array(step, { minLength: 1, maxLength: 6 }),
  isAutomatic: fc.boolean(),
})

t.test('no unsigned event changes what becomes of a payment whose events are signed', async t => {
  const service = await start(t)
  const end = performance.now() + ENOUGH_MS
  let histories = 0
  const property = fc.asyncProperty(
    history,
    async ({ genuine, batchesAfter, forged, isAutomatic }) => {
      if (performance.now() > end) return
      const run = ++histories
      const lender = isAutomatic ? 'LENDER_04' : 'LENDER_03'
      const [left, attacked] = [`pay_${run}a`, `pay_${run}b`]
      for (const id of [left, attacked])
        await service.loan(`L-${id}`, { product: isAutomatic ? 4 : 3 })
      for (let place = 0; place <= genuine.length; place++) {
        for (const { what, lender: named } of forged.filter(one => one.place === place))
          await service.forge(FORGED[what](attacked), named)
        const what = genuine[place]
        if (what !== undefined)
          for (const id of [left, attacked]) await service.sign(GENUINE[what](id), lender)
        if (batchesAfter.includes(place)) await service.batch()
      }
      await service.batch()
      await service.batch()
      const [expected, found] = [await service.fates(left), await service.fates(attacked)]
      if (expected !== found) throw new Error(`${found} instead of ${expected}`)
    },
  )
  await fc.assert(property, { numRuns: Number(process.env.FUZZ_CASES ?? 30) })
  t.ok(histories > 0, `${histories} histories`)
})

/** LENDER_03 and LENDER_04 sign their events, and LENDER_02 does not. */
async function start(t: Test) {
  const signing = { validateSignature: true, secretEnv: 'SECRET_03' }
  const LENDERS_FILE = lendersFile(t, {
    LENDER_03: { gateway_a: signing },
    LENDER_04: { gateway_a: { ...signing, reversals: 'automatic' } },
  })
  const service = await paymentService(t, { LENDERS_FILE, SECRET_03: SECRET })
  return {
    ...service,
    forge: (event: object, lender?: string) =>
      service.webhook('gateway_a', event, lender === undefined ? {} : { lender }),
    sign: (event: object, lender: string) => {
      const body = JSON.stringify(event)
      return service.webhook('gateway_a', body, { lender, headers: signedA(SECRET, body) })
    },
    /** The fates of the payment and of what was sent about it, once nothing is under way. */
    fates: (id: string) =>
      until(async () => {
        const { rows } = await sql<{ fate: string; isUnderWay: boolean }>`
          select concat_ws(' ', left(gateway_payment_id, 5), state, reason, objection, amount, external_loan_id = ${`L-${id}`},
                   returned_amount, verified, of_payment_id = ${id}) as fate,
                 state in ('waiting', 'posting') as "isUnderWay"
            from ops.payment
           where gateway_payment_id in (${id}, ${`rfnd_${id}`}, ${`disp_${id}`}) and verified is not false
           order by 1`.execute(service.db)
        const booked = (await service.repayments(`L-${id}`)).map(
          ({ amount, reversed }) => `${amount}${reversed ? ' undone' : ''}`,
        )
        return rows.some(one => one.isUnderWay)
          ? undefined
          : [...rows.map(one => one.fate), `booked ${booked}`].join('; ')
      }, `${id} ends`),
  }
}

function failedOf(id: string, loan?: string) {
  return eventA('payment.failed', { id, status: 'failed', ...(loan === undefined ? {} : { loan }) })
}

function refundOf(id: string, status: string, amount = 100_000, of = id, other = '') {
  const event = refundA({ id: `${other}rfnd_${id}`, of, status })
  const { refund } = event.payload as { refund: { entity: object } }
  return {
    ...event,
    payload: { refund: { entity: { ...refund.entity, amount } } },
    created_at: PAID_AT + HOUR_S,
  }
}

/** The event of a dispute without the payment that comes along, which would name another lender. */
function disputeOf(id: string, status: string, other = '') {
  const event = disputeA(status, { id }, `${other}disp_${id}`)
  const { payment, ...payload } = event.payload as Record<string, unknown>
  return { ...event, payload }
}
