import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { eventA, linkB, successB } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../support/payments/payments.ts'

/** Row 1 of gateway B, which names no loan. */
const unnamedRow = (order: object = { order_id: 'order-1', order_tags: null }, more = {}) => ({
  ...rowOfB('1', more),
  order_details: order,
})

/** A transfer of 1,000 to this virtual account of gateway B. */
function transferB(account: string, facts: object = {}) {
  const event: any = successB({ id: 1, ...facts })
  event.data.payment.payment_method = { vba_transfer: { vaccount_id: account, utr: 'N123' } }
  return event
}

/** A service whose gateways answer with this, and which has L-1 of LENDER_02, L-6 of LENDER_06, and references to both. */
async function beside(t: Test, answer: Parameters<typeof oddGateway>[1], lenders?: object) {
  const { settings } = await oddGateway(t, answer)
  const trust = lenders === undefined ? {} : { LENDERS_FILE: lendersFile(t, lenders), SIX: 'six' }
  const service = await paymentService(t, { ...settings, ...trust })
  await service.loan('L-1')
  await service.loan('L-6', { product: 6 })
  const put = (account: string, loan: string) =>
    service.call('PUT', `/api/references/gateway_b/virtual_account/${account}`, {
      external_loan_id: loan,
    })
  await put('VA1', 'L-1')
  await put('VA6', 'L-6')
  return {
    ...service,
    put,
    fetch: (gateway = 'gateway_b', wanted = {}) =>
      fetchAll(service.call, gateway, { ...ALL_DAY, ...wanted }),
    async fate(id: unknown = 1, gateway = 'gateway_b') {
      const { payment } = await service.payment(id as string, gateway)
      return [payment.state, payment.reason, payment.external_loan_id, payment.matched_by]
    },
  }
}

const VALIDATING_B = { validateSignature: true, secretEnv: 'SIX' }
const VALIDATING = { LENDER_06: { gateway_b: VALIDATING_B } }

t.test('the loan of an unverified webhook counts beside an answer that names none', async t => {
  await t.test('by its virtual account, whichever comes first', async t => {
    const service = await beside(t, listOfB(unnamedRow()))
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['suspense', 'no_loan_named', null, null])
    await service.webhook('gateway_b', transferB('VA1'), LENDER)
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-1', 'virtual_account'])
    const { payment, events } = await service.payment(1, 'gateway_b')
    t.same(payment.hints.unverified, ['loan'])
    t.same(events.map(({ counts }: any) => counts).sort(), ['superseded', true])
  })
  await t.test('by the notes of its subscription', async t => {
    const item = itemOfA('pay_1', { notes: [], order_id: 'order_1' })
    const service = await beside(t, listOfA(item))
    const subscription = { entity: { id: 'sub_1', notes: { loan_id: 'L-1' } } }
    const payload = { subscription }
    const event = eventA('subscription.charged', { payment: { order_id: 'order_1' }, payload })
    await service.webhook('gateway_a', event, LENDER)
    await service.fetch('gateway_a')
    await service.batch()
    t.same(await service.fate('pay_1', 'gateway_a'), ['posted', null, 'L-1', 'notes'])
  })
  await t.test('by the notes of its link', async t => {
    const order = { order_id: 'order-1', order_tags: { cf_link_id: '77' } }
    const service = await beside(t, listOfB(unnamedRow(order)))
    await service.webhook('gateway_b', successB({ id: 1, tags: { cf_link_id: '77' } }), LENDER)
    await service.webhook('gateway_b', linkB(77, 'L-1'), LENDER)
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-1', 'notes'])
  })
})

t.test('a payment whose loan is unknown keeps it after a fetch', async t => {
  const service = await beside(t, listOfB(unnamedRow()))
  await service.put('VA9', 'L-9')
  await service.webhook('gateway_b', transferB('VA9'), LENDER)
  await service.batch()
  await service.fetch()
  await service.batch()
  t.same(await service.fate(), ['suspense', 'loan_unknown', 'L-9', 'virtual_account'])
})

t.test('an assigned payment’s virtual account is remembered after a fetch', async t => {
  const service = await beside(t, listOfB(unnamedRow()))
  await service.webhook('gateway_b', transferB('VA7'), LENDER)
  await service.fetch()
  await service.batch()
  const wanted = { external_loan_id: 'L-1', remember: ['virtual_account'] }
  t.match(await service.call('POST', '/api/payments/gateway_b/1/assign', wanted), { status: 200 })
  const { body } = await service.call('GET', '/api/references')
  t.same(body.references.map(({ value }: any) => value).sort(), ['VA1', 'VA6', 'VA7'])
})

t.test('an unverified webhook names no loan beside an answer', async t => {
  await t.test('that states another amount', async t => {
    const service = await beside(t, listOfB(unnamedRow()))
    await service.webhook('gateway_b', transferB('VA1', { amount: 999 }), LENDER)
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['suspense', 'no_loan_named', null, null])
  })
  await t.test('whose tags name one', async t => {
    const order = { order_id: 'order-1', order_tags: { loan_id: 'L-1' } }
    const service = await beside(t, listOfB(unnamedRow(order)))
    await service.webhook('gateway_b', successB({ id: 1, loan: 'L-6' }), LENDER)
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-1', 'notes'])
  })
  await t.test('whose own reference names one', async t => {
    const service = await beside(t, listOfB(unnamedRow()))
    await service.call('PUT', '/api/references/gateway_b/order/order-1', {
      external_loan_id: 'L-1',
    })
    await service.webhook('gateway_b', transferB('VA6'), LENDER)
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-1', 'order'])
  })
  await t.test('from outside the networks of the loan’s lender', async t => {
    const inside = { gateway_b: { allowedCidrs: ['192.0.2.0/24'] } }
    const service = await beside(t, listOfB(unnamedRow()), { LENDER_02: inside })
    await service.webhook('gateway_b', successB({ id: 1, loan: 'L-1' }), LENDER)
    await service.fetch()
    await service.batch()
    t.same(await service.fate(), ['suspense', 'no_loan_named', null, null])
    await service.webhook('gateway_b', transferB('VA1'), {})
    await service.batch()
    t.equal((await service.repayments()).length, 0)
  })
  await t.test('whose loan’s lender has the gateway confirm it', async t => {
    const confirming = { gateway_b: { confirm: true } }
    const service = await beside(t, listOfB(unnamedRow()), { LENDER_02: confirming })
    await service.webhook('gateway_b', successB({ id: 1, loan: 'L-1' }), LENDER)
    await service.fetch()
    await service.batch()
    t.equal((await service.repayments()).length, 0)
    t.same(await service.fate(), ['suspense', 'no_loan_named', null, null])
  })
})

t.test('two webhooks that name two loans beside an answer hold the payment', async t => {
  const service = await beside(t, listOfB(unnamedRow()))
  await service.webhook('gateway_b', transferB('VA1'), LENDER)
  await service.webhook('gateway_b', successB({ id: 1, loan: 'L-6' }), LENDER)
  await service.fetch()
  await service.batch()
  t.match(await service.fate(), ['suspense', 'events_disagree'])
})

t.test('a loan whose lender validates signatures is not lent by an unsigned webhook', async t => {
  for (const event of [transferB('VA6'), successB({ id: 1, loan: 'L-6' })]) {
    const service = await beside(t, listOfB(unnamedRow()), VALIDATING)
    await service.fetch()
    await service.webhook('gateway_b', event, {})
    await service.batch()
    t.match(await service.fate(), ['suspense', 'signature_not_verified'])
    t.equal((await service.repayments('L-6')).length, 0)
  }
})

const SIX = { lender: 'LENDER_06' }
const OWN_ACCOUNT = { LENDER_06: { gateway_b: { apiKeyEnv: 'SIX', apiSecretEnv: 'SIX' } } }

t.test('a payment in a lender’s account gets that lender’s loan which a webhook names', async t => {
  for (const sent of [SIX, {}]) {
    const service = await beside(t, listOfB(unnamedRow()), OWN_ACCOUNT)
    await service.fetch('gateway_b', SIX)
    await service.webhook('gateway_b', transferB('VA6'), sent)
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-6', 'virtual_account'])
  }
})

t.test('an unsigned webhook gives a lender’s payment no loan of another lender', async t => {
  for (const event of [transferB('VA1'), successB({ id: 1, loan: 'L-1' })]) {
    const service = await beside(t, listOfB(unnamedRow()), OWN_ACCOUNT)
    await service.fetch('gateway_b', SIX)
    await service.webhook('gateway_b', event, {})
    await service.batch()
    t.match(await service.fate(), ['suspense', 'lender_mismatch'])
    t.equal((await service.repayments('L-1')).length, 0)
  }
})

t.test('an unsigned webhook posts no payment assigned to another lender’s loan', async t => {
  const service = await beside(t, listOfB(unnamedRow()), OWN_ACCOUNT)
  await service.fetch('gateway_b', SIX)
  await service.webhook('gateway_b', successB({ id: 1, loan: 'L-9' }), {})
  await service.batch()
  t.match(await service.fate(), ['suspense', 'loan_unknown', 'L-9'])
  for (const fate of [
    ['suspense', 'lender_mismatch'],
    ['posted', null],
  ]) {
    t.equal((await service.assign('1', 'L-1', 'gateway_b')).status, 200)
    await service.batch()
    t.match(await service.fate(), [...fate, 'L-1'])
  }
})

/** Payment 1, which the gateway's answer reports, assigned to this loan before a webhook names another. */
async function assignedTo(t: Test, loan: string, lenders: object, account: object) {
  const service = await beside(t, listOfB(unnamedRow()), lenders)
  await service.fetch('gateway_b', account)
  await service.batch()
  t.equal((await service.assign('1', loan, 'gateway_b')).status, 200)
  return service
}

for (const [by, event] of [
  ['tag', () => successB({ id: 1, loan: 'L-1' })],
  ['reference', () => transferB('VA1')],
] as const)
  t.test(`an assignment stands against a ${by} whose signature its lender requires`, async t => {
    const validating = { gateway_b: { ...OWN_ACCOUNT.LENDER_06.gateway_b, ...VALIDATING_B } }
    const service = await assignedTo(t, 'L-6', { LENDER_06: validating }, SIX)
    await service.webhook('gateway_b', event(), {})
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-6', 'operator'])
  })

for (const [by, events] of [
  ['tags', ['L-8', 'L-9'].map(loan => successB({ id: 1, loan }))],
  ['a reference', [transferB('VA6')]],
] as const)
  t.test(`an assignment does not stand for what its lender accepts by ${by}`, async t => {
    const service = await assignedTo(t, 'L-1', {}, {})
    for (const event of events) await service.webhook('gateway_b', event, LENDER)
    await service.batch()
    t.same(await service.fate(), ['suspense', 'events_disagree', 'L-1', 'operator'])
    const { payment } = await service.payment(1, 'gateway_b')
    t.match(payment.detail, 'It was assigned to L-1 when its events said 1000 INR')
    await service.batch()
    t.same(await service.fate(), ['suspense', 'events_disagree', 'L-1', 'operator'])
    t.equal((await service.assign('1', 'L-1', 'gateway_b')).status, 200)
    await service.batch()
    t.same(await service.fate(), ['posted', null, 'L-1', 'operator'])
  })

t.test('a webhook that names the assigned loan counts before its link’s event', async t => {
  for (const [tags, fate] of [
    [{ loan_id: 'L-1' }, ['posted', null, 'L-1', 'operator']],
    [{}, ['suspense', 'events_disagree', 'L-1', 'operator']],
  ] as const) {
    const order = { order_id: 'order-1', order_tags: { cf_link_id: '77' } }
    const service = await beside(t, listOfB(unnamedRow(order)))
    await service.fetch()
    await service.batch()
    t.equal((await service.assign('1', 'L-1', 'gateway_b')).status, 200)
    for (const event of [
      successB({ id: 1, tags: { cf_link_id: '77', ...tags } }),
      linkB(77, 'L-6'),
    ])
      await service.webhook('gateway_b', event, LENDER)
    await service.batch()
    t.same(await service.fate(), fate)
  }
})

t.test('a webhook that names the assigned loan lets the assignment stand', async t => {
  const service = await assignedTo(t, 'L-1', {}, {})
  await service.webhook('gateway_b', transferB('VA1'), LENDER)
  await service.batch()
  t.same(await service.fate(), ['posted', null, 'L-1', 'operator'])
})

/** An order of 1,000 less an offer of 100, paid with a surcharge of 23.60; only the webhook states both. */
async function surcharged(t: Test, loan: string, lender: object) {
  const order = { order_id: 'order-1', order_amount: 1_000, order_tags: { loan_id: loan } }
  const more = { payment: { payment_amount: 923.6 }, event: { event_amount: 923.6 } }
  const service = await beside(t, listOfB(unnamedRow(order, more)), VALIDATING)
  const event: any = successB({ id: 1, amount: 923.6, loan })
  event.data.order.order_amount = 1_000
  event.data.payment.payment_surcharge = {
    payment_surcharge_service_charge: 20,
    payment_surcharge_service_tax: 3.6,
  }
  event.data.payment_offers = [{ offer_redemption: { discount_amount: 100 } }]
  await service.webhook('gateway_b', event, lender)
  await service.fetch()
  await service.batch()
  return service
}

t.test('the payer’s fee of an unverified webhook counts beside an answer without one', async t => {
  const service = await surcharged(t, 'L-1', LENDER)
  t.same(
    (await service.repayments()).map(({ amount }: any) => Number(amount)),
    [900],
  )
  const { payment } = await service.payment(1, 'gateway_b')
  t.match(payment.hints, { payer_fee: 23.6, unverified: ['payer_fee'] })
})

t.test('a lender that validates signatures takes no fee from an unsigned webhook', async t => {
  const service = await surcharged(t, 'L-6', {})
  t.same(
    (await service.repayments('L-6')).map(({ amount }: any) => Number(amount)),
    [923.6],
  )
})
