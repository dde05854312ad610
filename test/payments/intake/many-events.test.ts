import { type RawBuilder, sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { findEvents } from '../../../src/payments/reading/find-events.ts'
import { duePayment } from '../../../src/payments/repayment/due-payment.ts'
import { buffersOf } from '../../support/database/buffers.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { capturedA, eventA, refundA } from '../../support/payments/gateway-events.ts'

const SOURCE = 'lender_02_gateway_a'
const INSIDE = '10.1.2.3'
const OUTSIDE = '8.8.8.8'
const MANY = 40_000
/** More than are read when a payment is settled. */
const TOO_MANY = 1_500
const NETWORK = { lender: 'LENDER_02', product: 'LENDER_02', gateway: 'gateway_a' }

/** A source of LENDER_02 without a service: rows are put into its raw table and transformed. */
async function withSource(t: Test) {
  const database = await freshDatabase(t)
  const { db } = database
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register(${SOURCE})`.execute(db)
  return {
    ...database,
    /** The events that `vary`, a piece of SQL, makes of the n-th body, its address and whether it is verified. */
    async receive(
      event: object,
      { times = 1, vary = 'body', address = `'${INSIDE}'`, verified = false } = {},
    ) {
      await sql`
        insert into raw.lender_02_gateway_a (event_id, body, address, verified_by)
        select gen_random_uuid()::text, convert_to(${sql.raw(vary)}::text, 'UTF8'), (${sql.raw(address)})::inet,
               ${verified ? 'LENDER_02' : null}
          from generate_series(1, ${times}::integer) n, (select ${JSON.stringify(event)}::text as body) given`.execute(
        db,
      )
    },
    transform: () => transformAll(db),
    allow: (network: string) =>
      sql`
        select core.copy_networks(${JSON.stringify([{ ...NETWORK, network }])}::jsonb)`.execute(db),
    async fate(id: string) {
      const { rows } = await sql<{ fate: string }>`
        select concat_ws(' ', state, reason, trim_scale(amount)) as fate from core.transaction
         where gateway_payment_id = ${id}`.execute(db)
      return rows[0]?.fate
    },
  }
}

async function transformAll(db: Database): Promise<void> {
  const { rows } = await sql<{ taken: string }>`
    select taken from core.transform(${SOURCE}, 5000)`.execute(db)
  if (rows[0]?.taken !== '0') await transformAll(db)
}

const varied = (path: string) =>
  `jsonb_set(body::jsonb, '{payload,payment,entity,${path}}', to_jsonb(100000 + n))`
const manyAddresses = `'2001:db8::' || to_hex(n)`

t.test(
  '40,000 equal events of a payment make its next one, its answer and its posting no dearer',
  async t => {
    const { ownerUrl, db, receive, transform, allow } = await withSource(t)
    await allow('10.0.0.0/8')
    const pages = async (id: string, times: number) => {
      const event = capturedA({ id, loan: 'L-1' })
      await receive(event, { times })
      await transform()
      await receive(event)
      const next = await buffersOf(ownerUrl, db => transformAll(db))
      await transform()
      const key = { gateway: 'gateway_a', gateway_payment_id: id, kind: 'payment' }
      const answer = await buffersOf(ownerUrl, db => findEvents(db, key, { withBodies: false }))
      const { rows } = await sql<{ id: string }>`
      select id from core.transaction where gateway_payment_id = ${id}`.execute(db)
      const posting = await buffersOf(ownerUrl, db =>
        duePayment(db, rows[0]?.id as string, 'Asia/Kolkata'),
      )
      return [next, answer, posting].map(touched =>
        touched.reduce((sum, one) => sum + one.buffers, 0),
      )
    }
    const afterTen = await pages('pay_ten', 10)
    const afterMany = await pages('pay_many', MANY)
    t.comment({ afterTen, afterMany })
    for (const [i, what] of ['the next event', 'the answer', 'the posting'].entries())
      t.ok((afterMany[i] as number) <= 2 * (afterTen[i] as number) + 100, what)
  },
)

for (const [what, event] of [
  ['of a refund that failed', refundA({ status: 'failed' })],
  ['of an unknown type', eventA('payment.unheard_of', { loan: 'L-1', status: 'settled' })],
] as const)
  t.test(`equal events ${what} are read once`, async t => {
    const { db, receive, transform } = await withSource(t)
    await receive(capturedA({ loan: 'L-1' }))
    await receive(event, { times: TOO_MANY })
    await transform()
    const { rows } = await sql`
      select count(*) from core.event where set_aside is null`.execute(db)
    t.same(rows, [{ count: '2' }])
  })

t.test('however many different events a stranger sends, the next one costs no more', async t => {
  const { ownerUrl, receive, transform } = await withSource(t)
  const event = capturedA({ loan: 'L-1' })
  const next = async (address: string) => {
    await receive(event, { times: 2 * TOO_MANY, vary: varied('created_at'), address })
    await transform()
    await receive(event)
    const touched = await buffersOf(ownerUrl, db => transformAll(db))
    return touched.reduce((sum, one) => sum + one.buffers, 0)
  }
  const first = await next(`'${OUTSIDE}'`)
  const second = await next(manyAddresses)
  t.comment({ first, second })
  t.ok(second <= 1.5 * first)
})

t.test('events from unknown senders never displace events from allowed networks', async t => {
  const { receive, transform, allow, fate } = await withSource(t)
  await allow('10.0.0.0/8')
  const event = capturedA({ loan: 'L-1' })
  await receive(event, { times: TOO_MANY, vary: varied('amount'), address: manyAddresses })
  await transform()
  await receive(event)
  await transform()
  t.equal(await fate('pay_1'), 'waiting 1000')
})

t.test('events from unknown senders never displace verified events', async t => {
  const { receive, transform, fate } = await withSource(t)
  const event = capturedA({ loan: 'L-1' })
  await receive(event, { times: TOO_MANY, vary: varied('amount') })
  await transform()
  t.equal((await fate('pay_1'))?.startsWith('suspense events_disagree'), true)
  await receive(event, { verified: true })
  await transform()
  t.equal(await fate('pay_1'), 'waiting 1000')
})

t.test('a genuine event sent again from many addresses does not push out a later one', async t => {
  const { receive, transform, fate } = await withSource(t)
  await receive(capturedA({ loan: 'L-1' }), { verified: true })
  await receive(refundA({ status: 'created' }), { verified: true })
  await receive(refundA({ status: 'failed' }), {
    times: TOO_MANY,
    address: manyAddresses,
    verified: true,
  })
  await transform()
  await receive(refundA({ status: 'processed' }), { verified: true })
  await transform()
  t.equal(await fate('rfnd_1'), 'suspense refund 1000')
  t.equal(await fate('pay_1'), 'suspense refund 1000')
})

t.test('a payment with more facts than are read goes to suspense', async t => {
  const { receive, transform, fate } = await withSource(t)
  const event = capturedA({ loan: 'L-1' })
  await receive(event, { times: TOO_MANY, vary: varied('created_at') })
  await transform()
  t.equal(await fate('pay_1'), 'suspense events_disagree 1000')
})

t.test('an event past the facts that are read changes nothing, even in a first batch', async t => {
  const { receive, transform, fate } = await withSource(t)
  const failed = eventA('payment.failed', { loan: 'L-1', status: 'failed' })
  await receive(failed, { times: TOO_MANY, vary: varied('created_at') })
  await receive(capturedA({ loan: 'L-1' }))
  await transform()
  t.equal(await fate('pay_1'), 'failed 1000')
})

t.test('a payment is held by its refund, even if that has more facts than are read', async t => {
  const { receive, transform, fate } = await withSource(t)
  await receive(capturedA({ loan: 'L-1' }))
  const refund = refundA({ status: 'failed' })
  const vary = `jsonb_set(body::jsonb, '{payload,refund,entity,created_at}', to_jsonb(100000 + n))`
  await receive(refund, { times: TOO_MANY, vary })
  await receive(refundA())
  await transform()
  t.equal(await fate('pay_1'), 'suspense refund 1000')
})

const manyRefunds = (from: number) =>
  `jsonb_set(body::jsonb, '{payload,refund,entity,id}', to_jsonb('rfnd_' || (${from} + n)))`

t.test('however many refunds of a payment a stranger sends, none of them costs more', async t => {
  const { ownerUrl, receive, transform } = await withSource(t)
  await receive(capturedA({ loan: 'L-1' }))
  const cost = async (work: RawBuilder<unknown>) => {
    const touched = await buffersOf(ownerUrl, db => work.execute(db))
    return touched.reduce((sum, one) => sum + one.buffers, 0)
  }
  const costs = async () => ({
    settling: await cost(sql`select core.settle('gateway_a', array['pay_1'], has_news => false)`),
    showing: await cost(sql`
      select core.same_money_as(t), core.exceeds(t), core.version_of(t)
        from (select * from core.transaction where kind = 'refund' order by received_at limit 50) t`),
    deciding: await cost(sql`
      with decided as (
        update core.transaction set decision = 'post', decided_amount = 700 where kind = 'payment' returning id
      )
      select core.clear_objections(id) from decided`),
    judging: await cost(sql`
      select core.version_of(t) from core.transaction t where kind = 'payment'`),
  })
  await receive(refundA(), { times: 300, vary: manyRefunds(0) })
  await transform()
  const first = await costs()
  await receive(refundA(), { times: TOO_MANY, vary: manyRefunds(300) })
  await transform()
  const second = await costs()
  t.comment({ first, second })
  for (const [what, few] of Object.entries(first))
    t.ok(second[what as keyof typeof first] <= 2 * few, what)
})

t.test('refunds from unknown senders never displace a verified refund', async t => {
  const { receive, transform, fate } = await withSource(t)
  await receive(capturedA({ loan: 'L-1' }), { verified: true })
  await receive(refundA(), { times: TOO_MANY, vary: manyRefunds(0) })
  await transform()
  t.equal(await fate('pay_1'), 'waiting 1000')
  await receive(refundA({ id: 'rfnd_genuine' }), { verified: true })
  await transform()
  t.equal(await fate('pay_1'), 'suspense refund 1000')
})

t.test('events that were too many are read again once the networks are corrected', async t => {
  const { db, receive, transform, allow, fate } = await withSource(t)
  const event = capturedA({ loan: 'L-1' })
  await receive(event, { times: TOO_MANY, vary: varied('amount'), address: manyAddresses })
  await receive(event)
  await transform()
  t.match(await fate('pay_1'), /^suspense events_disagree/)
  await allow('10.0.0.0/8')
  const { rows } = await sql`select gateway_payment_id from core.unjudged_payment`.execute(db)
  t.same(rows, [{ gateway_payment_id: 'pay_1' }])
  await sql`select core.settle('gateway_a', array['pay_1'], has_news => false)`.execute(db)
  t.equal(await fate('pay_1'), 'waiting 1000')
})

t.test('an event repeating a posted payment’s facts 1,000 times is no objection to it', async t => {
  const { db, receive, transform, fate } = await withSource(t)
  const event = capturedA({ loan: 'L-1' })
  await receive(event)
  await transform()
  await sql`update core.transaction set state = 'posted', posted_at = now()`.execute(db)
  await receive(event, { times: TOO_MANY })
  await transform()
  t.equal(await fate('pay_1'), 'posted 1000')
  await receive(event, { times: TOO_MANY, vary: varied('created_at') })
  await transform()
  const { rows } = await sql`select objection from core.transaction`.execute(db)
  t.same(rows, [{ objection: 'events_disagree' }])
})
