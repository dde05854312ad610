import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { matchAgain } from '../../../src/payments/batch/match-again.ts'
import { deleteReference, putReference } from '../../../src/payments/references/reference-calls.ts'
import { eventA, linkB, PAID_AT, successB } from '../../support/payments/gateway-events.ts'
import { sourceOf } from '../../support/payments/source.ts'

const ASKER = { actor: 'asha', caller: null, address: null, requestId: null }

async function withReferences(t: Test, gateway: 'gateway_a' | 'gateway_b' = 'gateway_a') {
  const source = await sourceOf(t, gateway)
  const { db, transform } = source
  await sql`
    insert into core.day_zone (time_zone) values ('Asia/Kolkata')
     on conflict do nothing`.execute(db)
  const named = (name: string) => {
    const [kind, value = ''] = name.split(' ')
    return { gateway, kind: kind as 'order', value }
  }
  return {
    ...source,
    put: (name: string, loan: string, period: object = {}, replace = false) =>
      putReference(db, { ...named(name), external_loan_id: loan, ...period }, ASKER, { replace }),
    remove: (name: string) => deleteReference(db, named(name), ASKER),
    /** @param check runs before each step */
    batch: async (check = () => {}) => {
      await transform()
      await matchAgain({ db, check } as unknown as Parameters<typeof matchAgain>[0])
    },
    loans: async () => {
      const { rows } = await sql<{ loan: string }>`
        select concat_ws(' ', gateway_payment_id, external_loan_id, matched_by) as loan
          from ops.payment order by gateway_payment_id`.execute(db)
      return rows.map(({ loan }) => loan)
    },
  }
}

const transfer = (id: string, account: object, payment: object = {}) =>
  eventA('virtual_account.credited', {
    id,
    payment,
    payload: { virtual_account: { entity: { id: 'va_1', notes: [], ...account } } },
  })

t.test('the id that its maker gave a link names the loan of its payments', async t => {
  const { save, put, batch, loans } = await withReferences(t, 'gateway_b')
  const link = linkB(15, 'L-none', { link_notes: null, link_id: 'emi-7' })
  await save(successB({ id: 1, tags: { cf_link_id: '15' } }))
  await batch()
  await put('payment_link emi-7', 'L-1')
  await batch()
  t.same(await loans(), ['1'], 'its event has not come yet')
  await save(link, successB({ id: 2, tags: { cf_link_id: '15' } }))
  await save(successB({ id: 3, tags: { cf_link_id: '16' } }))
  await batch()
  t.same(await loans(), ['1 L-1 payment_link', '2 L-1 payment_link', '3'])
})

t.test('each receiver of a virtual account names its loan', async t => {
  const { save, put, batch, loans } = await withReferences(t)
  const receivers = [{ address: 'RPY.payto7@icici' }, { account_number: '0011' }]
  await save(transfer('pay_1', { receivers }))
  await put('virtual_account 0011', 'L-1')
  await batch()
  t.same(await loans(), ['pay_1 L-1 virtual_account'])
  await put('virtual_account rpy.PAYTO7@icici', 'L-2')
  await batch()
  t.same(await loans(), ['pay_1'], 'the two disagree')
})

t.test('the references at the time of the batch count, not those of the webhook', async t => {
  const { save, put, remove, batch, loans, fates } = await withReferences(t)
  await put('virtual_account va_1', 'L-1')
  await save(transfer('pay_1', {}))
  await remove('virtual_account va_1')
  await batch()
  t.same(await loans(), ['pay_1'])
  await put('virtual_account va_1', 'L-1')
  await save(transfer('pay_2', {}))
  await put('virtual_account va_1', 'L-2', { valid_from: '2026-02-05' }, true)
  await batch()
  t.same(await loans(), ['pay_1 L-2 virtual_account', 'pay_2 L-2 virtual_account'])
  await remove('virtual_account va_1')
  await batch()
  t.same(await fates(), [
    'payment pay_1 suspense no_loan_named',
    'payment pay_2 suspense no_loan_named',
  ])
})

t.test('the days of a reference are those of the ledger’s time zone', async t => {
  const { save, put, batch, loans } = await withReferences(t)
  // The first and the last second of 5 February in India.
  const start = PAID_AT - 10 * 3600
  for (const [id, created_at] of Object.entries({
    a: start - 1,
    b: start,
    c: start + 86_399,
    d: start + 86_400,
  }))
    await save(transfer(id, {}, { created_at }))
  await put('virtual_account va_1', 'L-1', { valid_from: '2026-02-05', valid_until: '2026-02-05' })
  await batch()
  t.same(await loans(), ['a', 'b L-1 virtual_account', 'c L-1 virtual_account', 'd'])
})

t.test('payments in suspense from before there were references are matched', async t => {
  const { db, save, put, transform, batch, loans } = await withReferences(t)
  await save(transfer('pay_1', {}), transfer('pay_2', { id: 'va_2' }))
  await transform()
  await sql`update core.transaction set refs = null`.execute(db)
  // A database that is older than its first reference has this.
  await sql`insert into core.changed_reference (gateway) values ('gateway_a')`.execute(db)
  await put('virtual_account va_1', 'L-1')
  await batch()
  t.same(await loans(), ['pay_1 L-1 virtual_account', 'pay_2'])
  await put('virtual_account va_2', 'L-2')
  await batch()
  t.same(await loans(), ['pay_1 L-1 virtual_account', 'pay_2 L-2 virtual_account'])
})

t.test('a release that is broken off goes on with the next batch', async t => {
  const { db, save, put, batch } = await withReferences(t)
  for (let i = 0; i < 600; i++) await save(transfer(`pay_${i}`, {}))
  await batch()
  await put('virtual_account va_1', 'L-1')
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from core.transaction where state = 'waiting'`.execute(db)
    return rows[0]?.count
  }
  let steps = 0
  const lost = () => {
    if (++steps > 2) throw new Error('the run was left')
  }
  await t.rejects(batch(lost), /the run was left/)
  t.equal(await waiting(), 250, 'what was released stays so')
  await batch()
  t.equal(await waiting(), 600)
})
