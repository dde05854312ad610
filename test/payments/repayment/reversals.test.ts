import { sql } from 'kysely'
import t from 'tap'
import { gatewaySandbox } from '../../support/books/gateways.ts'
import { filled, reconciliation } from '../../support/books/reconciliation.ts'
import { callbackReceiver } from '../../support/callbacks/callback-receiver.ts'
import { delay, hurry } from '../../support/engine/operations.ts'
import { capturedA, successB } from '../../support/payments/gateway-events.ts'
import { REPAY } from '../../support/payments/repaid-loan.ts'
import {
  AUTOMATIC,
  dispute,
  disputeOfB,
  MANUAL,
  refund,
  refundOfB,
  reversing,
} from '../../support/payments/reversals.ts'

t.test('each kind of a gateway’s events leaves the right balance at the ledger', async t => {
  const service = await reversing(t)
  const at = (id: string) => ({ id: `rfnd_${id}`, of: id, paise: 30_000 })
  const disputed = (id: string) => ({ id: `disp_${id}`, of: id, paise: 30_000 })
  const ofA: Record<string, [object[], number]> = {
    created: [[refund({ ...at('created'), status: 'created' })], 1000],
    processed: [[refund(at('processed'))], 700],
    both: [[refund({ ...at('both'), status: 'created' }), refund(at('both'))], 700],
    failed: [[refund({ ...at('failed'), status: 'failed' })], 1000],
    faster: [[refund({ ...at('faster'), name: 'refund.speed_changed' })], 700],
    opened: [[dispute('created', disputed('opened'))], 1000],
    reviewed: [[dispute('under_review', disputed('reviewed'))], 1000],
    won: [[dispute('created', disputed('won')), dispute('won', disputed('won'))], 1000],
    lost: [[dispute('created', disputed('lost')), dispute('lost', disputed('lost'))], 700],
    partly: [
      [
        dispute('created', disputed('partly')),
        dispute('lost', { ...disputed('partly'), deducted: 10_000 }),
      ],
      900,
    ],
    closed: [[dispute('closed', disputed('closed'))], 1000],
  }
  const ofB: Record<number, [object[], number]> = {
    1: [[refundOfB(300, { id: 901, of: 1 })], 700],
    2: [[refundOfB(300, { id: 902, of: 2, status: 'PENDING' })], 1000],
    3: [[refundOfB(300, { id: 903, of: 3, status: 'CANCELLED' })], 1000],
    4: [[refundOfB(300, { id: 904, of: 4, type: 'PAYMENT_AUTO_REFUND' })], 700],
    5: [[disputeOfB('DISPUTE_CREATED', 300, 5)], 1000],
    6: [[disputeOfB('DISPUTE_CREATED', 300, 6), disputeOfB('DISPUTE_MERCHANT_LOST', 300, 6)], 700],
    7: [[disputeOfB('CHARGEBACK_MERCHANT_ACCEPTED', 300, 7)], 700],
    8: [[disputeOfB('DISPUTE_CREATED', 300, 8), disputeOfB('DISPUTE_MERCHANT_WON', 300, 8)], 1000],
  }
  for (const id of Object.keys(ofA)) await service.signed(capturedA({ id, loan: 'L-1' }))
  for (const id of Object.keys(ofB))
    await service.signed(successB({ id: Number(id), loan: 'L-1', amount: 1000 }))
  await service.batch()
  for (const [events] of [...Object.values(ofA), ...Object.values(ofB)])
    for (const event of events) await service.signed(event)
  await service.batch()
  const expected = [...Object.entries(ofA), ...Object.entries(ofB)].map(([id, [, amount]]) => [
    amount === 1000 ? id : `${id}-r2`,
    amount,
  ])
  t.same(await service.standing(), Object.fromEntries(expected))
  t.match(
    (await service.repayments()).find(one => one.externalId === 'gateway_a-lost-r2'),
    { receiptNumber: 'lost', date: '2026-02-05' },
  )
})

t.test(
  'partial refunds come off one after the other, and what is more than stands waits for a person',
  async t => {
    const receiver = await callbackReceiver(t)
    const service = await reversing(t, undefined, receiver.settings)
    await service.signed(capturedA({ loan: 'L-1' }))
    await service.batch()
    for (const [i, paise] of [10_001, 20_000, 30_000].entries())
      await service.signed(refund({ id: `rfnd_${i}`, paise }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['posted', null, null, '600.01'])
    t.same(await service.standing(), { 'pay_1-r4': 399.99 })

    await service.signed(refund({ id: 'rfnd_more', paise: 40_000 }))
    await service.batch()
    t.same(await service.shown('rfnd_more'), ['suspense', 'refund', null, null])
    const { payment } = await service.payment('rfnd_more')
    t.match(payment.detail, /400 INR is more than the 399.99/)
    t.match(await service.decide('rfnd_more', 'reverse'), {
      status: 409,
      body: { detail: /399.99/ },
    })
    await service.decide('rfnd_more', 'dismiss')

    await service.signed(refund({ id: 'rfnd_rest', paise: 39_999 }))
    await service.batch()
    t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
    t.same(await service.standing(), {})
    t.match(await service.readBack(), { payments: 1, reversed: 0, missing: 0 })
    await receiver.attempts(13)
    t.same(
      receiver.received
        .filter(one => one.body.data.kind === 'payment')
        .map(one => [one.body.type, one.body.data.returned_amount]),
      [
        ['payment.posted', null],
        ['payment.reversed', '100.01'],
        ['payment.reversed', '300.01'],
        ['payment.reversed', '600.01'],
        ['payment.objected', '600.01'],
        ['payment.reversed', '1000.00'],
        ['payment.returned', '1000.00'],
      ],
    )
  },
)

t.test('by hand, an operator reverses what no setting books', async t => {
  const service = await reversing(t, MANUAL)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.signed(refund({ paise: 25_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, 'refund', null])
  t.match(await service.decide('pay_1', 'reverse'), { status: 409 })
  t.match(await service.decide('rfnd_1', 'restore'), { status: 409 })
  t.match(await service.decide('rfnd_1', 'reverse'), {
    status: 200,
    body: { state: /posting|waiting/ },
  })
  await service.ended('rfnd_1')
  t.same(await service.shown('pay_1'), ['posted', null, null, '250'])
  t.same(await service.standing(), { 'pay_1-r2': 750 })
  t.match(await service.decide('rfnd_1', 'reverse'), { status: 409 })
})

t.test('an event that nothing proves reverses nothing, whatever it claims', async t => {
  const service = await reversing(t, undefined, { TRUST_PROXY: '127.0.0.1' })
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.webhook('gateway_a', refund({ id: 'rfnd_unsigned' }), { lender: 'LENDER_02' })
  await service.webhook('gateway_a', refund({ id: 'rfnd_nobody' }))
  await service.webhook('gateway_a', refund({ id: 'rfnd_other' }), { lender: 'LENDER_03' })
  await service.webhook('gateway_a', dispute('lost', { id: 'disp_unsigned' }), {
    lender: 'LENDER_02',
  })
  // A genuine one, of which a stranger says first that it is of another amount and payment.
  await service.signed(capturedA({ id: 'pay_2', loan: 'L-1' }))
  await service.webhook('gateway_a', refund({ id: 'rfnd_2', paise: 10_000 }), {
    lender: 'LENDER_03',
  })
  await service.batch()
  await service.signed(refund({ id: 'rfnd_2', of: 'pay_2', paise: 20_000 }))
  await service.batch()
  await service.batch()
  t.same(await service.standing(), { pay_1: 1000, 'pay_2-r2': 800 })
  for (const id of ['rfnd_unsigned', 'rfnd_nobody', 'rfnd_other'])
    t.equal((await service.shown(id))[0], 'suspense', id)
})

t.test('a payment that is not posted yet is posted for what is left, or returned', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.signed(refund({ paise: 40_000 }))
  await service.signed(capturedA({ id: 'pay_2', loan: 'L-1' }))
  for (const [i, paise] of [60_000, 40_000].entries())
    await service.signed(refund({ id: `rfnd_2${i}`, of: 'pay_2', paise }))
  await service.batch()
  t.same(await service.standing(), { pay_1: 600 })
  t.same(await service.shown('pay_1'), ['posted', null, null, '400'])
  t.same(await service.shown('rfnd_1'), ['returned', null, null, null])
  t.same(await service.shown('pay_2'), ['returned', null, null, '1000'])
})

t.test('a refund of gateway B that comes back is shown as taken back', async t => {
  const service = await reversing(t)
  for (const [of, status] of Object.entries({ 1: 'CANCELLED', 2: 'FAILED' })) {
    const id = `9${of}`
    await service.signed(successB({ id: Number(of), loan: 'L-1', amount: 1000 }))
    await service.signed(refundOfB(300, { id, of }))
    await service.batch()
    t.same(await service.shown(of, 'gateway_b'), ['posted', null, null, '300'], status)
    await service.signed(refundOfB(300, { id, of, status }))
    await service.batch()
    t.same(await service.shown(id, 'gateway_b'), ['returned', null, 'taken_back', null], status)
  }
})

t.test('money whose refund the gateway takes back is posted once it is restored', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.signed(dispute('lost', { id: 'disp_1', paise: 30_000 }))
  await service.signed(dispute('lost', { id: 'disp_2', paise: 70_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])

  await service.signed(dispute('won', { id: 'disp_1', paise: 30_000, phase: 'arbitration' }))
  await service.signed(dispute('won', { id: 'disp_2', paise: 70_000, phase: 'arbitration' }))
  await service.batch()
  t.same(await service.shown('disp_1'), ['posted', null, 'taken_back', null])
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
  t.match(await service.decide('disp_1', 'restore'), { status: 200, body: { state: 'failed' } })
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, null, '700'])
  t.same(await service.standing(), { 'pay_1-r3': 300 })
  await service.decide('disp_2', 'restore')
  await service.ended('disp_2')
  t.same(await service.shown('disp_2'), ['failed', null, null, null])
  t.same(await service.shown('pay_1'), ['posted', null, null, null])
  t.same(await service.standing(), { 'pay_1-r4': 1000 })
})

t.test('a refund that is made after its restore keeps its payment for a person again', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  const made = refund({ paise: 25_000 })
  await service.signed(made, { 'x-gatewaya-event-id': 'evt_1' })
  await service.batch()
  await service.signed(refund({ paise: 25_000, status: 'failed', name: 'refund.failed' }))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['posted', null, 'taken_back', null])
  await service.decide('rfnd_1', 'restore')
  await service.ended('rfnd_1')
  t.same(await service.shown('rfnd_1'), ['failed', null, null, null])
  await service.signed(capturedA({ loan: 'L-1' }), { 'x-gatewaya-event-id': 'evt_2' })
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['failed', null, null, null])

  await service.signed(made, { 'x-gatewaya-event-id': 'evt_3' })
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['suspense', 'refund', null, null])
  t.same(await service.shown('pay_1'), ['posted', null, 'refund', null])
  t.match(await service.decide('rfnd_1', 'reverse'), { status: 200 })
  await service.ended('rfnd_1')
  t.same(await service.shown('pay_1'), ['posted', null, null, '250'])
  t.same(await service.standing(), { 'pay_1-r4': 750 })
})

t.test('a dispute that is lost again after its restore waits for a person', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  for (const [status, phase] of [
    ['lost', 'chargeback'],
    ['won', 'pre_arbitration'],
  ] as const) {
    await service.signed(dispute(status, { paise: 30_000, phase }))
    await service.batch()
  }
  await service.decide('disp_1', 'restore')
  await service.ended('disp_1')
  await service.signed(dispute('lost', { paise: 30_000, phase: 'arbitration' }))
  for (let batches = 0; batches < 2; batches++) await service.batch()
  t.same(await service.shown('disp_1'), ['suspense', 'chargeback', null, null])
  t.same(await service.standing(), { 'pay_1-r3': 1000 })
  await service.decide('disp_1', 'reverse')
  await service.ended('disp_1')
  t.same(await service.standing(), { 'pay_1-r4': 700 })
})

t.test('a refund that was handled and is reopened waits for a person', async t => {
  const service = await reversing(t, MANUAL)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.signed(capturedA({ id: 'pay_2', loan: 'L-1' }))
  await service.batch()
  await service.signed(refund({ paise: 25_000 }))
  await service.batch()
  await service.decide('rfnd_1', 'handled')
  const { rows } = await sql`select core.copy_reversing((
    select jsonb_agg(jsonb_build_object('lender', 'LENDER_02', 'product', 'LENDER_02', 'gateway', gateway,
                                        'account', '', 'proved_by', array['LENDER_02']))
      from unnest(array['gateway_a', 'gateway_b']) gateway))`.execute(service.db)
  t.equal(rows.length, 1)
  await service.resolve('rfnd_1', { outcome: 'reopen', note: 'by mistake' })
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['suspense', 'refund', null, null])
  t.same(await service.standing(), { pay_1: 1000, pay_2: 1000 })
})

t.test('a payment that was posted again is still not refunded in another currency', async t => {
  const service = await reversing(t)
  const yen = (event: any) => {
    for (const part of Object.values<any>(event.payload)) part.entity.currency = 'JPY'
    return event
  }
  await service.signed(yen(capturedA({ loan: 'L-1', amount: 10_000 })))
  await service.batch()
  const post = { outcome: 'post', note: 'at the rate', amount: 5_500, external_loan_id: 'L-1' }
  const posted = async () => {
    const decision = { ...post, paid_on: '06 February 2026' }
    t.match(await service.resolve('pay_1', decision), { status: 200 })
    await service.batch()
  }
  await posted()
  await service.undoAt('L-1', 'gateway_a-pay_1', { transactionDate: '2026-02-06' })
  await service.readBack()
  t.same(await service.shown('pay_1'), ['suspense', 'reversed_at_ledger', null, null])
  await posted()
  t.same(await service.standing(), { 'pay_1-r2': 5_500 })
  await service.signed(yen(refund({ paise: 5_000 })))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['suspense', 'refund', null, null])
  t.same(await service.standing(), { 'pay_1-r2': 5_500 })
})

t.test('a refund that cannot be taken out because of its currency says so', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  const event: any = refund({ paise: 30_000 })
  event.payload.refund.entity.currency = 'USD'
  await service.signed(event)
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['suspense', 'refund', null, null])
  t.match((await service.payment('rfnd_1')).payment.detail, /^It is not an amount in the currency/)
  t.same(await service.standing(), { pay_1: 1_000 })
})

t.test('a refund in another currency than its payment was posted in is not restored', async t => {
  const service = await reversing(t)
  const dollars = (event: any) => {
    for (const part of Object.values<any>(event.payload)) part.entity.currency = 'USD'
    return event
  }
  await service.signed(dollars(capturedA({ loan: 'L-1' })))
  await service.signed(dollars(refund({ paise: 30_000 })))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['returned', null, null, null])
  const { payment } = await service.payment('pay_1')
  t.match(payment, { state: 'suspense', reason: 'currency_mismatch' })
  const posting = { outcome: 'post', note: 'at the bank’s rate', external_loan_id: 'L-1' }
  t.match(
    await service.resolve('pay_1', { ...posting, amount: 5810, paid_on: '06 February 2026' }),
    { status: 200 },
  )
  await service.batch()
  await service.signed(dollars(refund({ paise: 30_000, status: 'failed', name: 'refund.failed' })))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['returned', null, 'taken_back', null])
  t.match(await service.decide('rfnd_1', 'restore'), { status: 409 })
  t.match(await service.decide('rfnd_1', 'handled'), { status: 200 })
  t.same(await service.standing(), { pay_1: 5810 })
})

t.test(
  'a reversal of a repayment undone by hand is refused with the reason, and its day is unchecked',
  async t => {
    const service = await reversing(t)
    await service.signed(capturedA({ loan: 'L-1' }))
    await service.batch()
    await service.readBack()
    await service.undo('gateway_a-pay_1')
    await service.signed(refund({ paise: 25_000 }))
    await service.batch()
    t.same(await service.shown('rfnd_1'), ['suspense', 'reversal_refused', null, null])
    t.match((await service.payment('rfnd_1')).payment.detail, /undone at the ledger by hand/)
    const { days } = await reconciliation(service.call)
    t.same(filled(days[0]), { unchecked: '1 1000.00' })
    t.same(await service.shown('pay_1'), ['posted', null, 'refund', null])
    t.match(await service.decide('rfnd_1', 'handled'), { status: 200 })
    t.same(await service.shown('pay_1'), ['posted', null, null, null])
  },
)

t.test('a payment undone and not posted anew is in suspense, whoever prevented it', async t => {
  const service = await reversing(t)
  const held = [
    [/refused with status/, { decision: 'ledger' }],
    [/An operator has declared/, { decision: 'operator' }],
  ] as const
  for (const [i, [detail, { decision }]] of held.entries()) {
    const id = `pay_${i}`
    await service.signed(capturedA({ id, loan: 'L-1' }))
    await service.batch()
    await service.faults([{ kind: 'tooMany', match: REPAY }])
    await service.signed(refund({ id: `rfnd_${i}`, of: id, paise: 30_000 }))
    await service.batch()
    const operation = await delay(service, 'loan:L-1')
    await service.faults([])
    if (decision === 'ledger')
      await service.bookByHand(id, 50, { externalId: `gateway_a-${id}-r2` })
    else await service.call('POST', `${detailOf(operation)}/resolve`, { outcome: 'failed' })
    await hurry(service, operation)
    await service.ended(`rfnd_${i}`)
    t.same(await service.shown(id), ['suspense', 'ledger_refused', null, '300'])
    const { payment } = await service.payment(id)
    t.match(payment.detail, detail)
    t.equal(payment.next_try_at === null, decision === 'operator')
  }
})

const detailOf = (operation: string) => `/api/ledger/operations/${encodeURIComponent(operation)}`

t.test('a refund that its gateway confirms is booked like a signed one', async t => {
  const gateways = await gatewaySandbox(t)
  const confirmed = { ...AUTOMATIC, confirm: true }
  const service = await reversing(t, confirmed, gateways.settings)
  const named = { gateway: 'gateway_a', amount: 100_000, notes: { loan_id: 'L-1' } }
  await gateways.put('/payments', { ...named, id: 'pay_1', created_at: '2026-02-05T04:30:00Z' })
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  for (const id of ['rfnd_1', 'rfnd_forged'])
    await service.webhook('gateway_a', refund({ id, paise: 30_000 }), { lender: 'LENDER_02' })
  const made = { gateway: 'gateway_a', id: 'rfnd_1', paymentId: 'pay_1', amount: 30_000 }
  await gateways.put('/refunds', {
    ...made,
    status: 'processed',
    created_at: '2026-02-06T04:30:00Z',
  })
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  t.same(await service.shown('rfnd_1'), ['posted', null, null, null])
  t.same(await service.shown('rfnd_forged'), ['suspense', 'not_at_gateway', null, null])
  t.match(await service.decide('rfnd_forged', 'reverse'), { status: 409 })
})
