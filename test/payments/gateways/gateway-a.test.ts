import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { factReader } from '../../support/payments/facts.ts'
import { capturedA, disputeA, eventA, refundA } from '../../support/payments/gateway-events.ts'

const factsOf = await factReader(t, 'gateway_a')

const paid = {
  kind: 'payment',
  payment_id: 'pay_1',
  status: 'captured',
  currency: 'INR',
  paid_at: new Date('2026-02-05T10:00:00+05:30'),
  problem: null,
}
const notes = { external_loan_id: 'L-9' }

t.test('payment.captured says who paid what, when, on which loan; paise become rupees', async t => {
  matchEach(t, await factsOf(capturedA({ amount: 458_401, loan: 'L-1' })), [
    { ...paid, amount: '4584.01', external_loan_id: 'L-1' },
  ])
})

t.test(
  'each event that carries a captured payment is about that payment, and its own notes name the loan',
  async t => {
    const sum = { amount: 900_000, amount_paid: 900_000, notes }
    for (const [event, entity] of [
      ['order.paid', 'order'],
      ['payment_link.paid', 'payment_link'],
      ['payment_link.partially_paid', 'payment_link'],
      ['virtual_account.credited', 'virtual_account'],
      ['qr_code.credited', 'qr_code'],
      ['invoice.paid', 'invoice'],
      ['subscription.charged', 'subscription'],
    ] as const) {
      const said = await factsOf(eventA(event, { payload: { [entity]: { entity: sum } } }))
      matchEach(t, said, [{ ...paid, amount: '1000.00', external_loan_id: 'L-9' }], event)
    }
  },
)

t.test('the payment’s own notes take precedence over those of its order', async t => {
  const order = { entity: { notes } }
  matchEach(t, await factsOf(eventA('order.paid', { loan: 'L-1', payload: { order } })), [
    { external_loan_id: 'L-1' },
  ])
})

t.test('notes may be an empty list, an object, null, a text or full of other things', async t => {
  for (const [given, loan] of [
    [[], null],
    [null, null],
    ['external_loan_id', null],
    [['loan_id'], null],
    [{}, null],
    [{ loan_id: 'L-2' }, 'L-2'],
    [{ loan_id: 123456789012345 }, '123456789012345'],
    [{ external_loan_id: ' L-3 ' }, 'L-3'],
    [{ external_loan_id: '', loan_id: 'L-4' }, 'L-4'],
    [{ external_loan_id: { a: 1 } }, null],
    [{ customer_id: 'L-5' }, null],
  ]) {
    matchEach(
      t,
      await factsOf(eventA('payment.captured', { payment: { notes: given } })),
      [{ ...paid, external_loan_id: loan }],
      JSON.stringify(given),
    )
  }
})

t.test('other references are hints, and never name a loan', async t => {
  const [said] = await factsOf(
    eventA('payment_link.paid', {
      payment: { description: 'L-7', order_id: 'order_1' },
      payload: { payment_link: { entity: { notes: null, reference_id: 'L-8' } } },
    }),
  )
  t.equal(said?.external_loan_id, null)
  t.match(said?.hints, { description: 'L-7', order_id: 'order_1', reference_id: 'L-8' })
  t.notMatch(JSON.stringify(said?.hints), /email|contact/)
})

t.test('a payment that is only authorized, and an unknown type, are ignored', async t => {
  const authorized = { status: 'authorized', payment: { captured: true } }
  t.same(await factsOf(eventA('payment.authorized', authorized)), [])
  t.same(await factsOf({ event: 'settlement.processed', payload: { settlement: {} } }), [])
  t.same(await factsOf({ event: 'moon.risen' }), [])
  t.same(await factsOf({}), [])
  t.same(await factsOf({ event: 7, payload: 'x' }), [])
})

t.test('a loan’s name and ids are trimmed of blanks and invisible characters', async t => {
  for (const around of [
    ['', '\n'],
    ['\u00a0', ''],
    ['\u200b\ufeff', ' \t'],
  ]) {
    const put = (text: string) => around.join(text)
    const event = capturedA({ id: put('pay_1'), loan: put('L-1'), currency: put('INR') })
    matchEach(t, await factsOf(event), [{ ...paid, external_loan_id: 'L-1' }])
  }
})

t.test('cash on delivery is no captured money', async t => {
  for (const status of ['captured', 'pending'])
    for (const type of ['payment.captured', 'payment.pending', 'order.paid'])
      t.same(await factsOf(eventA(type, { status, payment: { method: 'cod' } })), [])
})

t.test('payment.failed is read as failed', async t => {
  matchEach(t, await factsOf(eventA('payment.failed', { status: 'failed' })), [
    { kind: 'payment', payment_id: 'pay_1', status: 'failed' },
  ])
})

t.test('a refund’s event describes the refund and its payment', async t => {
  matchEach(t, await factsOf(refundA({ payment: { loan: 'L-1' } })), [
    { ...paid, external_loan_id: 'L-1' },
    {
      kind: 'refund',
      payment_id: 'rfnd_1',
      of_payment_id: 'pay_1',
      status: 'done',
      amount: '1000.00',
    },
  ])
  matchEach(t, await factsOf(refundA()), [{ kind: 'refund', status: 'done' }])
  matchEach(t, await factsOf(refundA({ status: 'created' })), [{ status: 'open' }])
  matchEach(t, await factsOf(refundA({ status: 'failed' })), [{ status: 'undone' }])
})

t.test('a refund’s older event, without a status, means what its type says', async t => {
  const typed = async (status: string) => {
    const event: any = refundA({ status })
    delete event.payload.refund.entity.status
    return factsOf(event)
  }
  matchEach(t, await typed('processed'), [{ kind: 'refund', status: 'done' }])
  matchEach(t, await typed('failed'), [{ kind: 'refund', status: 'undone' }])
  t.same(await typed('created'), [])
})

t.test('a refund whose bank’s number arrives is the refund that it was', async t => {
  const whole = { status: 'refunded', payment: { captured: true } }
  const known = { ...refundA({ payment: whole }), event: 'refund.arn_updated' }
  matchEach(t, await factsOf(known), [paid, { kind: 'refund', status: 'done', amount: '1000.00' }])
})

t.test('a refund of a payment that was never captured is recognised', async t => {
  const never = { status: 'authorized', payment: { captured: false } }
  matchEach(t, await factsOf(refundA({ payment: never })), [
    { kind: 'refund', status: 'never_captured' },
  ])
  const whole = { status: 'refunded', payment: { captured: true } }
  matchEach(t, await factsOf(refundA({ payment: whole })), [
    paid,
    { kind: 'refund', status: 'done' },
  ])
})

t.test('a dispute is a chargeback: open, lost, or won', async t => {
  for (const [status, said] of [
    ['created', 'open'],
    ['under_review', 'open'],
    ['lost', 'done'],
    ['won', 'undone'],
    ['closed', 'undone'],
  ] as const) {
    matchEach(t, await factsOf(disputeA(status)), [
      paid,
      { kind: 'chargeback', payment_id: 'disp_1', of_payment_id: 'pay_1', status: said },
    ])
  }
})

t.test('a lost dispute that was fetched is at the time at which it was raised', async t => {
  const { payload }: any = disputeA('lost')
  payload.dispute.entity.created_at = paid.paid_at.getTime() / 1_000
  const fetched = { event: 'loanops.backfill', payload: { dispute: payload.dispute } }
  matchEach(t, await factsOf(fetched), [{ status: 'done', paid_at: paid.paid_at }])
})

t.test('a dispute that is closed while its money stays deducted is left to a person', async t => {
  const event: any = disputeA('closed')
  event.payload.dispute.entity.amount_deducted = 50_000
  matchEach(t, await factsOf(event), [paid, { kind: 'chargeback', status: 'open' }])
})

t.test('every amount is in the minor unit of its own currency', async t => {
  const inYen = { currency: 'JPY', amount: 29_500 }
  const inDinars = { currency: 'KWD', amount: 10_000 }
  const refund: any = refundA({ payment: inYen })
  const dispute: any = disputeA('lost', inYen)
  Object.assign(refund.payload.refund.entity, inDinars)
  Object.assign(dispute.payload.dispute.entity, inDinars)
  const yen = { currency: 'JPY', amount: '29500', problem: null }
  const dinars = { currency: 'KWD', amount: '10.000' }
  matchEach(t, await factsOf(refund), [yen, dinars])
  matchEach(t, await factsOf(dispute), [yen, dinars])
  const failed = eventA('payment.failed', { status: 'failed', ...inYen })
  matchEach(t, await factsOf(failed), [{ ...yen, status: 'failed' }])
  const unlisted = eventA('moon.risen', { status: 'risen', loan: 'L-1', ...inYen })
  matchEach(t, await factsOf(unlisted), [{ ...yen, problem: 'unknown_event' }])
  const [said] = await factsOf(capturedA({ ...inYen, payment: { base_amount: 1_770_000 } }))
  t.match(said?.hints, { base_amount: 17_700 }, 'what it is worth in rupees')
})

t.test('ids are texts, numbers beyond 2^53 keep every digit', async t => {
  const text = JSON.stringify(capturedA({ amount: 1, id: 2 }))
  const big = text.replace('"id":2', '"id":90071992547409931')
  matchEach(t, await factsOf(big.replace('"amount":1,', '"amount":12345678901234567,')), [
    { payment_id: '90071992547409931', amount: '123456789012345.67', problem: 'amount_invalid' },
  ])
  matchEach(t, await factsOf(big.replace('"amount":1,', '"amount":999999999999999,')), [
    { amount: '9999999999999.99', problem: null },
  ])
})

t.test('the last of two equal keys counts, as for other JSON parsers', async t => {
  const text = JSON.stringify(capturedA()).replace('"amount":100000', '"amount":1,"amount":200')
  matchEach(t, await factsOf(text), [{ amount: '2.00' }])
})

t.test('a number that is not a valid amount of money is amount_invalid', async t => {
  for (const amount of [0, -100, 0.5, 100.5, 1e20]) {
    matchEach(
      t,
      await factsOf(capturedA({ amount })),
      [{ payment_id: 'pay_1', problem: 'amount_invalid' }],
      String(amount),
    )
  }
})

t.test('a hint with more digits than an amount can have is left out', async t => {
  const text = JSON.stringify(capturedA({ payment: { base_amount: 5, customer_id: 'cust_1' } }))
  matchEach(t, await factsOf(text.replace('"base_amount":5', '"base_amount":1e130000')), [
    { problem: null, hints: { customer_id: 'cust_1', base_amount: undefined } },
  ])
})

t.test('a text that PostgreSQL cannot store does not hide the payment', async t => {
  const event = JSON.stringify(capturedA({ loan: 'L-1', payment: { description: 'to ODD' } }))
  const shown = {
    '\\ud83d': 'to \ufffd',
    'A\\u0000B': 'to A\ufffeB',
    '\\ud83d\\ude00\\ude00': 'to \u{1f600}\ufffd',
  }
  const odd = Object.entries({
    ...shown,
    '\\uDE00': 'to \ufffd',
    '\\u0000\\u0000': 'to',
    'A\xffB': 'to A\ufffdB',
    'A\x00\\\\000B': 'to A \\000B',
    'A\r\nB\x1f': 'to A  B',
  })
  for (const [text, description] of odd)
    for (const many of text.includes('\xff') ? [text] : [text, text.repeat(2_000)])
      matchEach(
        t,
        await factsOf(Buffer.from(event.replace('ODD', many), 'latin1')),
        [
          {
            ...paid,
            amount: '1000.00',
            external_loan_id: 'L-1',
            hints: many === text ? { description } : null,
          },
        ],
        many.slice(0, 20),
      )
})

t.test('an id is read without a NUL at its end, and not at all with one inside', async t => {
  const [event, refund] = [capturedA({ id: 'ODD', loan: 'L-1' }), refundA({ id: 'ODD' })]
  const read = (one: object, id: string) => factsOf(JSON.stringify(one).replace('ODD', id))
  matchEach(t, await read(event, 'pay_1\\u0000\\u0000'), [{ payment_id: 'pay_1', problem: null }])
  matchEach(t, await read(refund, 'rfnd_1\\u0000'), [{ payment_id: 'rfnd_1', problem: null }])
  matchEach(t, await read(event, 'pay\\u00001'), [{ payment_id: null, problem: 'unreadable' }])
})

t.test('`.` and `..`, which every URL resolves, are no ids', async t => {
  for (const id of ['.', '..', ' .. ']) {
    const read = (event: object) => factsOf(JSON.stringify(event))
    matchEach(t, await read(capturedA({ id, loan: 'L-1' })), [
      { payment_id: null, external_loan_id: 'L-1', problem: 'unreadable' },
    ])
    matchEach(t, await read(refundA({ id })), [{ payment_id: null, problem: 'unreadable' }])
    matchEach(t, await read(capturedA({ id: '...', loan: id })), [
      { payment_id: '...', external_loan_id: id.trim(), problem: null },
    ])
  }
})

t.test('the name of a loan with a damaged character at its end names no other loan', async t => {
  const event = JSON.stringify(capturedA({ loan: 'L-1ODD' }))
  for (const damaged of ['\xff', '\\ud800'])
    matchEach(t, await factsOf(Buffer.from(event.replace('ODD', damaged), 'latin1')), [
      { payment_id: 'pay_1', external_loan_id: 'L-1\ufffd', problem: null },
    ])
})

t.test('a loan is found by its name in a body that is damaged elsewhere', async t => {
  const event = JSON.stringify(capturedA({ loan: 'L-1ODD', payment: { description: 'HERE' } }))
  const blanks = [...'\u00a0\u00ad\u061c\u1680\u180e\u200b\u202f\u2060\u3000\ufeff']
  const named = [
    ...blanks.map(blank => [blank, '']),
    ...['é', 'ऋण', '僵', '😀'].map(one => [one, one]),
  ]
  for (const [odd = '', kept] of named)
    for (const damaged of ['\xff', '\xe0\xa4', '\xf0\x9f\x98', '\xed\xa0\x80', '\xc0\x80']) {
      const [before, after] = event.replace('ODD', odd).split('HERE') as [string, string]
      const bytes = Buffer.from(damaged, 'latin1')
      const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
      matchEach(t, await factsOf(body), [{ external_loan_id: `L-1${kept}`, problem: null }])
    }
})

t.test('a body that cannot be read shows the id of its payment', async t => {
  const cut = JSON.stringify(capturedA()).slice(0, -1)
  matchEach(t, await factsOf(cut), [{ problem: 'unreadable', hints: { payment_id: 'pay_1' } }])
})

t.test('malformed events are classified as unreadable without raising an error', async t => {
  const whole = JSON.stringify(capturedA({ amount: 1 }))
  const unreadable = [
    { kind: 'payment', payment_id: null, status: 'captured', problem: 'unreadable' },
  ]
  for (const body of [
    whole.replace('"amount":1,', '"amount":"many",'),
    whole.replace('"amount":1,', '"amount":1e999999,'),
    // PostgreSQL could store these, and every answer would repeat their digits.
    whole.replace('"amount":1,', '"amount":1e130000,'),
    whole.replace('"amount":1,', '"amount":1e-16000,'),
    whole.replace('"amount":1,', '"amount":null,'),
    whole.replace('"amount":1,', ''),
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    'no json at all',
    '',
    { event: 'payment.captured' },
    { event: 'order.paid', payload: { order: {} } },
    { event: 'refund.processed', payload: {} },
    { event: 'payment.dispute.lost', payload: {} },
  ]) {
    t.match(await factsOf(body), unreadable, String(body).slice(0, 60))
  }
  for (const payment of [
    { created_at: null },
    { created_at: 'now' },
    { created_at: -1 },
    { created_at: 1e18 },
    { id: null },
    { id: '' },
    { id: {} },
    { id: 'x'.repeat(300_000) },
  ]) {
    const said = await factsOf(eventA('payment.captured', { payment }))
    matchEach(t, said, [{ problem: 'unreadable' }], JSON.stringify(payment).slice(0, 60))
  }
})
