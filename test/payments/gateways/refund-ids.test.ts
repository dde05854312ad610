import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { refundIdOf } from '../../../src/payments/gateways/gateway-b/row.ts'
import { withConfirm } from '../../support/books/confirm.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { refundB, successB } from '../../support/payments/gateway-events.ts'
import { AUTOMATIC, MANUAL, refundOfB, reversing } from '../../support/payments/reversals.ts'
import { until } from '../../support/until.ts'

const B = 'gateway_b'
/** One refund’s id as the gateway has written it since version 2023-08-01, and as it did before. */
const NEW = 402_935_015
const OLD = `refund_${NEW}`
const BOOKED = [{ '1-r2': 700 }, ['posted', null, null, null]]

/** A posted payment of 1000 rupees. */
async function posted(t: Test, trust: object = AUTOMATIC) {
  const service = await reversing(t, trust)
  await service.signed(successB({ id: 1, loan: 'L-1' }))
  await service.batch()
  return {
    ...service,
    refund: (id: unknown, status = 'SUCCESS') =>
      service.signed(refundOfB(300, { id, of: 1, status })),
    refundIds: async () => {
      const { body } = await service.call('GET', '/api/payments?kind=refund')
      return body.payments.map((one: any) => one.gateway_payment_id)
    },
  }
}

/** Gives a refund the id under which an earlier version stored it. */
async function storeAsOld({ db }: { db: Database }, id: number) {
  for (const table of ['core.event', 'core.transaction'])
    await sql`
      update ${sql.raw(table)} set gateway_payment_id = ${OLD}
       where gateway_payment_id = ${String(id)}`.execute(db)
}

/** Stores a refund as earlier versions did that got it with and without the prefix. */
async function storedAsBoth(service: Awaited<ReturnType<typeof posted>>) {
  await service.refund(NEW)
  await service.refund(NEW + 1)
  await service.batch()
  await storeAsOld(service, NEW + 1)
}

for (const [first, second] of [
  [NEW, OLD],
  [OLD, NEW],
]) {
  t.test(`a refund sent as ${first} and as ${second} is taken out once`, async t => {
    const together = await posted(t)
    await together.refund(first)
    await together.refund(second)
    await together.batch()
    t.same([await together.standing(), await together.shown(NEW, B)], BOOKED)
    t.same(await together.refundIds(), [String(NEW)])

    const apart = await posted(t)
    await apart.refund(first)
    await apart.batch()
    await apart.refund(second)
    await apart.batch()
    t.same([await apart.standing(), await apart.shown(NEW, B)], BOOKED)
    t.same(await apart.refundIds(), [String(NEW)])
  })

  t.test(`a person finds one row of a refund sent as ${first} and as ${second}`, async t => {
    const service = await posted(t, MANUAL)
    await service.refund(first)
    await service.batch()
    await service.refund(second)
    await service.batch()
    t.same(await service.refundIds(), [String(NEW)])
    t.same(await service.shown(NEW, B), ['suspense', 'refund', null, null])
  })

  t.test(`a refund made as ${first} and cancelled as ${second} is taken back`, async t => {
    const service = await posted(t)
    await service.refund(first)
    await service.batch()
    await service.refund(second, 'CANCELLED')
    await service.batch()
    t.same((await service.shown(NEW, B))[2], 'taken_back')
  })
}

t.test('a refund stored under its old id keeps it, and gets its new events', async t => {
  const service = await posted(t)
  await service.refund(NEW)
  await service.batch()
  await storeAsOld(service, NEW)
  await service.refund(OLD)
  await service.signed({
    ...refundOfB(300, { id: NEW, of: 1 }),
    event_time: '2026-02-07T10:00:00Z',
  })
  await service.batch()
  t.same([await service.standing(), await service.shown(OLD, B)], BOOKED)
  t.same(await service.refundIds(), [OLD])
  await service.refund(OLD, 'CANCELLED')
  await service.batch()
  t.same((await service.shown(OLD, B))[2], 'taken_back')
})

for (const [booked, other] of [
  [NEW, OLD],
  [OLD, NEW],
]) {
  t.test(`of a refund stored under both ids, ${booked} learns that it came back`, async t => {
    const service = await posted(t, MANUAL)
    await storedAsBoth(service)
    const decide = async (id: unknown, outcome: string) => {
      const path = `/api/payments/${B}/${id}/resolve`
      return (await service.call('POST', path, { outcome, note: 'seen' })).status
    }
    t.equal(await decide(other, 'dismiss'), 200)
    t.equal(await decide(booked, 'reverse'), 200)
    await service.batch()
    await until(
      async () => (await service.shown(booked, B))[0] === 'posted',
      'the refund is booked',
    )
    t.same(await service.standing(), { '1-r2': 700 })
    await service.refund(NEW, 'CANCELLED')
    await service.batch()
    t.same((await service.shown(booked, B))[2], 'taken_back')
    t.equal(await decide(booked, 'restore'), 200)
    await service.batch()
    await until(async () => (await service.shown(booked, B))[0] === 'failed', 'it is put back')
    t.same(await service.standing(), { '1-r3': 1000 })
  })
}

t.test('each row of a refund stored under both ids is confirmed, and names the other', async t => {
  const service = await posted(t, MANUAL)
  await storedAsBoth(service)
  const body = Buffer.from(JSON.stringify(refundOfB(300, { id: NEW, of: 1 }))).toString('base64')
  await sql`update core.event set is_unproved = true where kind = 'refund'`.execute(service.db)
  for (const id of [OLD, String(NEW)]) {
    const { rows } = await sql<object>`
      select core.denial_of(${B}, 'refund', ${id}, null, decode(${body}, 'base64')) as denial`.execute(
      service.db,
    )
    t.same(rows, [{ denial: null }], id)
  }
  t.match(await service.payment(OLD, B), {
    payment: { detail: `It may be the same money as ${NEW}` },
  })
})

t.test('a fetch knows a refund that is stored under its old id', async t => {
  const service = await posted(t)
  await service.refund(NEW)
  await service.batch()
  await storeAsOld(service, NEW)
  const body = Buffer.from(JSON.stringify(refundOfB(300, { id: NEW, of: 1 }))).toString('base64')
  const { rows } = await sql<object>`
    select array(select core.unreported(${B}, array[${body}])) as unreported`.execute(service.db)
  t.same(rows, [{ unreported: [] }])
  await sql`
    update core.event set verified_by = 'gateway_api'
     where gateway_payment_id = ${OLD}`.execute(service.db)
  const answered = await sql`
    select core.times_answered(${B}, ${body})::integer as times`.execute(service.db)
  t.same(answered.rows, [{ times: 1 }])
})

t.test('a second refund with the lender’s id of the first waits for a person', async t => {
  const service = await posted(t)
  const refund = (id: string, refund_id: string) => {
    const event: any = refundOfB(300, { id, of: 1 })
    return service.signed({ ...event, data: { refund: { ...event.data.refund, refund_id } } })
  }
  await refund('a', 'R-1')
  await refund('b', 'R-1')
  await refund('c', 'R-2')
  await service.batch()
  t.same(await service.standing(), { '1-r3': 400 })
  t.same((await service.shown('c', B))[0], 'posted')
  t.match(await service.payment('b', B), {
    payment: { state: 'suspense', reason: 'refund', detail: 'It may be the same money as a' },
  })
})

t.test('a second row of a refund of the whole payment names the first', async t => {
  const service = await posted(t)
  for (const id of ['a', 'b']) {
    const event: any = refundOfB(1_000, { id, of: 1 })
    const refund = { ...event.data.refund, refund_id: 'R-1' }
    await service.signed({ ...event, data: { refund } })
  }
  await service.batch()
  t.same(await service.standing(), {})
  t.match(await service.payment('b', B), {
    payment: {
      reason: 'refund',
      detail: /^It may be the same money as a; 1000 INR is more than the 0 that stands/,
    },
  })
})

t.test('the gateway’s API confirms a refund under either of its ids', async t => {
  const { gateways, service, has, stateOf } = await withConfirm(t)
  await has(B, '1')
  const refund = (id: string) =>
    gateways.put('/refunds', {
      gateway: B,
      id,
      paymentId: '1',
      amount: 100_000,
      status: 'processed',
    })
  await refund('refund_40031')
  await refund('40032')
  const event = (id: unknown): any => refundB({ id, of: '1' })
  for (const id of [40031, 'refund_40032']) {
    const { data, ...rest } = event(id)
    const more = { refund: { ...data.refund, order_id: 'order_1' } }
    await service.webhook(B, { ...rest, data: more }, { lender: 'LENDER_07' })
  }
  await service.batch()
  for (const id of ['40031', '40032']) t.same(await stateOf(id), ['suspense', 'refund', null])
})

t.test('a refund’s id loses its prefix in an event as in what the API answers', async t => {
  const { db } = await freshDatabase(t)
  const ids = [
    OLD,
    String(NEW),
    'refund_1234',
    'refund_12345',
    'refund_1a2345',
    'x_refund_12345',
    'Refund_12345',
    '',
  ]
  const { rows } = await sql<{ id: string }>`
    select base.plain_refund_id(id) as id from unnest(${ids}::text[]) with ordinality one (id, n)
     order by n`.execute(db)
  t.same(
    rows.map(({ id }) => id),
    ids.map(refundIdOf),
  )
  t.same(ids.map(refundIdOf).slice(0, 4), [String(NEW), String(NEW), 'refund_1234', '12345'])
})
