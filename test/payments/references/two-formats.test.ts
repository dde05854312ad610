import t, { type Test } from 'tap'
import { PAID_AT_ISO, successB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { AUTOMATIC, MANUAL, refundOfB, reversing } from '../../support/payments/reversals.ts'
import { until } from '../../support/until.ts'

const ACCOUNT = { vaccount_id: 'ACC1', utr: 'SBIN226036000001' }

/** A transfer into a virtual account in the format of today, with tags that name its loan. */
function credit(
  id: number,
  { amount = 1500, loan = 'L-1', ...transfer }: Record<string, any> = {},
) {
  const event: any = successB({ id, amount, loan })
  event.data.payment.payment_group = 'vba_transfer'
  event.data.payment.payment_method = { vba_transfer: { ...ACCOUNT, ...transfer } }
  return event
}

/** The same transfer in the older, flat format. */
const collected = (id: number, more: object = {}) => ({
  event: 'AMOUNT_COLLECTED',
  referenceId: id,
  amount: '1500.00',
  paymentTime: '2026-02-05 10:00:00',
  vAccountId: ACCOUNT.vaccount_id,
  utr: ACCOUNT.utr,
  ...more,
})

/** The same transfer as a payment by UPI, which has no `utr`. */
function byUpi(id: number, bank_reference = ACCOUNT.utr) {
  const event = credit(id)
  Object.assign(event.data.payment, {
    payment_group: 'upi',
    payment_method: { upi: { upi_id: 'payer@bank', channel: null } },
    bank_reference,
  })
  return event
}

async function withAccount(t: Test) {
  const service = await paymentService(t)
  await service.loan('L-1')
  for (const value of ['ACC1', 'VPA1', 'Acc2@Bank'])
    await service.call('PUT', `/api/references/gateway_b/virtual_account/${value}`, {
      external_loan_id: 'L-1',
    })
  const send = (event: object) => service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  return { ...service, send }
}

t.test('a transfer that is reported in two formats is posted once', async t => {
  const service = await withAccount(t)
  for (const [first, second] of [
    [collected(1), credit(51)],
    [credit(52, { utr: 'IDIB2' }), collected(2, { utr: 'IDIB2' })],
  ] as const) {
    await service.send(first)
    t.match(await service.batch(), { posted: 1 })
    await service.send(second)
    t.match(await service.batch(), { posted: 0, suspended: 1 })
  }
  const { payment } = await service.payment('51', 'gateway_b')
  t.match(payment, {
    state: 'suspense',
    reason: 'ledger_refused',
    detail: /same money as payment 1,/,
  })
  t.equal((await service.assign('51', 'L-1', 'gateway_b')).status, 200)
  t.match(await service.batch(), { posted: 1 }, 'an operator may say that it is other money')
})

t.test('a transfer with its UTR as bank reference in one format is posted once', async t => {
  const service = await withAccount(t)
  const orders = [
    [collected(1), byUpi(51)],
    [byUpi(51), collected(1)],
  ]
  for (const [index, events] of orders.entries())
    for (const isTogether of [false, true]) {
      const utr = `60361000000${index}${Number(isTogether)}`
      const [older, newer] = isTogether ? ([10, 60] as const) : ([20, 70] as const)
      const posted = []
      for (const event of structuredClone(events) as any[]) {
        if ('utr' in event) Object.assign(event, { utr, referenceId: older + index })
        else
          Object.assign(event.data.payment, { bank_reference: utr, cf_payment_id: newer + index })
        await service.send(event)
        if (!isTogether) posted.push((await service.batch()).posted)
      }
      if (isTogether) posted.push((await service.batch()).posted)
      t.equal(
        posted.reduce((sum, one) => sum + one),
        1,
        `${index} ${isTogether}`,
      )
    }
})

t.test('a transfer that is reported for two loans is posted to one', async t => {
  const service = await withAccount(t)
  await service.loan('L-2')
  const unknown = { vAccountId: 'OTHER', vaccount_id: 'OTHER' }
  await service.send(collected(1, unknown))
  await service.send(credit(51, unknown))
  t.match(await service.batch(), { posted: 1, suspended: 1 })
  for (const posted of [0, 1]) {
    t.equal((await service.assign('1', 'L-2', 'gateway_b')).status, 200)
    t.match(await service.batch(), { posted }, 'an operator may say that it is other money')
    if (posted === 0)
      t.match((await service.payment('1', 'gateway_b')).payment, {
        reason: 'ledger_refused',
        detail:
          'The payment is the same money as payment 51 of loan L-1, which was or may be booked, or is held by its refund or dispute',
      })
  }
})

for (const [older, newer] of [
  [{ utr: 'sbin226036000001' }, {}],
  [{}, { utr: 'sbin226036000001' }],
  [{}, { utr: 'NA' }],
])
  t.test(`a transfer with ${JSON.stringify([older, newer])} is posted once`, async t => {
    for (const isFirst of [true, false]) {
      const service = await withAccount(t)
      const events = [collected(1, older), credit(51, newer)] as any[]
      events[1].data.payment.bank_reference = ACCOUNT.utr
      for (const [index, event] of (isFirst ? events : events.toReversed()).entries()) {
        await service.send(event)
        t.match(await service.batch(), { posted: 1 - index, suspended: index })
      }
    }
  })

for (const [name, trust] of Object.entries({ manual: MANUAL, automatic: AUTOMATIC }))
  t.test(`a transfer whose money went back is not posted by its twin: ${name}`, async t => {
    const service = await reversing(t, trust)
    await service.call('PUT', '/api/references/gateway_b/virtual_account/ACC1', {
      external_loan_id: 'L-1',
    })
    for (const [id, steps] of [
      [1, ['paid', 'refunded', 'batch', 'collected']],
      [2, ['paid', 'refunded', 'collected']],
      [3, ['collected', 'paid', 'refunded']],
      [4, ['refunded', 'collected', 'paid']],
    ] as const) {
      const utr = `SBIN${id}`
      const step = {
        paid: () => service.signed(credit(50 + id, { utr })),
        refunded: () => service.signed(refundOfB(1500, { id: 90_112_340 + id, of: 50 + id })),
        collected: () =>
          service.webhook('gateway_b', collected(id, { utr }), { lender: 'LENDER_02' }),
        batch: service.batch,
      }
      for (const one of [...steps, 'batch'] as const) await step[one]()
      t.same(await service.standing(), {}, `${steps}`)
      t.match((await service.payment(`${id}`, 'gateway_b')).payment, {
        reason: 'ledger_refused',
        detail: `The payment is the same money as payment ${50 + id}, which was or may be booked, or is held by its refund or dispute`,
      })
    }
  })

t.test('transfers with different amounts or UTRs, or without a UTR, are each posted', async t => {
  const service = await withAccount(t)
  const events = [
    collected(1),
    credit(51, { utr: 'SBIN226036000002' }),
    credit(52, { amount: 1501 }),
    ...[3, 4].map(id => collected(id, { utr: 'NA' })),
    ...[5, 6].map(id => collected(id, { utr: '000000000000' })),
    ...[7, 8].map(id => collected(id, { utr: null })),
    ...[9, 10].map(id => collected(id, { utr: 'SBIN226036000003' })),
    ...[59, 60].map(id => credit(id, { utr: 'SBIN226036000004' })),
    ...[61, 62].map(id => byUpi(id, '603610000009')),
  ]
  for (const event of events) await service.send(event)
  t.match(await service.batch(), { posted: events.length, suspended: 0 })
})

t.test('a credit by UPI in the older format names the account’s UPI id', async t => {
  const service = await withAccount(t)
  const addresses = [
    { vAccountId: undefined, virtualVpaId: 'VPA1' },
    { vAccountId: undefined, virtualVpaId: 'ACC2@bank' },
    // As in the gateway's documentation, where both are stated.
    { vAccountId: '87654321', virtualVpaId: 'VPA1' },
  ]
  for (const [id, address] of addresses.entries())
    await service.send(collected(id + 1, { ...address, isVpa: '1', utr: `${id}77` }))
  t.match(await service.batch(), { posted: addresses.length })
  t.match((await service.payment('2', 'gateway_b')).payment, {
    matched_by: 'virtual_account',
    paid_at: new Date(PAID_AT_ISO).toISOString(),
  })
})

t.test('of a transfer reported for two loans at once, today’s format is posted', async t => {
  const service = await withAccount(t)
  const pairs = Array.from({ length: 8 }, (_, i) => i)
  for (const i of pairs) {
    for (const loan of [`A-${i}`, `B-${i}`]) await service.loan(loan)
    await service.call('PUT', `/api/references/gateway_b/virtual_account/A-${i}`, {
      external_loan_id: `A-${i}`,
    })
    const older = collected(100 + i, { vAccountId: `A-${i}`, utr: `SBIN${i}9` })
    const newer = credit(200 + i, { utr: `sbin${i}9`, loan: `B-${i}`, vaccount_id: 'OTHER' })
    for (const event of i % 2 === 0 ? [older, newer] : [newer, older]) await service.send(event)
  }
  t.match(await service.batch(), { posted: pairs.length, suspended: pairs.length })
  t.same(
    (await service.repayments()).map(one => one.externalId).sort(),
    pairs.map(i => `gateway_b-${200 + i}`),
  )
})

t.test('of a transfer in two formats, one is posted if the other is refused', async t => {
  const service = await withAccount(t)
  const older = credit(51, { loan: 'unknown', vaccount_id: 'OTHER' })
  for (const event of [older, collected(1)]) await service.send(event)
  t.match(await service.batch(), { posted: 1, suspended: 1 })
  t.match((await service.payment('51', 'gateway_b')).payment, { reason: 'loan_unknown' })
  t.match((await service.payment('1', 'gateway_b')).payment, { state: 'posted' })
})

t.test('a transfer waits while the outcome of its other format is unknown', async t => {
  const service = await withAccount(t)
  await service.loan('L-2')
  const newer = credit(51, { loan: 'L-2', vaccount_id: 'OTHER' })
  for (const event of [collected(1), newer]) await service.send(event)
  await service.loseAnswer()
  for (const _batch of [1, 2]) {
    t.match(await service.batch(), { posted: 0, suspended: 0 })
    t.match((await service.payment('1', 'gateway_b')).payment, {
      state: 'waiting',
      waiting_for: 'batch',
    })
  }
  await service.faults([])
  await until(
    async () => (await service.payment('51', 'gateway_b')).payment.state === 'posted',
    'it is posted',
  )
  t.match(await service.batch(), { posted: 0, suspended: 1 })
  t.match((await service.payment('1', 'gateway_b')).payment, {
    reason: 'ledger_refused',
    detail: /same money as payment 51 of loan L-2,/,
  })
  t.equal((await service.repayments()).length, 1)
})

t.test('of a hundred transfers with one reference, one format is posted', async t => {
  const count = 100
  const service = await paymentService(t)
  await service.loan('L-1', { principal: 1_000_000 })
  await service.call('PUT', '/api/references/gateway_b/virtual_account/ACC1', {
    external_loan_id: 'L-1',
  })
  for (let id = 1; id <= count; id++)
    for (const event of [credit(id), collected(count + id)])
      await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
  t.match(await service.batch(), { posted: count, suspended: count })
})

t.test('a transfer in either format does not keep a hundred in the other one waiting', async t => {
  const count = 100
  for (const [many, one] of [
    [credit, collected],
    [collected, credit],
  ] as const) {
    const service = await withAccount(t)
    for (const event of [one(count + 1), ...Array.from({ length: count }, (_, i) => many(i + 1))])
      await service.send(event)
    const isOneHeld = many === credit
    t.match(await service.batch(), {
      posted: isOneHeld ? count : 1,
      suspended: isOneHeld ? 1 : count,
    })
  }
})
