import fc from 'fast-check'
import pg from 'pg'
import t from 'tap'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { capturedA, successB } from '../../support/payments/gateway-events.ts'
import { placesIn } from '../../support/payments/json-places.ts'

/** A hostile event may take this many times what an ordinary event of the same size takes. */
const MOST_TIMES = 10
/** Events in texts may take this many times what as many bytes of ordinary events take. */
const MOST_TIMES_A_BATCH = 5
const MOST_KB = 64 * 1024
/** The least of several readings counts, because a busy machine adds to some of them. */
const READINGS = 5
/** Small events are read several times in one statement, so that its own cost does not count. */
const copiesOf = (body: string) => Math.ceil(100_000 / body.length)
/** The last is what a webhook may hold. */
const SIZES = [7_000, 40_000, 1_000_000]

type Cost = { ms: number; residentKb: number }

const { ownerUrl } = await freshDatabase(t)

const EVENTS = { gateway_a: capturedA({ loan: 'L-1' }), gateway_b: successB({ loan: 'L-1' }) }
type Gateway = keyof typeof EVENTS
const TYPES: Record<Gateway, string[]> = {
  gateway_a:
    'payment.captured refund.processed payment.dispute.lost moon.risen loanops.backfill'.split(' '),
  gateway_b:
    'PAYMENT_SUCCESS_WEBHOOK REFUND_STATUS_WEBHOOK DISPUTE_CLOSED SUBSCRIPTION_PAYMENT_SUCCESS MOON_RISEN LOANOPS_BACKFILL'.split(
      ' ',
    ),
}

const EVENT_IN_TEXT = JSON.stringify({ event: 'payment.captured', n: 1 })
const EVENTS_IN_TEXTS = [EVENT_IN_TEXT, Buffer.from(EVENT_IN_TEXT).toString('base64')]

const size = fc.constantFrom(...SIZES)
const repeated = (unit: string, separator: string) =>
  size.map(bytes =>
    Array(Math.ceil(bytes / (unit + separator).length))
      .fill(unit)
      .join(separator),
  )
const ITEMS = [
  '1e131071',
  '-1e131071',
  '1e-16383',
  '0e-16383',
  '[7e99999]',
  '1e999999',
  '{}',
  '[1]',
]
const TEXTS = [
  'x',
  '\x00',
  '\x01\n',
  '\\u0000',
  '\\ud83d',
  '\\ud83d\\ude00',
  '\\\\',
  'é\\ud83d',
  '\\"id\\":\\"',
]
const MEMBERS = [
  'a_id":1e131071',
  'x_amount":1e131071',
  'b":"x"',
  'c":{}',
  'd":{"id":1,"amount":1}',
]
const HOSTILE = fc.oneof(
  fc.constantFrom(...ITEMS).chain(unit => repeated(unit, ',').map(list => `[${list}]`)),
  fc.constantFrom('', '0.').chain(start => repeated('1', '').map(digits => start + digits)),
  fc.constantFrom(...TEXTS).chain(unit => repeated(unit, '').map(text => `"${text}"`)),
  fc.constantFrom(...MEMBERS).chain(unit =>
    repeated(`"#${unit}`, ',').map(list => {
      let count = 0
      return `{${list.replaceAll('#', () => String(count++))}}`
    }),
  ),
  size.map(bytes => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  size.map(bytes => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`),
)
const hostile = fc
  .constantFrom<Gateway>('gateway_a', 'gateway_b')
  .chain(gateway =>
    fc
      .tuple(
        fc.constantFrom(...placesIn(EVENTS[gateway])),
        fc.constantFrom(...TYPES[gateway]),
        HOSTILE,
      )
      .map(([put, type, text]) => ({
        gateway,
        body: put(text).replace(/payment\.captured|PAYMENT_SUCCESS_WEBHOOK/, type),
      })),
  )

t.test('no event costs more than ten ordinary ones of its size, nor 64 MB', async t => {
  const usual = new Map<string, Cost>()
  for (const gateway of Object.keys(EVENTS) as Gateway[])
    for (const bytes of SIZES)
      usual.set(`${gateway} ${bytes}`, await costOf(gateway, ordinary(gateway, bytes)))
  await fc.assert(
    fc.asyncProperty(hostile, async ({ gateway, body }) => {
      const bytes = SIZES.findLast(bytes => bytes <= body.length) as number
      const { ms, residentKb } = usual.get(`${gateway} ${bytes}`) as Cost
      const cost = await costOf(gateway, body)
      const shown = `${gateway} ${body.slice(0, 300)} … ${body.slice(-150)}`
      if (cost.ms > MOST_TIMES * ms) {
        // The machine may have become slower since: both are measured in turns.
        const usualNow = await costOf(gateway, ordinary(gateway, bytes))
        const least = Math.min(cost.ms, (await costOf(gateway, body)).ms)
        if (least > MOST_TIMES * Math.max(ms, usualNow.ms))
          throw new Error(`${least} instead of ${ms} or ${usualNow.ms} ms: ${shown}`)
      }
      const more = cost.residentKb - residentKb
      if (more > MOST_KB) throw new Error(`${more} kB: ${shown}`)
    }),
    { numRuns: Number(process.env.FUZZ_CASES ?? 60), endOnFailure: true },
  )
  t.pass('within the budget')
})

for (const gateway of Object.keys(EVENTS) as Gateway[])
  t.test(`texts with events cost ${gateway} little more than as many bytes of events`, async t => {
    const bytes = SIZES.at(-1) as number
    const count = Math.floor(bytes / JSON.stringify(EVENTS_IN_TEXTS).length)
    const texts = Array(count).fill(EVENTS_IN_TEXTS).flat()
    const body = JSON.stringify({ event: 'moon.risen', type: 'MOON_RISEN', payload: { texts } })
    const usual = JSON.stringify(EVENTS[gateway])
    const before = await costOf(gateway, usual)
    const { ms } = await costOf(gateway, body)
    // The machine may have become slower meanwhile.
    const after = await costOf(gateway, usual)
    const times = bytes / (usual.length * copiesOf(usual))
    t.ok(ms < MOST_TIMES_A_BATCH * times * Math.max(before.ms, after.ms))
  })

/** Reads an event with its gateway's function, and returns what PostgreSQL itself says it took: other load does not count. */
async function costOf(gateway: string, body: string): Promise<Cost> {
  // A session's peak of memory never falls: each event has a session of its own.
  const client = new pg.Client(ownerUrl)
  await client.connect()
  await client.query('set client_min_messages = log')
  await client.query('set log_executor_stats = on')
  const costs: Cost[] = []
  client.on('notice', ({ detail = '' }) => {
    const [, user, system] = /([\d.]+) s user, ([\d.]+) s system/.exec(detail) ?? []
    const [, resident] = /(\d+) kB max resident/.exec(detail) ?? []
    costs.push({ ms: (Number(user) + Number(system)) * 1_000, residentKb: Number(resident) })
  })
  for (let i = 0; i < READINGS; i++)
    await client.query(
      `select count(f) from unnest($1::bytea[]) body cross join lateral base.${gateway}(body) f`,
      [Array(copiesOf(body)).fill(Buffer.from(body))],
    )
  await client.end()
  return {
    ms: Math.min(...costs.map(cost => cost.ms)),
    residentKb: Math.max(...costs.map(cost => cost.residentKb)),
  }
}

/** An event with as many ordinary members as its size allows. */
function ordinary(gateway: Gateway, bytes: number): string {
  const event = { ...EVENTS[gateway], more: {} as Record<string, string> }
  const room = bytes - JSON.stringify(event).length
  for (let i = 10_000; i < 10_000 + room / 34; i++) event.more[`member_${i}`] = 'a text, as usual'
  return JSON.stringify(event)
}
