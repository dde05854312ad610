import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { placesIn } from '../../support/payments/json-places.ts'
import { sourceOf } from '../../support/payments/source.ts'

type Sample = { source: string; event: string; body: Record<string, unknown> }
const samplesOf = (file: string): Sample[] =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).samples
const samples = samplesOf('gateway-a-samples.json')
const samplesB = samplesOf('gateway-b-samples.json')

/** What each documented sample of gateway A says: kind, id, status, amount. */
const SAID: Record<string, string[]> = {
  'payment.dispute.created': [
    'payment pay_EFtmUsbwpXwBHI captured 52976.00',
    'chargeback disp_EsIAlDcoUr8CaQ open 390.00',
  ],
  'order.paid': ['payment pay_DESlfW9H8K9uqM captured 1.00'],
  'payment_link.paid': ['payment pay_Qfldmt5StKZFCB captured 10.00'],
  'payment.captured': ['payment pay_DESp9bgForNoUd captured 1.00'],
  'payment.failed': ['payment pay_DEAU825sJlCbGa failed 500.00'],
  'refund.created': [
    'payment pay_FPoJKWQQ8lK13n captured 5000.00',
    'refund rfnd_FS8TWyPrCsa0OB open 500.00',
  ],
  'refund.processed': [
    'payment pay_FPoJKWQQ8lK13n captured 5000.00',
    'refund rfnd_FS8TWyPrCsa0OB done 500.00',
  ],
  'refund.failed': [
    'payment pay_FPoJKWQQ8lK13n captured 5000.00',
    'refund rfnd_FS8TWyPrCsa0OB undone 500.00',
  ],
  'virtual_account.credited': ['payment pay_DETA2KrOlhqQzF captured 5.00'],
}

t.test('each documented sample of gateway A is read as documented', async t => {
  const { db } = await freshDatabase(t)
  for (const { event, body } of samples) {
    const { rows } = await sql<{ said: string; problem: string | null }>`
      select concat_ws(' ', kind, payment_id, status, amount) as said, problem
        from base.gateway_a(${Buffer.from(JSON.stringify(body))})`.execute(db)
    t.same(
      rows.map(row => row.said),
      SAID[event] ?? [],
      event,
    )
    t.ok(
      rows.every(row => row.problem === null),
      `${event} can be read`,
    )
  }
})

/** What becomes of each documented sample of gateway B by itself, and how its type is taken; nothing where it is ignored. */
const FATES_B = [
  ['payment', 'payment 1453002795 suspense no_loan_named'],
  ['payment', 'payment 1453002795 suspense no_loan_named'],
  ['payment', 'payment 5114925103565 suspense no_loan_named'],
  ['payment', 'payment 1504280029 failed'],
  ['payment', 'payment 975672265 failed'],
  ['refund', 'refund 11325632 suspense refund'],
  ['refund', 'refund 1243460973 returned'],
  ['chargeback', 'chargeback 433475258 suspense chargeback'],
  ['chargeback', 'chargeback 433475257 suspense chargeback'],
  ['chargeback', 'chargeback 433475257 failed'],
  ['ignored'],
  ['payment', 'payment 49914526 suspense no_loan_named'],
  ['payment', 'payment 49585655 failed'],
  ['ignored'],
  ['ignored'],
  ['ignored'],
  ['refund', 'refund SUB_21ebb4bf-e84f-4afa-bb09-07aac433abe4 suspense refund'],
  ['ignored'],
]

t.test('every documented sample of gateway B has the fate that its page gives it', async t => {
  t.equal(samplesB.length, FATES_B.length)
  for (const [i, [taken, ...fates]] of FATES_B.entries()) {
    const { event, body } = samplesB[i] as Sample
    const service = await sourceOf(t, 'gateway_b')
    await service.save(body)
    await service.transform()
    t.same(await service.fates(), fates, event)
    t.same(await service.types(), [`${event} ${taken} 1`], event)
  }
})

t.test('an event that several versions of a webhook send is one payment', async t => {
  const service = await sourceOf(t, 'gateway_b')
  await service.save(...samplesB.slice(0, 2).map(({ body }) => body))
  await service.transform()
  t.same(await service.fates(), ['payment 1453002795 suspense no_loan_named'])
})

t.test('hints say what identifies the payer: account, remitter, tags, mandate', async t => {
  const service = await sourceOf(t, 'gateway_b')
  await service.save(...[2, 3, 11].map(i => (samplesB[i] as Sample).body))
  await service.transform()
  const { rows } = await sql<{ hints: object }>`
    select hints from ops.payment order by gateway_payment_id`.execute(service.db)
  t.match(
    rows.map(({ hints }) => hints),
    [
      { order_tags: { cf_link_id: '13746255' } },
      { subscription_id: 'moznV33AssPd6vXsSm2', mandate: /^427b608f/, payment_type: 'AUTH' },
      {
        virtual_account: 'USER09',
        virtual_account_number: '98912574JSER10',
        remitter_name: 'John Doe',
        remitter_account: '123456789012',
        utr: 'MerchantID_TESTUTR12362',
      },
    ],
  )
  t.notMatch(JSON.stringify(rows), /example\.com|9999999999/)
})

t.test('no bytes and no JSON make either gateway’s function raise an error', async t => {
  const { db } = await freshDatabase(t)
  const odd = fc.oneof(
    fc.json(),
    fc.constantFrom('null', '1e400', '"\\u0000"', '"\\ud83d"', '[]', '{}', '-0', '[[]]'),
  )
  const placed = fc
    .tuple(fc.constantFrom(...[...samples, ...samplesB].flatMap(({ body }) => placesIn(body))), odd)
    .map(([put, value]) => put(value))
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
    odd.map(text => Buffer.from(text)),
    placed.map(text => Buffer.from(text)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { minLength: 50, maxLength: 50 }), async many => {
      await sql`
        select f.* from unnest(${many}::bytea[]) body cross
         join lateral base.gateway_a(body) f`.execute(db)
      await sql`
        select f.* from unnest(${many}::bytea[]) body cross
         join lateral base.gateway_b(body) f`.execute(db)
    }),
    { numRuns: 40 },
  )
})
