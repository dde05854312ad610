import { type RawBuilder, sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { drawB, PAID_AT_ISO, signedB, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

const UNPROVED = '77'
const PROVED = '4212435861'
const UTR = '603610000009'
const SIGNED = { validateSignature: true, secretEnv: 'S' }
const OPEN = { validateSignature: false, secretEnv: 'S' }

/** A payment of the loan L-6, whose id and reference the events of `unproved` name. */
const proved: any = successB({ id: Number(PROVED), amount: 399, loan: 'L-6' })
proved.data.payment.bank_reference = UTR

const unproved = {
  debit: (loan: string | null = 'L-2') =>
    drawB('SUBSCRIPTION_PAYMENT_SUCCESS', { cf_payment_id: UNPROVED }, loan && { loan_id: loan }),
  transfer: () => ({
    event: 'AMOUNT_COLLECTED',
    referenceId: Number(UNPROVED),
    amount: '399.00',
    paymentTime: '2026-02-05 10:00:00',
    vAccountId: 'VA2',
    utr: UTR,
  }),
}

/** LENDER_02 with the loan L-2 and the virtual account VA2, and LENDER_06 with L-6, which takes signed events alone. */
async function twoLenders(t: Test, trust: object = OPEN) {
  const lenders = { LENDER_02: { gateway_b: trust }, LENDER_06: { gateway_b: SIGNED } }
  const service = await paymentService(t, { LENDERS_FILE: lendersFile(t, lenders), S: 'secret' })
  await service.loan('L-2')
  await service.loan('L-6', { product: 6 })
  await service.call('PUT', '/api/references/gateway_b/virtual_account/VA2', {
    external_loan_id: 'L-2',
  })
  return {
    ...service,
    unsigned: (event: object) => service.webhook('gateway_b', event, {}),
    signed(event: object, lender = 'LENDER_06') {
      const body = JSON.stringify(event)
      return service.webhook('gateway_b', body, { lender, headers: signedB('secret', body) })
    },
    async shown(id: string) {
      const { state, reason } = (await service.payment(id, 'gateway_b')).payment
      return [state, reason]
    },
  }
}

for (const [name, event] of Object.entries(unproved)) {
  t.test(`an unsigned ${name} keeps no signed payment from another loan`, async t => {
    const service = await twoLenders(t)
    await service.unsigned(event())
    await service.batch()
    await service.signed(proved)
    t.match(await service.batch(), { posted: 1, suspended: 0 })
    t.same(await service.shown(PROVED), ['posted', null])
  })

  t.test(`a signed payment goes before an older unsigned ${name} of another loan`, async t => {
    const service = await twoLenders(t)
    await service.unsigned(event())
    await service.signed(proved)
    t.match(await service.batch(), { posted: 1, suspended: 1 })
    t.same(await service.shown(PROVED), ['posted', null])
    t.same(await service.shown(UNPROVED), ['suspense', 'ledger_refused'])
  })
}

t.test('a signed payment does not wait for an unsigned one in another loan’s queue', async t => {
  const service = await twoLenders(t, SIGNED)
  await service.signed(successB({ id: 1, loan: 'L-2' }), 'LENDER_02')
  await service.loseAnswer()
  await service.batch()
  await service.unsigned(unproved.debit())
  await service.batch()
  await service.signed(proved)
  t.match(await service.batch(), { posted: 1 })
  t.same(await service.shown(PROVED), ['posted', null])
})

function provedFor(loan: string) {
  const event: any = structuredClone(proved)
  event.data.order.order_tags.loan_id = loan
  return event
}

t.test('an unsigned event keeps a signed payment of the same loan from being posted', async t => {
  const service = await twoLenders(t)
  await service.unsigned(unproved.debit())
  await service.batch()
  await service.signed(provedFor('L-2'), 'LENDER_02')
  t.match(await service.batch(), { posted: 0, suspended: 1 })
})

t.test('an unsigned event of the same lender keeps a signed payment from another loan', async t => {
  const service = await twoLenders(t)
  await service.loan('L-1')
  await service.webhook('gateway_b', unproved.debit(), { lender: 'LENDER_02' })
  await service.batch()
  await service.signed(provedFor('L-1'), 'LENDER_02')
  t.match(await service.batch(), { posted: 0, suspended: 1 })
})

t.test('an unsigned event that an operator booked by hand holds its signed payment', async t => {
  const service = await twoLenders(t)
  await service.unsigned(unproved.debit(null))
  await service.batch()
  const resolved = await service.call('POST', `/api/payments/gateway_b/${UNPROVED}/resolve`, {
    outcome: 'handled',
    note: 'booked at the ledger',
  })
  t.equal(resolved.status, 200)
  await service.signed(proved)
  t.match(await service.batch(), { posted: 0, suspended: 1 })
})

t.test('an unsigned event that an operator assigned holds its signed payment', async t => {
  const service = await twoLenders(t)
  await service.unsigned(unproved.debit(null))
  await service.batch()
  t.equal((await service.assign(UNPROVED, 'L-2', 'gateway_b')).status, 200)
  t.match(await service.batch(), { posted: 1 })
  await service.signed(proved)
  t.match(await service.batch(), { posted: 0, suspended: 1 })
})

t.test('a mandate debit of another amount than the payment it names is other money', async t => {
  const service = await twoLenders(t)
  const small = { cf_payment_id: UNPROVED, payment_amount: 1 }
  await service.signed(drawB('SUBSCRIPTION_PAYMENT_SUCCESS', small, { loan_id: 'L-6' }))
  await service.signed(proved)
  t.match(await service.batch(), { posted: 2, suspended: 0 })
})

/** Waiting payments of loans that the ledger does not have, the nth with these hints. */
async function fill(db: Database, count: number, hints: RawBuilder<unknown>) {
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, named_loan_id, amount, currency, paid_at, is_captured,
      is_verified, state, source, raw_id, received_at, hints)
    select 'gateway_b', 'payment', n, 'LENDER_02', 'L-' || n, 1500, 'INR', ${PAID_AT_ISO}, true,
           false, 'waiting', 'x', gen_random_uuid(), ${PAID_AT_ISO}::timestamptz + n * interval '1 second', ${hints}
      from generate_series(1, ${count}::integer) n`.execute(db)
  await sql`analyze core.transaction`.execute(db)
}

const COUNT = 3_000

const REFERENCES = {
  'of its own': [sql`603610000000 + n`, COUNT],
  // Of two formats, one waits, and is asked again.
  'of two': [sql`603610000000 + (n + 1) / 2`, 1.5 * COUNT],
  'of all': [sql`603610000000`, 1.5 * COUNT],
} as const

for (const [name, [reference, most]] of Object.entries(REFERENCES))
  t.test(`a batch asks each payment once whether it waits for another: ${name}`, async t => {
    const service = await paymentService(t)
    const { db } = service
    await sql
      .raw(`
      alter function core.awaits_twin rename to awaits_twin_uncounted;
      create sequence core.calls;
      create function core.awaits_twin(t core.transaction) returns boolean language plpgsql security definer as $$ begin
        perform nextval('core.calls');
        return core.awaits_twin_uncounted(t); end $$`)
      .execute(db)
    await fill(
      db,
      COUNT,
      sql`jsonb_build_object('utr', (${reference})::text) || case when n % 2 = 0 then '{"reported_by": "AMOUNT_COLLECTED"}' else '{}' end::jsonb`,
    )
    await service.call('POST', '/api/ledger/pause', { reason: 'maintenance' })
    await service.batch()
    const { rows } = await sql<{ calls: number }>`
      select last_value::integer as calls from core.calls`.execute(db)
    const calls = rows[0]?.calls ?? 0
    t.ok(calls >= COUNT && calls <= most, `${calls} calls`)
  })

t.test('a batch reads a bounded number of waiting payments with one reference', async t => {
  const EACH = 8_000
  const READ = 500
  const MOST_PAGES_EACH = 150
  const { db } = await paymentService(t)
  // The payments of the newer format come first: each finds no twin that goes before it.
  const hints = sql`jsonb_build_object('utr', ${UTR}::text)
    || case when n > ${EACH}::integer then '{"reported_by": "AMOUNT_COLLECTED"}' else '{}' end::jsonb`
  await fill(db, 2 * EACH, hints)
  const { rows } = await sql<{ 'QUERY PLAN': any }>`
    explain (analyze, buffers, format json)
    select from core.transaction t
     where state = 'waiting' and not core.awaits_twin(t) limit ${sql.lit(READ)}`.execute(db)
  const plan = rows[0]?.['QUERY PLAN'][0].Plan
  t.equal(plan['Actual Rows'], READ)
  const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  t.ok(pages < READ * MOST_PAGES_EACH, `${pages} pages`)
})
