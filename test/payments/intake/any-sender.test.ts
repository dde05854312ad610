import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { lendersFrom } from '../../../src/config/lenders.ts'
import type { Database } from '../../../src/database/database.ts'
import { copyConfirmation } from '../../../src/payments/intake/event-job.ts'
import { proofsOf } from '../../../src/payments/proofs.ts'
import { duePayment } from '../../../src/payments/repayment/due-payment.ts'
import { checkTrust } from '../../../src/payments/repayment/trust.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

/** The second and the third share a product, and so their settings, but not their accounts. */
const LENDERS = [
  { code: 'LENDER_01', product: 'Own' },
  { code: 'LENDER_02', product: 'Shared' },
  { code: 'LENDER_03', product: 'Shared' },
] as const
const CODES = LENDERS.map(({ code }) => code)
const GATEWAYS = [{ name: 'gateway_a' as const, secrets: [] }]
const ENV = { secretsIn: (name: string) => [name], valueIn: (name: string) => name }

const settings = fc.record({
  secretEnv: fc.constantFrom('SECRET', 'OTHER_SECRET'),
  validateSignature: fc.boolean(),
  confirm: fc.boolean(),
  reversals: fc.constantFrom('automatic', 'manual'),
})
const file = fc
  .record({ of: fc.record({ Own: settings, Shared: settings }), withApi: fc.subarray(CODES) })
  .map(({ of, withApi }) => ({
    of,
    lenders: Object.fromEntries(
      LENDERS.map(({ code, product }) => {
        const api = withApi.includes(code) ? { apiKeyEnv: 'KEY', apiSecretEnv: 'API_SECRET' } : {}
        return [code, { product, gateway_a: { ...of[product], ...api } }]
      }),
    ),
  }))
const sender = fc.record({
  lender: fc.constantFrom('UNKNOWN', ...CODES),
  verified_by: fc.oneof(
    fc.constantFrom(null, 'gateway_api'),
    fc.subarray(CODES, { minLength: 1 }).map(codes => codes.join(',')),
  ),
})

t.test('an event is proved to a batch, a posting and a refund alike', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.loan_product (external_loan_id, product)
     values ('Own', 'Own'), ('Shared', 'Shared')`.execute(db)
  const property = fc.asyncProperty(
    file,
    sender,
    fc.constantFrom('Own' as const, 'Shared' as const),
    async ({ of, lenders }, from, product) => {
      const config = { gateways: GATEWAYS, lenders: lendersFrom(lenders, GATEWAYS, ENV) } as any
      await copyConfirmation(db, config)
      const { id, isUnproved, isRefundProved } = await received(db, from, product)
      const proofs = proofsOf(config).filter(one => one.product === product)
      const due = await duePayment(db, id, 'UTC', { product, proofs })
      const trust = checkTrust(config, due, product)
      const reason = 'reason' in trust ? trust.reason : 'none'
      // Of lenders that share a product, batches ask the first one's account, where a posting accepts any one's.
      if (isUnproved ? product === 'Own' && reason !== 'unconfirmed' : reason === 'unconfirmed')
        throw new Error(`unproved ${isUnproved}, but ${reason}`)
      const { validateSignature, confirm, reversals } = of[product]
      const isBooked = reversals === 'automatic' && reason === 'none'
      if (!isUnproved && (validateSignature || confirm) && isRefundProved !== isBooked)
        throw new Error(`refund ${isRefundProved}, but ${reason}`)
    },
  )
  await t.resolves(fc.assert(property, { numRuns: Number(process.env.FUZZ_CASES ?? 100) }))
})

let payments = 0

/** A payment and its refund from the same sender. */
async function received(db: Database, from: object, product: string) {
  const payment = `pay_${++payments}`
  await sql`
    insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, of_payment_id, status, amount, currency, paid_at,
      external_loan_id, lender, verified_by, received_at)
    select 'any', gen_random_uuid(), 'gateway_a', e.kind, e.id, e.of, e.status, 1000, 'INR', now(), ${product}, s.lender, s.verified_by, now()
      from (values ('payment', ${payment}, null, 'captured'), ('refund', ${`r${payment}`}, ${payment}, 'done')) e (kind, id, of, status)
     cross join jsonb_to_record(${JSON.stringify(from)}::jsonb) s (lender text, verified_by text)`.execute(
    db,
  )
  await sql`select core.settle('gateway_a', array[${payment}], has_news => true)`.execute(db)
  const { rows } = await sql<{ id: string; isUnproved: boolean; isRefundProved: boolean }>`
    select p.id, e.is_unproved as "isUnproved", core.is_proved_for(r, ${product}) as "isRefundProved"
      from core.transaction p
      join core.event e using (gateway_payment_id)
      join core.transaction r on r.of_payment_id = p.gateway_payment_id
     where p.gateway_payment_id = ${payment}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('nothing was settled')
  return row
}
