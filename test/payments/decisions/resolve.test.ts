import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { asPerson } from '../../support/accounts/as-person.ts'
import { matchEach } from '../../support/match-each.ts'
import {
  capturedA,
  disputeA,
  eventA,
  PAID_AT,
  refundA,
} from '../../support/payments/gateway-events.ts'
import {
  disburse,
  ownLoan,
  type PaymentService,
  paymentService,
  sent,
} from '../../support/payments/payments.ts'

const DOWN = [{ kind: 'error', status: 502, match: { on: 'reads' } }]
const POST = {
  outcome: 'post',
  external_loan_id: 'L-1',
  amount: 990,
  paid_on: '06 February 2026',
  note: 'less the fee',
}
const HANDLED = { outcome: 'handled', note: 'booked by hand' }
const DISMISS = { outcome: 'dismiss', note: 'a forgery' }

/** All tests share this service but those with unreadable events, which could be the money of any payment. */
const service = await paymentService(t)

const sender =
  (service: PaymentService, own: string) =>
  (events: unknown[], id = own) =>
    sent(service, events, id)

async function withLoan(t: Test) {
  const service = await paymentService(t)
  await service.loan('L-1')
  return { ...service, sent: sender(service, 'pay_1') }
}

/** The ids of a payment that no other test has, and of its loan, to which `post` posts it. */
async function ownPayment() {
  const { id, loan } = await ownLoan(service)
  return { id, loan, sent: sender(service, id), post: { ...POST, external_loan_id: loan } }
}

/** A repayment that a person books. @returns its id */
async function book(loan: string, { amount = 100, name = 'by-hand' } = {}) {
  const { body } = await service.bookAt(loan, amount, { externalId: `${name}-${loan}` })
  return body.resourceId as number
}

t.test('an unreadable event that was booked keeps its payment from being posted again', async t => {
  const service = await withLoan(t)
  const unreadable = capturedA({ amount: 'ten' })
  await service.sent([unreadable])
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  t.equal((await service.resolve(id, POST, '', await asPerson(service))).status, 200)
  await service.batch()
  t.match(await service.ended(id), { state: 'posted' })
  t.match(await service.sent([capturedA()]), { state: 'suspense', reason: 'events_disagree' })
  t.equal((await service.repayments()).length, 1)
})

t.test('an unreadable event booked by hand and reopened still holds its payment', async t => {
  const service = await withLoan(t)
  await service.sent([capturedA({ amount: 'ten' })])
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  for (const resolution of [HANDLED, { outcome: 'reopen', note: 'by mistake' }])
    t.equal((await service.resolve(id, resolution)).status, 200)
  t.match(await service.sent([capturedA()]), { state: 'suspense', reason: 'events_disagree' })
  t.same(await service.repayments(), [])
})

t.test('an unreadable event is booked under the id of its payment', async t => {
  const service = await withLoan(t)
  await service.sent([capturedA({ amount: 'ten' })])
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  await service.resolve(id, POST, '', await asPerson(service))
  await service.batch()
  matchEach(t, await service.repayments(), [{ externalId: 'gateway_a-pay_1' }])
})

t.test(
  'a payment that may be the money of a booked event without an id is held, and names that event',
  async t => {
    const service = await withLoan(t)
    await service.sent([capturedA({ id: null })])
    const { body } = await service.call('GET', '/api/payments?reason=unreadable')
    const id = body.payments[0].gateway_payment_id
    t.equal((await service.resolve(id, POST, '', await asPerson(service))).status, 200)
    await service.batch()
    const held = { state: 'suspense', reason: 'events_disagree', detail: new RegExp(id) }
    const same = { amount: POST.amount * 100, payment: { created_at: PAID_AT + 86_400 } }
    for (const [i, named] of [{ loan: POST.external_loan_id }, {}].entries())
      t.match(
        await service.sent([capturedA({ id: `pay_1${i}`, ...named, ...same })], `pay_1${i}`),
        held,
      )
    const other = capturedA({ id: 'pay_3', loan: POST.external_loan_id, ...same, amount: 1 })
    t.match(await service.sent([other], 'pay_3'), { state: 'posted' })
    t.equal((await service.repayments()).length, 2)
  },
)

t.test('an undecided payment is held as soon as its money may have been booked', async t => {
  const service = await withLoan(t)
  await service.loan('L-late', { until: 'approved' })
  const loan = 'L-late'
  const same = { amount: 100_000, paid_on: '05 February 2026' }
  await service.sent([capturedA({ loan }), capturedA({ id: 'pay_2' }), capturedA({ id: null })])
  t.match((await service.payment('pay_1')).payment, { reason: 'loan_not_active' })
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  const post = { ...POST, external_loan_id: loan, amount: same.amount / 100, paid_on: same.paid_on }
  t.equal((await service.resolve(id, post, '', await asPerson(service))).status, 200)
  const held = { state: 'suspense', reason: 'events_disagree', detail: new RegExp(id) }
  t.match((await service.payment('pay_1')).payment, held, 'before any batch')
  t.match((await service.payment('pay_2')).payment, held, 'one that names no loan')
  await disburse(service, loan)
  await service.batch()
  t.match(await service.ended(id), { state: 'posted' })
  t.equal((await service.repayments()).length, 1)
})

t.test('an unreadable event is not booked beside its payment or another event of it', async t => {
  const service = await withLoan(t)
  await service.sent([capturedA({ amount: 'ten' }), capturedA({ amount: 'eleven' })])
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const [first, second] = body.payments.map(({ gateway_payment_id: id }: any) => id)
  t.equal((await service.resolve(first, HANDLED)).status, 200)
  const person = await asPerson(service)
  const refused = await service.resolve(second, POST, '', person)
  t.match(refused, { status: 409, body: { detail: new RegExp(first) } })
  t.equal((await service.resolve(second, DISMISS)).status, 200)
  await service.sent(
    [capturedA({ id: 'pay_2' }), capturedA({ id: 'pay_2', amount: 'ten' })],
    'pay_2',
  )
  const later = await service.call('GET', '/api/payments?reason=unreadable')
  const third = later.body.payments[0].gateway_payment_id
  t.match(await service.resolve(third, POST, '', person), {
    status: 409,
    body: { detail: /gateway_a\/pay_2/ },
  })
})

t.test('a payment whose amount is not known is posted by a person alone', async t => {
  const service = await withLoan(t)
  await service.sent([capturedA({ amount: 'ten' }), capturedA({ id: 'pay_2' })])
  const { body } = await service.call('GET', '/api/payments?reason=unreadable')
  const id = body.payments[0].gateway_payment_id
  const refused = { status: 403, body: { code: 'PERSON_REQUIRED', detail: /payment\.post/ } }
  t.match(await service.resolve(id, POST), refused)
  t.match((await service.payment(id)).payment, { state: 'suspense', reason: 'unreadable' })
  t.match(await service.resolve('pay_2', POST), { status: 200 })
  t.match(await service.resolve(id, POST, '', await asPerson(service)), { status: 200 })
})

t.test('money that was posted for one payment does not stand for another', async t => {
  const { id, loan, sent } = await ownPayment()
  const second = `${id}_2`
  const ours = await sent([capturedA({ id, loan })])
  await sent([capturedA({ id: second })], second)
  const naming = { external_loan_id: loan, ledger_transaction_id: ours.ledger_transaction_id }
  t.match(await service.resolve(second, { ...HANDLED, ...naming }), {
    status: 409,
    body: { detail: new RegExp(`was posted for gateway_a/${id}`) },
  })
})

t.test('a transaction stands for several payments up to its amount, and for no more', async t => {
  const { id, loan, sent } = await ownPayment()
  const ids = [1, 2, 3].map(n => `${id}_${n}`)
  for (const one of ids) await sent([capturedA({ id: one })], one)
  // Two payments of 1,000, less the fees that their payers bore.
  const sum = await book(loan, { amount: 1960 })
  const handled = (one = '', transaction = sum) =>
    service.resolve(one, { ...HANDLED, external_loan_id: loan, ledger_transaction_id: transaction })
  for (const one of ids.slice(0, 2)) t.match(await handled(one), { status: 200 })
  t.match(await handled(ids[2]), {
    status: 409,
    body: {
      detail: `The transaction ${sum} of 1960 was booked for gateway_a/${id}_1, gateway_a/${id}_2`,
    },
  })
  t.match(await service.resolve(`${id}_1`, { outcome: 'reopen', note: 'the wrong one' }), {
    status: 200,
  })
  t.match(await handled(ids[2]), { status: 200 })
  const single = await book(loan, { amount: 1000, name: 'single' })
  t.match(await handled(ids[0], single), { status: 200 })
})

t.test('a transaction stands for no further payment than what is left of it covers', async t => {
  const { id, loan, sent } = await ownPayment()
  const name = (n: number) => `${id}_${n}`
  const withFee = { payment: { fee_bearer: 'customer', fee: 20_000 } }
  const paid = [70_000, 50_000, 100_000, 100_000].map((amount, n) => ({ id: name(n), amount }))
  for (const one of paid) await sent([capturedA(one)], one.id)
  await sent([capturedA({ id: name(4), amount: 100_000, ...withFee })], name(4))
  const handled = async (n: number, ledger_transaction_id: number) => {
    const { status, body } = await service.resolve(name(n), {
      ...HANDLED,
      external_loan_id: loan,
      ledger_transaction_id,
    })
    return [status, status === 409 ? body.detail : body.state]
  }
  const first = await book(loan, { amount: 1000, name: 'first' })
  t.same(await handled(0, first), [200, 'handled'])
  const rest = 'the 300 left of it is less than the 500 paid'
  const of = `The transaction ${first} of 1000 was booked for gateway_a/${name(0)}`
  t.same(await handled(1, first), [409, `${of}: ${rest}`])
  const sum = await book(loan, { amount: 1800, name: 'sum' })
  t.same(await handled(2, sum), [200, 'handled'])
  t.match(await handled(3, sum), [409, /the 800 left of it is less than the 1000 paid$/])
  t.same(await handled(4, sum), [200, 'handled'], 'its payer bore a fee of 200')
  const part = await book(loan, { amount: 1, name: 'part' })
  t.same(await handled(3, part), [200, 'handled'], 'the rest may be booked elsewhere')
})

t.test('each error of a resolution names its field', async t => {
  const { id, loan, sent, post } = await ownPayment()
  await sent([capturedA({ id })])
  const { note: _, ...noteless } = post
  for (const [body, ...paths] of [
    ['[]', ''],
    ['{}', '/outcome'],
    [{ ...post, outcome: 'book' }, '/outcome'],
    [{ ...post, outcome: { toString: 1, valueOf: 1 } }, '/outcome'],
    [{ outcome: 'post', note: 'x' }, '/external_loan_id', '/amount', '/paid_on'],
    [{ ...post, amount: '990' }, '/amount'],
    [{ ...post, amount: 0 }, '/amount'],
    [{ ...post, amount: 9.999 }, '/amount'],
    [{ ...post, amount: 1000.01 }, '/amount'],
    [{ ...post, paid_on: '2026-02-06' }, '/paid_on'],
    [{ ...post, paid_on: '30 February 2026' }, '/paid_on'],
    [{ ...post, external_loan_id: '..' }, '/external_loan_id'],
    [noteless, '/note'],
    [{ ...post, note: '' }, '/note'],
    [{ ...post, note: 'x'.repeat(1001) }, '/note'],
    [{ ...post, ledger_transaction_id: 1 }, '/ledger_transaction_id'],
    [{ ...HANDLED, amount: 1 }, '/amount'],
    [{ ...HANDLED, ledger_transaction_id: '0' }, '/ledger_transaction_id'],
    [{ ...HANDLED, ledger_transaction_id: 1.5 }, '/ledger_transaction_id'],
    [{ ...HANDLED, ledger_transaction_id: 1 }, '/external_loan_id'],
    [{ ...DISMISS, external_loan_id: loan }, '/external_loan_id'],
  ] as const) {
    const { status, body: told } = await service.resolve(id, body as object)
    const named = told.errors?.map((error: any) => error.path).sort()
    t.same({ status, named }, { status: 400, named: [...paths].sort() }, JSON.stringify(body))
  }
  t.match((await service.payment(id)).payment, { state: 'suspense', reason: 'no_loan_named' })
})

t.test('more than was captured may be posted only in another currency', async t => {
  const { id, loan, sent, post } = await ownPayment()
  await sent([capturedA({ id }), capturedA({ id: 'pay_usd', currency: 'USD', loan })])
  const more = { ...post, amount: 83_000 }
  t.match(await service.resolve(id, more), { status: 400, body: { errors: [{ path: '/amount' }] } })
  t.match(await service.resolve(id, { ...more, external_loan_id: 'L-none' }), {
    status: 400,
    body: { errors: [{ path: '/external_loan_id' }] },
  })
  await service.faults(DOWN)
  t.match(await service.resolve(id, more), { status: 503, body: { code: 'UNAVAILABLE' } })
  await service.faults([])
  t.match(await service.resolve('pay_usd', more), {
    status: 200,
    body: { state: 'waiting', amount: '1000.00', currency: 'USD' },
  })
  t.match(await sent([], 'pay_usd'), { state: 'posted', amount: '1000.00' })
  matchEach(t, await service.repayments(loan), [{ amount: '83000.00', date: '2026-02-06' }])
})

t.test('a decision about a payment that something else is changing says so', async t => {
  const { id, sent } = await ownPayment()
  await sent([capturedA({ id })])
  await service.db.transaction().execute(async trx => {
    await sql`select from core.transaction where gateway_payment_id = ${id} for update`.execute(trx)
    const { status, body } = await service.resolve(id, DISMISS)
    t.match({ status, body }, { status: 503, body: { detail: /another change .* Try again$/ } })
  })
})

t.test('handled: the named transaction must be on the loan and not reversed', async t => {
  const { id, loan, sent } = await ownPayment()
  const second = `${id}_2`
  const { loan: other } = await ownLoan(service)
  await sent([capturedA({ id, loan: 'L-none' }), capturedA({ id: second, loan: 'L-none' })])
  const standing = await book(loan)
  const own = await book(loan, { name: 'another' })
  const undone = await book(other)
  await service.undoAt(other, `by-hand-${other}`)
  const handled = (ledger_transaction_id: unknown, external_loan_id?: string) =>
    service.resolve(id, {
      ...HANDLED,
      ledger_transaction_id,
      ...(external_loan_id === undefined ? {} : { external_loan_id }),
    })
  t.equal((await handled(standing)).status, 409, 'the ledger has no such loan')
  t.equal((await handled(standing, other)).status, 409, 'it is on another loan')
  t.equal((await handled(undone, other)).status, 409, 'it was undone')
  await service.faults(DOWN)
  t.match(await handled(standing, loan), { status: 503, body: { code: 'UNAVAILABLE' } })
  await service.faults([])
  const done = {
    state: 'handled',
    reason: null,
    external_loan_id: loan,
    ledger_transaction_id: String(standing),
  }
  t.match(await handled(String(standing), loan), { status: 200, body: done })
  t.equal((await handled(standing, loan)).status, 409, 'it is no longer in suspense')

  await sql`
    update core.transaction set named_loan_id = ${loan}
     where gateway_payment_id = ${second}`.execute(service.db)
  t.match(
    await service.resolve(second, { ...HANDLED, ledger_transaction_id: own }),
    { status: 200, body: { ...done, ledger_transaction_id: String(own) } },
    'the payment’s own loan',
  )
})

t.test('handled: a disbursement has taken no payer’s money', async t => {
  const { id, loan, sent } = await ownPayment()
  await sent([capturedA({ id })])
  const { transactions } = await service.books()
  const disbursed = transactions.find(
    one => one.loanExternalId === loan && one.type === 'disbursement',
  )
  t.match(
    await service.resolve(id, {
      ...HANDLED,
      external_loan_id: loan,
      ledger_transaction_id: disbursed?.id,
    }),
    {
      status: 409,
      body: { detail: `Transaction ${disbursed?.id} (Disbursement) takes no payer’s money` },
    },
  )
})

t.test('a part of a refunded payment is posted, and only a later refund objects to it', async t => {
  const { id, loan, sent, post } = await ownPayment()
  const held = await sent([
    capturedA({ id, loan, amount: 1_000_000 }),
    refundA({ id: `rfnd_${id}`, of: id }),
  ])
  t.match(held, { state: 'suspense', reason: 'refund' })
  t.match(await service.resolve(id, { ...post, amount: 9_900 }), {
    status: 200,
    body: { state: 'waiting', amount: '10000.00', objection: null },
  })
  t.match(await sent([]), { state: 'posted', amount: '10000.00', objection: null })
  matchEach(t, await service.repayments(loan), [
    { externalId: `gateway_a-${id}`, amount: '9900.00', date: '2026-02-06', receiptNumber: id },
  ])
  t.match(await sent([refundA({ id: `again_${id}`, of: id })]), {
    state: 'posted',
    objection: 'refund',
  })
  const { rows } = await sql`
    select actor, subject, detail from ops.audit
     where action = 'payment.resolve' and subject = ${`gateway_a/${id}`}`.execute(service.db)
  matchEach(t, rows, [
    {
      actor: 'internal-token',
      subject: `gateway_a/${id}`,
      detail: { outcome: 'post', amount: 9900, note: 'less the fee', reason: 'refund' },
    },
  ])
})

t.test('later events of a decided payment change nothing, and object once', async t => {
  const { loan, sent, post } = await ownPayment()
  const { loan: other } = await ownLoan(service)
  const ways = { pay_post: post, pay_handled: HANDLED, pay_dismiss: DISMISS }
  const ids = Object.keys(ways)
  await sent(ids.map(id => capturedA({ id })))
  for (const [id, way] of Object.entries(ways)) await service.resolve(id, way)
  const later = (change: (id: string) => object) => sent(ids.map(change))
  const states = async () => {
    const found = await Promise.all(ids.map(id => service.payment(id)))
    return found.map(({ payment }) =>
      [payment.state, payment.external_loan_id, payment.amount, payment.objection].join(' '),
    )
  }
  await later(id => eventA('order.paid', { id, amount: 7, loan: other }))
  t.same(await states(), [
    `posted ${loan} 1000.00 events_disagree`,
    'handled  1000.00 events_disagree',
    'dismissed  1000.00 events_disagree',
  ])
  await later(id => refundA({ id: `r_${id}`, of: id }))
  t.match((await states()).join(), /posted.*refund.*handled.*refund.*dismissed.*refund/)
  for (const id of ids)
    t.match(await service.resolve(id, HANDLED), { body: { objection: null } }, id)
  await later(id => eventA('payment_link.paid', { id, amount: 7, loan: other }))
  t.same(await states(), [`posted ${loan} 1000.00 `, 'handled  1000.00 ', 'dismissed  1000.00 '])
  await later(id => ({ ...disputeA('created', { id }), id }))
  t.equal((await states())[0], `posted ${loan} 1000.00 chargeback`)
  matchEach(t, await service.repayments(loan), [{ amount: '990.00' }])
})

t.test('a genuine event of a payment that was dismissed as unverified objects', async t => {
  const { id, loan, sent } = await ownPayment()
  await sent([capturedA({ id, loan: 'L-none' })])
  await service.resolve(id, DISMISS)
  t.match(await sent([eventA('order.paid', { id, loan: 'L-none' })]), { objection: null })
  t.match(await sent([eventA('order.paid', { id, loan })]), {
    state: 'dismissed',
    objection: 'events_disagree',
  })
})

t.test('a refund does not stop what an operator has decided to post', async t => {
  const { id, loan, sent, post } = await ownPayment()
  await sent([capturedA({ id })])
  await service.resolve(id, post)
  await service.faults([{ kind: 'locked', match: { on: 'writes' } }])
  t.match(await sent([]), { waiting_for: 'ledger_busy' })
  t.match(await sent([refundA({ id: `rfnd_${id}`, of: id })]), { objection: 'refund' })
  t.equal((await service.resolve(id, HANDLED)).status, 409, 'it is on its way')
  await service.faults([])
  t.match(await service.ended(id), { state: 'posted', objection: 'refund' })
  matchEach(t, await service.repayments(loan), [{ amount: '990.00' }])
})

t.test('a decided payment that the ledger refuses can be retried, or decided again', async t => {
  const { id, loan, sent, post } = await ownPayment()
  const second = `${id}_2`
  for (const name of ['L-late', 'L-never']) await service.loan(name, { until: 'approved' })
  await sent([capturedA({ id }), capturedA({ id: second })])
  await service.resolve(id, { ...post, external_loan_id: 'L-late' })
  await service.resolve(second, { ...post, external_loan_id: 'L-never' })
  const refused = { state: 'suspense', reason: 'loan_not_active', next_try_at: String }
  t.match(await sent([]), refused)
  t.match((await service.payment(second)).payment, refused)
  await disburse(service, 'L-late')
  t.match(await service.resolve(second, { ...post, amount: 980 }), { status: 200 })
  t.match(await sent([]), { state: 'posted', external_loan_id: 'L-late' })
  const booked = [...(await service.repayments(loan)), ...(await service.repayments('L-late'))]
  t.same(
    booked.map(one => `${one.loanExternalId} ${one.amount}`),
    [`${loan} 980.00`, 'L-late 990.00'],
  )
})

t.test('a repayment whose answer was lost is found by the decided amount and day', async t => {
  const { id, loan, sent, post } = await ownPayment()
  await sent([capturedA({ id })])
  await service.resolve(id, post)
  await service.loseAnswer()
  t.match(await sent([]), { waiting_for: 'outcome_unknown' })
  t.equal((await service.resolve(id, DISMISS)).status, 409)
  await service.faults([])
  t.match(await service.ended(id), { state: 'posted' })
  matchEach(t, await service.repayments(loan), [{ amount: '990.00' }])
})

t.test('a repayment of the decided amount and day in the ledger is taken as done', async t => {
  const { id, loan, sent, post } = await ownPayment()
  const second = `${id}_2`
  await sent([capturedA({ id }), capturedA({ id: second })])
  const booked = (externalId: string, transactionDate: string) =>
    service.bookAt(loan, 990, { externalId, transactionDate })
  await booked(`gateway_a-${id}`, '2026-02-06')
  // This is the event's day, but not the operator's.
  await booked(`gateway_a-${second}`, '2026-02-05')
  for (const one of [id, second]) await service.resolve(one, post)
  const [first] = await service.repayments(loan)
  t.match(await sent([]), { state: 'posted', ledger_transaction_id: String(first?.id) })
  t.match((await service.payment(second)).payment, {
    state: 'suspense',
    reason: 'ledger_refused',
    detail: /date is 05 February 2026 there, not 06 February 2026/,
  })
  t.equal((await service.repayments(loan)).length, 2)
})

t.test('an amount that the ledger would round is held until a person decides again', async t => {
  const { id, sent, post } = await ownPayment()
  await fetch(`${service.ledger.controlUrl}/rounding`, {
    method: 'PUT',
    body: JSON.stringify({ product: 3, decimalPlaces: 0, inMultiplesOf: 50 }),
  })
  await service.loan('L-whole', { product: 3 })
  await sent([capturedA({ id })])
  await service.resolve(id, { ...post, external_loan_id: 'L-whole' })
  t.match(await sent([]), { state: 'suspense', reason: 'amount_invalid', next_try_at: null })
  await service.resolve(id, { ...post, external_loan_id: 'L-whole', amount: 950 })
  t.match(await sent([]), { state: 'posted' })
})

t.test('a payment that is neither in suspense nor objected to cannot be resolved', async t => {
  const { id, loan, sent, post } = await ownPayment()
  await sent([capturedA({ id, loan }), refundA({ id: 'rfnd_9', of: 'pay_other' })])
  for (const way of [post, HANDLED, DISMISS]) {
    t.match(await service.resolve(id, way), { status: 409, body: { code: 'CONFLICT' } })
    t.match(await service.resolve('pay_none', way), { status: 404, body: { code: 'NOT_FOUND' } })
  }
  t.equal((await service.resolve('rfnd_9', DISMISS, '?kind=payment')).status, 404)
  t.equal((await service.resolve('rfnd_9', DISMISS, '?kind=refund')).status, 200)
})
