import { sql } from 'kysely'
import t from 'tap'
import { holdCommits } from '../../support/database/locks.ts'
import { untilSessionsWait } from '../../support/database/sessions.ts'
import { matchEach } from '../../support/match-each.ts'
import { drawB, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { disputeOfB, refundOfB, reversing } from '../../support/payments/reversals.ts'

const DEBIT = '49914526'
/** The debit's `cf_txn_id`. */
const PAYMENT = '4212435861'
const HELD = { state: 'suspense', reason: 'ledger_refused' }

const POST = {
  ...{ outcome: 'post', external_loan_id: 'L-1', amount: 399, paid_on: '05 February 2026' },
  note: 'the dispute is ours to win',
}

const debit = drawB('SUBSCRIPTION_PAYMENT_SUCCESS', {}, { loan_id: 'L-1' })
const payment = successB({ id: Number(PAYMENT), amount: 399, loan: 'L-1' })

for (const [first, second, held, booked] of [
  [debit, payment, PAYMENT, DEBIT],
  [payment, debit, DEBIT, PAYMENT],
] as const)
  t.test(`a mandate debit also reported as a payment is posted once: ${booked}`, async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.webhook('gateway_b', first, { lender: 'LENDER_02' })
    t.match(await service.batch(), { posted: 1 })
    await service.webhook('gateway_b', second, { lender: 'LENDER_02' })
    t.match(await service.batch(), { posted: 0, suspended: 1 })
    matchEach(t, await service.repayments(), [{ externalId: `gateway_b-${booked}` }])
    const { payment: waiting } = await service.payment(held, 'gateway_b')
    t.match(waiting, { ...HELD, detail: RegExp(`payment ${booked}`) })
    t.equal((await service.assign(held, 'L-1', 'gateway_b')).status, 200)
    t.match(await service.batch(), { posted: 1 }, 'an operator may say that it is other money')
  })

for (const [booked, other, of] of [
  [payment, debit, DEBIT],
  [debit, payment, PAYMENT],
] as const)
  t.test(`a payment objects to a refund of its money’s other id: ${of}`, async t => {
    const service = await reversing(t)
    await service.signed(booked)
    await service.batch()
    await service.signed(other)
    await service.batch()
    await service.signed(refundOfB(399, { id: 901, of: Number(of) }))
    await service.batch()
    const id = of === DEBIT ? PAYMENT : DEBIT
    t.same(await service.shown(id, 'gateway_b'), ['posted', null, 'refund', null])
    const { payment: refund } = await service.payment(901, 'gateway_b')
    t.match(refund, { state: 'suspense', reason: 'refund', detail: RegExp(`payment ${id}`) })
    await service.call('POST', '/api/payments/gateway_b/901/resolve', {
      outcome: 'handled',
      note: 'corrected at the ledger',
    })
    t.same(await service.shown(id, 'gateway_b'), ['posted', null, null, null])
  })

t.test('a payment on its way objects to a refund of its money’s other id', async t => {
  const service = await reversing(t)
  await service.signed(debit)
  await service.loseAnswer()
  await service.batch()
  await service.signed(payment)
  await service.signed(refundOfB(399, { id: 901, of: Number(PAYMENT) }))
  const ends = sql`new.gateway_payment_id = ${sql.lit(DEBIT)} and new.state = 'posted'`
  const { batch } = await holdCommits(service.db, ends, async () => {
    await service.faults([])
    await untilSessionsWait(service.db)
    const batch = service.batch()
    await untilSessionsWait(service.db, { count: 2 })
    return { batch }
  })
  t.match(await batch, { suspended: 2 })
  t.same(await service.shown(DEBIT, 'gateway_b'), ['posted', null, 'refund', null])
  t.same(await service.standing(), { [DEBIT]: 399 })
})

for (const [order, fate] of [
  [
    ['debit', 'refund', 'payment'],
    ['posted', null, 'refund', null],
  ],
  [
    ['refund', 'debit'],
    ['suspense', 'refund', null, null],
  ],
  [['debit and refund'], ['suspense', 'refund', null, null]],
] as const)
  t.test(`a mandate debit minds a refund of what only it names: ${order}`, async t => {
    const service = await reversing(t)
    const refund = refundOfB(399, { id: 901, of: Number(PAYMENT) })
    const events = { debit: [debit], refund: [refund], 'debit and refund': [debit, refund] }
    for (const step of order) {
      for (const event of step === 'payment' ? [payment] : events[step]) await service.signed(event)
      await service.batch()
    }
    t.same(await service.shown(DEBIT, 'gateway_b'), fate)
    t.match((await service.payment(901, 'gateway_b')).payment, {
      reason: 'refund',
      detail: `Its payment is the same money as payment ${DEBIT}`,
    })
  })

t.test('a payment that was booked by hand objects to a refund of its money’s other id', async t => {
  const service = await reversing(t)
  await service.signed(drawB('SUBSCRIPTION_PAYMENT_SUCCESS', {}, null))
  await service.batch()
  const resolve = (outcome: string) =>
    service.call('POST', `/api/payments/gateway_b/${DEBIT}/resolve`, { outcome, note: 'by hand' })
  await resolve('handled')
  await service.signed(payment)
  await service.signed(refundOfB(399, { id: 901, of: Number(PAYMENT) }))
  await service.batch()
  t.same(await service.shown(DEBIT, 'gateway_b'), ['handled', null, 'refund', null])
  await resolve('reopen')
  t.same(await service.shown(DEBIT, 'gateway_b'), ['suspense', 'no_loan_named', null, null])
})

t.test('a mandate debit is not posted because the money of its payment went back', async t => {
  const service = await reversing(t)
  await service.signed(payment)
  await service.batch()
  await service.signed(debit)
  await service.batch()
  t.same(await service.shown(DEBIT, 'gateway_b'), [HELD.state, HELD.reason, null, null])
  await service.signed(refundOfB(399, { id: 901, of: Number(PAYMENT) }))
  for (let batches = 0; batches < 2; batches++) {
    await service.batch()
    await sql`
      update core.transaction set next_try_at = now()
       where next_try_at is not null`.execute(service.db)
  }
  t.same(await service.shown(PAYMENT, 'gateway_b'), ['returned', null, null, '399'])
  t.same(await service.shown(DEBIT, 'gateway_b'), [HELD.state, HELD.reason, null, null])
  t.same(await service.standing(), {})
})

t.test('a mandate debit is not posted in full where a part of its money went back', async t => {
  const service = await reversing(t)
  const partly = refundOfB(100, { id: 901, of: Number(PAYMENT) })
  for (const event of [payment, debit, partly]) await service.signed(event)
  for (let batches = 0; batches < 2; batches++) {
    await service.batch()
    await sql`
      update core.transaction set next_try_at = now()
       where next_try_at is not null`.execute(service.db)
  }
  t.same(await service.shown(DEBIT, 'gateway_b'), [HELD.state, HELD.reason, null, null])
  // If both are sent at once, the payment may be held as well, or posted for what is left.
  t.equal((await service.standing())[DEBIT], undefined)
})

for (const [dismissed, copy] of [
  [DEBIT, debit],
  [PAYMENT, payment],
] as const)
  for (const isFirst of [true, false])
    t.test(
      `money is not posted because its disputed copy ${dismissed} was dismissed ${isFirst ? 'first' : 'last'}`,
      async t => {
        const service = await reversing(t)
        const dispute = (status: string) => disputeOfB(status, 399, dismissed)
        const [id, other] = dismissed === DEBIT ? [PAYMENT, payment] : [DEBIT, debit]
        const dismiss = async () => {
          const path = `/api/payments/gateway_b/${dismissed}/resolve`
          t.equal(
            (await service.call('POST', path, { outcome: 'dismiss', note: 'copy' })).status,
            200,
          )
        }
        await service.signed(dispute('CHARGEBACK_CREATED'))
        await service.signed(copy)
        await service.batch()
        if (isFirst) await dismiss()
        await service.signed(other)
        await service.batch()
        if (!isFirst) await dismiss()
        const retry = async () => {
          await sql`update core.transaction set next_try_at = now()`.execute(service.db)
          await service.batch()
        }
        await retry()
        t.same(await service.shown(id, 'gateway_b'), [HELD.state, HELD.reason, null, null])
        await service.signed(dispute('CHARGEBACK_MERCHANT_WON'))
        await service.batch()
        await retry()
        t.same(await service.standing(), { [id]: 399 }, 'once the dispute is won')
      },
    )

t.test('an operator who posts a payment beside its disputed copy has seen the dispute', async t => {
  const service = await reversing(t)
  const dispute = (status: string) => service.signed(disputeOfB(status, 399, DEBIT))
  await dispute('CHARGEBACK_CREATED')
  for (const event of [debit, payment]) await service.signed(event)
  await service.batch()
  await service.call('POST', `/api/payments/gateway_b/${PAYMENT}/resolve`, POST)
  await service.batch()
  await service.signed({ ...payment, event_time: '2026-02-05T10:00:06+05:30' })
  await service.batch()
  t.same(await service.shown(PAYMENT, 'gateway_b'), ['posted', null, null, null])
  await dispute('CHARGEBACK_MERCHANT_LOST')
  await service.batch()
  t.same(await service.shown(PAYMENT, 'gateway_b'), ['posted', null, 'chargeback', null])
})

for (const outcome of ['post', 'assign'])
  t.test(
    `a refund of the other id asks a person once the payment is to be posted: ${outcome}`,
    async t => {
      const service = await reversing(t)
      // From then on, refunds of the loan can be proved.
      await service.signed(successB({ id: 5, amount: 100, loan: 'L-1' }))
      await service.signed(disputeOfB('CHARGEBACK_CREATED', 399, DEBIT))
      for (const event of [debit, payment]) await service.signed(event)
      await service.batch()
      t.same(await service.shown(PAYMENT, 'gateway_b'), [HELD.state, HELD.reason, null, null])
      if (outcome === 'assign') await service.assign(PAYMENT, 'L-1', 'gateway_b')
      else await service.call('POST', `/api/payments/gateway_b/${PAYMENT}/resolve`, POST)
      await service.signed(refundOfB(399, { id: 901, of: Number(DEBIT) }))
      await service.batch()
      const objection = outcome === 'assign' ? null : 'refund'
      t.same(await service.shown(PAYMENT, 'gateway_b'), ['posted', null, objection, null])
      t.match((await service.payment(901, 'gateway_b')).payment, {
        reason: 'refund',
        detail: `Its payment is the same money as payment ${PAYMENT}`,
      })
    },
  )

t.test('a refund of a payment whose mandate debit is posted waits for a person', async t => {
  const service = await reversing(t)
  for (const event of [debit, payment]) {
    await service.signed(event)
    await service.batch()
  }
  await service.signed(refundOfB(399, { id: 901, of: Number(PAYMENT) }))
  await service.batch()
  for (const id of [PAYMENT, '901'])
    t.same(await service.shown(id, 'gateway_b'), ['suspense', 'refund', null, null])
  t.same(await service.standing(), { [DEBIT]: 399 })
})

t.test('of a mandate debit and its payment in the same batch, one is posted', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  for (const event of [debit, payment])
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  t.match(await service.batch(), { posted: 1, suspended: 1 })
  t.equal((await service.repayments()).length, 1)
})

const OLD_DEBIT = {
  cf_event: 'SUBSCRIPTION_NEW_PAYMENT',
  cf_paymentId: 77,
  cf_amount: '399',
  cf_eventTime: '2026-02-05 10:00:00',
}
const OLD_REFUND = { ...OLD_DEBIT, cf_event: 'REFUND_STATUS', cf_refundId: '88' }

t.test('a refund of an older mandate’s debit waits for a person', async t => {
  const service = await reversing(t)
  await service.signed(OLD_DEBIT)
  await service.batch()
  await service.assign('77', 'L-1', 'gateway_b')
  await service.batch()
  await service.signed(OLD_REFUND)
  await service.batch()
  t.same(await service.standing(), { 77: 399 })
  t.same(await service.shown('77', 'gateway_b'), ['posted', null, 'refund', null])
  t.same(await service.shown('88', 'gateway_b'), ['suspense', 'refund', null, null])
})

t.test('a refund of an older mandate’s debit that comes first holds the debit', async t => {
  const service = await reversing(t)
  for (const event of [OLD_REFUND, OLD_DEBIT]) {
    await service.signed(event)
    await service.batch()
  }
  for (const id of ['77', '88'])
    t.same(await service.shown(id, 'gateway_b'), ['suspense', 'refund', null, null])
})

t.test('a refund of an older mandate’s debit has one row, with and without its prefix', async t => {
  const service = await reversing(t)
  for (const cf_refundId of ['refund_12345678', '12345678'])
    await service.signed({ ...OLD_REFUND, cf_refundId })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?kind=refund')
  t.same(
    body.payments.map((one: any) => one.gateway_payment_id),
    ['12345678'],
  )
})

t.test('a mandate debit that names no payment of ours is posted', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.loan('L-2')
  const other = drawB('SUBSCRIPTION_PAYMENT_SUCCESS', { cf_txn_id: '1' }, { loan_id: 'L-2' })
  for (const event of [payment, other])
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  t.match(await service.batch(), { posted: 2, suspended: 0 })
})
