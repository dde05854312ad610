import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import t from 'tap'
import { matchAgain } from '../../../src/payments/batch/match-again.ts'
import { deleteReference, putReference } from '../../../src/payments/references/reference-calls.ts'
import { capturedA, PAID_AT } from '../../support/payments/gateway-events.ts'
import { sourceOf } from '../../support/payments/source.ts'

const ASKER = { actor: 'asha', caller: null, address: null, requestId: null }
const DAY = 24 * 60 * 60
const days = ['2026-02-04', '2026-02-05', '2026-02-06'] as const
const day = fc.option(fc.constantFrom(...days), { nil: undefined })
const name = fc.record({
  gateway: fc.constant('gateway_a' as const),
  kind: fc.constantFrom(
    'order' as const,
    'mandate' as const,
    'customer' as const,
    'payer' as const,
  ),
  value: fc.constantFrom('x', 'x', 'x', 'y'),
})
const step = fc.oneof(
  fc.record({
    does: fc.constant('put' as const),
    name,
    loan: fc.constantFrom('L-1', 'L-2'),
    from: day,
    until: day,
    replace: fc.boolean(),
  }),
  fc.record({ does: fc.constant('remove' as const), name }),
  fc.record({
    does: fc.constant('pay' as const),
    loan: fc.constantFrom(undefined, undefined, 'L-1'),
    day: fc.integer({ min: -1, max: 1 }),
    // A payment may have several ids at once.
    ids: fc.record(
      {
        order_id: fc.constantFrom('x', 'x', 'x', 'y'),
        token_id: fc.constantFrom('x', 'x', 'x', 'y'),
        customer_id: fc.constantFrom('x', 'x', 'x', 'y'),
        vpa: fc.constantFrom('x', 'x', 'x', 'y'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ does: fc.constant('batch' as const) }),
)

const fates = async (db: Kysely<any>) => {
  const { rows } = await sql<object>`
    select gateway_payment_id, state, reason, external_loan_id, matched_by, suggested_loan
      from ops.payment order by gateway_payment_id`.execute(db)
  return rows
}

t.test('payments, references and batches in any order end as if all came at once', async t => {
  const { db, save, transform } = await sourceOf(t, 'gateway_a')
  await sql`
    insert into core.day_zone (time_zone) values ('Asia/Kolkata')
     on conflict do nothing`.execute(db)
  const batch = async () => {
    await transform()
    await matchAgain({ db, check: () => undefined } as any)
  }
  let payments = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async steps => {
      await sql`truncate core.transaction, core.event, core.reference, core.changed_reference cascade`.execute(
        db,
      )
      for (const one of steps) {
        if (one.does === 'batch') await batch()
        else if (one.does === 'remove') await deleteReference(db, one.name, ASKER).catch(expected)
        else if (one.does === 'put') {
          const { loan, from, until, replace } = one
          const reference = {
            ...one.name,
            external_loan_id: loan,
            ...(from && { valid_from: from }),
            ...(until && { valid_until: until }),
          }
          const preview = await put(reference, { replace, dry_run: true })
          const saved = await put(reference, { replace })
          if (saved === undefined) continue
          t.equal(preview?.saved.waiting, saved.saved.waiting, 'the preview counts the same')
        } else {
          payments++
          const payment = { ...one.ids, created_at: PAID_AT + one.day * DAY }
          await save(
            capturedA({ id: `pay_${payments}`, payment, ...(one.loan && { loan: one.loan }) }),
          )
        }
      }
      await batch()
      const found = await fates(db)
      await sql`
        select core.settle('gateway_a', array_agg(gateway_payment_id), has_news => true)
         from core.transaction having count(*) > 0`.execute(db)
      t.same(found, await fates(db), JSON.stringify(steps))
    }),
    { numRuns: 60 },
  )
  t.ok(payments > 100)

  async function put(reference: Parameters<typeof putReference>[1], how: object) {
    try {
      return await putReference(db, reference, ASKER, how)
    } catch (error) {
      expected(error as Error)
    }
  }
})

t.test('as many payments are released as a reference counted', async t => {
  const { db, save, transform } = await sourceOf(t, 'gateway_a')
  await sql`
    insert into core.day_zone (time_zone) values ('Asia/Kolkata')
     on conflict do nothing`.execute(db)
  for (let i = 0; i < 1_200; i++)
    await save(capturedA({ id: `pay_${i}`, payment: { order_id: i % 2 === 0 ? 'x' : 'y' } }))
  await transform()
  const of = (value: string) => ({
    gateway: 'gateway_a' as const,
    kind: 'order' as const,
    value,
    external_loan_id: 'L-1',
  })
  const { saved } = await putReference(db, of('x'), ASKER)
  t.equal(saved.waiting, 600)
  await matchAgain({ db, check: () => undefined } as any)
  t.equal(await suspended(db), 600, 'in several steps')
})

async function suspended(db: Kysely<any>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from core.transaction where state = 'suspense'`.execute(db)
  return rows[0]?.count ?? 0
}

function expected(error: Error & { statusCode?: number }): undefined {
  if (![400, 404, 409].includes(error.statusCode ?? 0)) throw error
}
