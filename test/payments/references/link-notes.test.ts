import t, { type Test } from 'tap'
import { gatewaySandbox } from '../../support/books/gateways.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { linkB, signedB, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

const LINK = 1_576_977
/** The link's id as its payments name it. */
const TAGS = { cf_link_id: String(LINK) }

async function withLoans(t: Test, gateway_b: object = {}, settings: NodeJS.ProcessEnv = {}) {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_b } })
  const service = await paymentService(t, { LENDERS_FILE, SECRET: 's', ...settings })
  await service.loan('L-1')
  await service.loan('L-2')
  return {
    ...service,
    send: (event: object, of: object = LENDER) => service.webhook('gateway_b', event, of),
    sendSigned: (event: object) => {
      const body = JSON.stringify(event)
      return service.webhook('gateway_b', body, { ...LENDER, headers: signedB('s', body) })
    },
    stateOf: async (id: number) => {
      await service.batch()
      const { payment } = await service.payment(id, 'gateway_b')
      return [payment.state, payment.reason, payment.external_loan_id]
    },
  }
}

t.test('a payment link’s event names the loan of its payments, before and after it', async t => {
  const service = await withLoans(t)
  await service.send(successB({ id: 1, tags: TAGS }))
  await service.send(successB({ id: 9, tags: { cf_link_id: '9' } }))
  t.same(await service.stateOf(1), ['suspense', 'no_loan_named', null])
  await service.send(linkB(LINK, 'L-1'))
  await service.send(successB({ id: 2, amount: 500, tags: TAGS }))
  t.same(await service.stateOf(1), ['posted', null, 'L-1'])
  t.same(await service.stateOf(2), ['posted', null, 'L-1'])
  t.same(await service.stateOf(9), ['suspense', 'no_loan_named', null], 'another link')
  const { events } = await service.payment(1, 'gateway_b')
  t.match(events, [
    { event_type: 'PAYMENT_LINK_EVENT', counts: true },
    { event_type: 'PAYMENT_SUCCESS_WEBHOOK', counts: true },
  ])
  const amounts = (await service.repayments()).map(({ amount }) => amount).sort()
  t.same(amounts, ['1000.00', '500.00'], 'a link’s event is no money')
})

t.test('a payment link is known among as many tags as the gateway takes', async t => {
  const service = await withLoans(t)
  const many = Array.from({ length: 9 }, (_, n) => [`tag_${n}`, 'x'.repeat(200)])
  await service.send(linkB(LINK, 'L-1'))
  await service.send(successB({ id: 1, tags: { ...Object.fromEntries(many), ...TAGS } }))
  t.same(await service.stateOf(1), ['posted', null, 'L-1'])
})

t.test('the loan that a payment names itself comes before its link’s', async t => {
  const service = await withLoans(t)
  await service.send(linkB(LINK, 'L-1'))
  await service.send(successB({ id: 1, tags: { ...TAGS, loan_id: 'L-2' } }))
  t.same(await service.stateOf(1), ['posted', null, 'L-2'])
})

t.test('events of a link that name different loans hold its payments', async t => {
  const service = await withLoans(t)
  await service.send(linkB(LINK, 'L-1'))
  await service.send(linkB(LINK, 'L-2', { link_status: 'PAID' }))
  await service.send(successB({ id: 1, tags: TAGS }))
  t.match(await service.stateOf(1), ['suspense', 'events_disagree'])
})

t.test('a verified payment takes its loan from a verified event of its link only', async t => {
  const service = await withLoans(t, { validateSignature: true, secretEnv: 'SECRET' })
  // The event names no lender: such an event is taken without a signature.
  t.match(await service.send(linkB(LINK, 'L-2'), {}), { status: 200 })
  await service.sendSigned(successB({ id: 1, tags: TAGS }))
  t.same(await service.stateOf(1), ['suspense', 'no_loan_named', null])
  const { events } = await service.payment(1, 'gateway_b')
  t.match(
    events.find((one: any) => one.event_type === 'PAYMENT_LINK_EVENT'),
    { counts: 'superseded' },
  )
  await service.sendSigned(linkB(LINK, 'L-1'))
  t.same(await service.stateOf(1), ['posted', null, 'L-1'])
})

t.test('a payment that must be confirmed is asked for once its link names the loan', async t => {
  const { settings, put } = await gatewaySandbox(t)
  const service = await withLoans(t, { confirm: true }, settings)
  await put('/payments', {
    gateway: 'gateway_b',
    id: '1',
    amount: 100_000,
    created_at: '2026-02-05T04:30:00Z',
    order_notes: TAGS,
  })
  const paid: any = successB({ id: 1, tags: TAGS })
  paid.data.order.order_id = 'order_1'
  await service.send(linkB(LINK, 'L-1'), {})
  await service.send(paid, {})
  t.same(
    await service.stateOf(1),
    ['suspense', 'no_loan_named', null],
    'only the gateway’s word counts',
  )
  t.same(await service.repayments(), [])
})
