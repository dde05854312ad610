import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'

const FILE = new URL('gateway-a-samples.json', import.meta.url)
const { samples } = JSON.parse(readFileSync(FILE, 'utf8'))

/** What each documented sample says: kind, id, status, amount. */
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

t.test('every documented sample of gateway A says what its page says, or nothing', async t => {
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

t.test('no bytes and no JSON make either gateway’s function raise an error', async t => {
  const { db } = await freshDatabase(t)
  const odd = fc.oneof(
    fc.json(),
    fc.constantFrom('null', '1e400', '"\\u0000"', '[]', '{}', '-0', '[[]]'),
  )
  const placed = fc
    .tuple(fc.constantFrom(...placesOf(samples)), odd)
    .map(([put, value]) => put(value))
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
    odd.map(text => Buffer.from(text)),
    placed.map(text => Buffer.from(text)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { minLength: 50, maxLength: 50 }), async many => {
      await sql`select f.* from unnest(${many}::bytea[]) body cross join lateral base.gateway_a(body) f`.execute(
        db,
      )
      await sql`select f.* from unnest(${many}::bytea[]) body cross join lateral base.gateway_b(body) f`.execute(
        db,
      )
    }),
    { numRuns: 40 },
  )
})

/** For each place in each sample, a way to put another JSON text there. */
function placesOf(events: { body: object }[]): ((text: string) => string)[] {
  const mark = '"@@"'
  return events.flatMap(({ body }) => {
    const places: ((text: string) => string)[] = []
    const walk = (node: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(node)) {
        node[name] = '@@'
        const whole = JSON.stringify(body)
        node[name] = value
        places.push(text => whole.replace(mark, () => text))
        if (typeof value === 'object' && value !== null) walk(value as Record<string, unknown>)
      }
    }
    walk(body as Record<string, unknown>)
    return places
  })
}
