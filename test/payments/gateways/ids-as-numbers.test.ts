import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { parseExact, textOf } from '../../../src/payments/gateways/items/exact-json.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { factReader } from '../../support/payments/facts.ts'
import { capturedA, refundB, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

/** Ways in which a program that relays an event may write a whole number. */
const WAYS: ((digits: string) => string)[] = [
  digits => digits,
  digits => `${digits}.0`,
  digits => `${digits}.000`,
  digits => `${digits[0]}.${digits.slice(1)}0E${digits.length - 1}`,
  digits => `0.${digits}e+${digits.length}`,
  digits => `${digits}00e-2`,
]

t.test('an id is the same however its number is written, in SQL and TypeScript', async t => {
  const { db } = await freshDatabase(t)
  const digits = fc.bigInt({ min: 1n, max: 10n ** 25n }).map(String)
  const samples = fc.sample(digits, 200)
  const written = samples.flatMap(one => WAYS.map(way => way(one)))
  const meant = samples.flatMap(one => WAYS.map(() => one))
  t.same((parseExact(`[${written}]`) as unknown[]).map(textOf), meant)
  const { rows } = await sql<{ id: string }>`
    select base.text_of(number) as id
      from jsonb_array_elements(${`[${written}]`}::jsonb) with ordinality n (number, place) order by place`.execute(
    db,
  )
  t.same(
    rows.map(({ id }) => id),
    meant,
  )
})

t.test('a fraction in a text or a number stays, and so does the text of an id', async t => {
  const { db } = await freshDatabase(t)
  for (const [written, text] of [
    ['0.1', '0.1'],
    ['-12.50', '-12.50'],
    ['100.1', '100.1'],
    ['100.10', '100.10'],
    ['1.0010E2', '100.10'],
    ['1e-7', '0.0000001'],
    ['"487541537.0"', '487541537.0'],
    ['"4.8E8"', '4.8E8'],
    ['100', '100'],
    ['0', '0'],
  ] as const) {
    const { rows } = await sql`select base.text_of(${written}::jsonb) as text`.execute(db)
    t.same([textOf(parseExact(written)), rows], [text, [{ text }]], written)
  }
})

t.test('a loan that notes name by a number with a last zero is not the one without', async t => {
  const service = await paymentService(t)
  for (const id of ['100.1', '100.10']) await service.loan(id)
  const event = JSON.stringify(capturedA({ loan: 'L' })).replace('"L"', '100.10')
  await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await service.batch()
  t.match(await service.repayments(), [{ loanExternalId: '100.10' }])
})

t.test('a number with a decimal point names the payment, refund, dispute and loan', async t => {
  const factsOf = await factReader(t, 'gateway_b')
  const withPoints = (event: object) => JSON.stringify(event).replace(/:(48754153\d)\b/g, ':$1.0')
  t.match(await factsOf(withPoints(successB({ id: 487541537, tags: { loan_id: 487541538 } }))), [
    { payment_id: '487541537', external_loan_id: '487541538' },
  ])
  t.match(await factsOf(withPoints(refundB({ id: 487541536, of: 487541537 }))), [
    { payment_id: '487541536', of_payment_id: '487541537' },
  ])
  const dispute = { dispute_id: 487541535, dispute_status: 'DISPUTE_CREATED', dispute_amount: 1 }
  const data = { dispute, order_details: { cf_payment_id: 487541537 } }
  t.match(await factsOf(withPoints({ type: 'DISPUTE_CREATED', data })), [
    { payment_id: '487541535', of_payment_id: '487541537' },
  ])
})
